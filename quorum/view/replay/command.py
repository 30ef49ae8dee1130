"""Run `quorum replay` with its arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from quorum.display.consoles import Console
from quorum.runs.recorded_episode import open_episode
from quorum.storage.outputs import Output, write_outputs
from quorum.view.replay.replay import prepare_replay
from quorum_base.user_errors import UserError, choices_hint

FASTEST = 50
"""Maximum steps per second; viewers slow down faster films."""


def run_replay(
    runs: Sequence[Path],
    output: Output | None,
    console: Console,
    *,
    fps: float,
    first: int,
    last: int | None,
    width: int | None,
    quiet: bool,
) -> list[str]:
    """Show or write a replay, and return the messages for the user.

    Args:
        runs: folders, one or two.
        output: the file of a film; None: the terminal.
        console: the console for the terminal.
        fps: steps per second.
        first: the first step to show.
        last: the last step; None: the end.
        width: width of a film, in pixels; None: a width that fits the board.
        quiet: whether to hide progress and result of a film.

    Raises:
        UserError: the user can fix the problem; no partial file is left.
    """
    if not 0 < fps <= FASTEST or math.isnan(fps):
        raise UserError(f"--fps {fps:g}: give a number of steps per second above 0 and at most {FASTEST}")
    if output is None:
        if width is not None:
            raise UserError("--width sets the width of a film; give --out FILE.gif")
        if quiet:
            raise UserError("--quiet would hide the replay in the terminal; give --out FILE.gif")
        from quorum.view.replay.terminal import play, print_frames  # noqa: PLC0415

        shown = prepare_replay(list(map(open_episode, runs)), first, last)
        if console.is_terminal:
            play(shown, console, fps)
        else:
            print_frames(shown, console)
        return [run.remark for run in shown.runs if run.remark]

    from quorum.view.replay.film import check_target, make_film  # noqa: PLC0415 - Pillow and Matplotlib

    encode = check_target(output, width)
    shown = prepare_replay(list(map(open_episode, runs)), first, last)
    progress = None if quiet else Console(stderr=True)
    film = make_film(shown, output, encode, fps=fps, width=width, console=progress)
    return [*(run.remark for run in shown.runs if run.remark), *([] if quiet else [film.text()])]


_INCH = 200
"""Pixels of an inch of a figure."""
_NARROWEST, _WIDEST = 2.5, 20.0
"""Limits of a figure's width, in inches."""


def write_figure(
    name: str, run: Path, outputs: Sequence[Output], *, first: int, last: int | None, width: int | None
) -> list[str]:
    """Draw a figure of a run, write it to files, and return the messages for the user.

    Args:
        name: its name.
        run: folder of the run.
        outputs: files, whose endings choose their formats.
        first: the first step to show.
        last: the last step; None: the end.
        width: width in pixels, of 200 an inch; None: the page of a paper.

    Raises:
        UserError: the user can fix the problem; no file is written.
    """
    from quorum.comparison.figures.style import PAGE, SAVED, rendered, styled  # noqa: PLC0415 - Matplotlib
    from quorum.view.replay.figures import FIGURES  # noqa: PLC0415

    if name not in FIGURES:
        raise UserError(f"--figure {name}: there is no such figure", choices_hint(name, "Figures", FIGURES))
    for output in outputs:
        if output.target.suffix[1:] not in SAVED:
            hint = choices_hint(output.target.suffix, "Endings", [f".{form}" for form in SAVED])
            raise UserError(f"--out {output.target}: this is not an ending of a figure", hint)
        output.check()
    inches = PAGE if width is None else width / _INCH
    if not _NARROWEST <= inches <= _WIDEST:
        limits = f"{_NARROWEST * _INCH:g} to {_WIDEST * _INCH:g}"
        raise UserError(f"--width {width}: a figure is {limits} pixels wide, at {_INCH} an inch")
    shown = prepare_replay([open_episode(run)], first, last)
    (episode,) = shown.runs
    with styled():
        figure = FIGURES[name](episode, shown.first, shown.last, inches)
        write_outputs({output: rendered(figure, output.target.suffix[1:]) for output in outputs})
    return [*filter(None, [episode.remark]), f"figure: {', '.join(str(output.target) for output in outputs)}"]
