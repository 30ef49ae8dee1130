"""`quorum replay`: an episode in the terminal, as a film, or as a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.display.terminal import echo
from quorum.verbs import options
from quorum.verbs.verb import Verb


def replay(
    run: Annotated[
        Path, typer.Argument(metavar="RUN", help="Play the run in this folder, or in a zip: study.zip/NAME.")
    ],
    other: Annotated[
        Path | None,
        typer.Argument(metavar="OTHER", show_default="no other", help="Show this run of the same board next to it."),
    ] = None,
    *,
    out: Annotated[
        Path | None,
        options.value(
            "--out", "FILE", "Write this file: film (.gif, .mp4) or figure (.pdf, .png).", unset="play in the terminal"
        ),
    ] = None,
    figure: Annotated[str | None, options.value("--figure", "NAME", "Draw a figure: trace.", unset="no figure")] = None,
    fps: Annotated[
        float, options.value("--fps", "STEPS", "Show this many steps a second, at most 50.", also="--speed")
    ] = 8,
    first: Annotated[int, options.value("--from", "STEP", "Start with this step.", min=0)] = 0,
    last: Annotated[
        int | None, options.value("--to", "STEP", "End with this step.", unset="the last one", min=0)
    ] = None,
    width: Annotated[
        int | None,
        options.value(
            "--width",
            "PIXELS",
            "Make a film 160 to 4096 pixels wide, a figure 500 to 4000.",
            unset="fits board or page",
        ),
    ] = None,
    force: options.Force = False,
    quiet: options.Quiet = False,
    plugin: options.Plugins = None,
) -> None:
    """Play an episode in the terminal, or write it as a film.

    It shows the episode alone, or next to another one of the same board. It needs only the trace, and calls no mind and
    no model. It fails if the replay differs from the record. Without a terminal, it prints the frames as text. MP4
    needs the extra `video`. With --figure and without --out, it writes NAME.png and NAME.pdf.

    \b
    Examples:
      quorum replay runs/cube-n8-heuristic-individual-s3-1a2b3c4d
      quorum replay runs/talk/NAME --from 20 --to 40 --speed 2
      quorum replay runs/talk/NAME --out film.gif
      quorum replay runs/talk/NAME runs/talk/OTHER --out both.mp4 --width 1280
      quorum replay runs/talk/NAME --figure trace --out trace.pdf --width 660
    """
    from quorum.display.consoles import Console
    from quorum.runs.archives import unpacked
    from quorum.storage.outputs import Output
    from quorum.view.replay.command import run_replay, write_figure

    named = [run] if other is None else [run, other]
    output = Output(out, "--out", force) if out is not None else None
    try:
        with unpacked(named) as runs:
            if figure is not None:
                files = (
                    [output] if output else [Output(Path(f"{figure}{end}"), "--out", force) for end in (".png", ".pdf")]
                )
                messages = write_figure(figure, runs, files, first=first, last=last, width=width, quiet=quiet)
            else:
                messages = run_replay(
                    runs, output, Console(), fps=fps, first=first, last=last, width=width, quiet=quiet
                )
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    for line in messages:
        echo(line, err=True)


verb = Verb(replay, "Look", 20)
