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
        options.folders("RUN|SWEEP", "Show the run or the sweep in this folder, or two runs of one board."),
    ] = None,
    *,
    port: options.Port = 0,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address without opening it.")] = False,
    export: Annotated[
        Path | None,
        options.value("--export", "FILE", "Write the page to this file instead of serving it.", unset="serve it"),
    ] = None,
    force: options.Force = False,
    plugin: options.Plugins = None,
) -> None:
    """Show an episode, two of one board, or a sweep in the browser: thoughts, messages, actions and the world.

    The page is served on this machine only and read-only, until Ctrl-C. --export writes one HTML file of a run, or of
    two, which needs no server and no network.

    \b
    Examples:
      quorum view runs/cube-n8-heuristic-individual-s3-1a2b3c4d
      quorum view runs/talk
      quorum view runs/talk/NAME runs/talk/OTHER
      quorum view runs/talk --port 8765 --no-browser
      quorum view runs/talk/NAME --export episode.html
    """
    from quorum.storage.outputs import Output
    from quorum.view.viewer import command

    named = options.or_newest(folders)
    if export is not None:
        page = command.export(named, Output(export, "--export", force))
        echo(f"page: {page}")
    else:
        command.view(named, port, browser=not no_browser, echo=echo)


verb = Verb(view, "Look", 10, "quorum view runs")
