"""`quorum view`: an episode, two of one board, or a sweep in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import echo
from quorum.verbs import options
from quorum.verbs.verb import Verb


def view(
    folders: Annotated[
        list[Path] | None,
        options.folders("RUN|SWEEP", "Show the run or the sweep in this folder or zip, or two runs of one board."),
    ] = None,
    *,
    port: options.Port = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address without opening it.")] = False,
    export: Annotated[
        Path | None,
        options.value(
            "--export",
            "PATH",
            "Write the page of a run to this file, or the pages of a sweep to this new folder.",
            unset="serve it",
        ),
    ] = None,
    max_size: Annotated[
        int, options.value("--max-size", "MIB", "Export a sweep only if its pages take no more than this.", min=1)
    ] = 500,
    force: options.Force = False,
    plugin: options.Plugins = None,
) -> None:
    """Show an episode, two of one board, or a sweep in the browser.

    The page shows thoughts, messages, actions and the world. It is served on this machine only and read-only, until
    Ctrl-C. --export writes one HTML file of a run, or of two, which needs no server and no network; of a sweep, a
    folder of pages, which a browser opens from disk and any web server serves.

    \b
    Examples:
      quorum view runs/cube-n8-heuristic-individual-s3-1a2b3c4d
      quorum view runs/talk
      quorum view runs/talk/NAME runs/talk/OTHER
      quorum view runs/talk --port 8765 --no-browser
      quorum view runs/talk/NAME --export episode.html
      quorum view runs/talk --export pages
      quorum view study.zip
    """
    from quorum.display.consoles import at_work
    from quorum.runs.archives import unpacked
    from quorum.storage.outputs import Output
    from quorum.view.viewer import command

    with at_work("writing pages ...", quiet=export is None), unpacked(options.or_newest(folders)) as places:
        if export is None:
            command.view(places, port, browser=not no_browser, echo=echo)
            return
        page = command.export(places, Output(export, "--export", force), max_size, lambda text: echo(text, err=True))
    echo(f"page: {page}")  # with the sign gone, because Rich sends all output of its time to standard error


verb = Verb(view, "Look", 10)
