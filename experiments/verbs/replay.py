"""`quorum replay`: an episode in the terminal, or as a film."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from quorum.experiments.common.terminal import echo
from quorum.experiments.verbs.options import Force, Plugins, Quiet
from quorum.experiments.verbs.preparation import prepare_plugins


def replay(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="OTHER", help="Another run of the same board, shown beside it.")
    ] = None,
    *,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write a film: FILE.gif, FILE.mp4.")] = None,
    fps: Annotated[float, typer.Option("--fps", "--speed", metavar="N", help="Steps a second.")] = 8,
    first: Annotated[int, typer.Option("--from", metavar="T", min=0, help="The first step to show.")] = 0,
    last: Annotated[int | None, typer.Option("--to", metavar="T", min=0, help="The last step to show.")] = None,
    width: Annotated[int | None, typer.Option("--width", metavar="PIXELS", help="Width of a film.")] = None,
    force: Force = False,
    quiet: Quiet = False,
    plugin: Plugins = None,
) -> None:
    """Play an episode in the terminal, or write it as a film; alone, or beside another one of the same board.

    Only the trace is needed: no mind and no model is asked again. It is an error if the replay differs from the record.
    Without a terminal, the frames are printed one after another as text. MP4 needs the extra `video`.

    \b
    Examples:
      quorum replay runs/cube-n8-heuristic-individual-s3-1a2b3c4d
      quorum replay runs/talk/NAME --from 20 --to 40 --speed 2
      quorum replay runs/talk/NAME --out film.gif
      quorum replay runs/talk/NAME runs/talk/OTHER --out both.mp4 --fps 4 --width 1280
    """
    from quorum.experiments.common.consoles import Console
    from quorum.experiments.common.outputs import Output
    from quorum.experiments.replay.command import ReplayRequest, run_replay

    prepare_plugins(plugin)
    runs = [run] if other is None else [run, other]
    output = Output(out, "--out", force) if out is not None else None
    request = ReplayRequest(runs=runs, out=output, fps=fps, first=first, last=last, width=width)
    try:
        messages = run_replay(request, Console(), quiet=quiet)
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    for line in messages:
        echo(line, err=True)
