"""Run `quorum replay` with its arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from quorum.display.consoles import Console
from quorum.runs.recorded_episode import open_episode
from quorum.runs.run_folder import contradicts_itself
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


_INCH, _NARROWEST, _WIDEST = 200, 500, 4000
"""Pixels of an inch of a figure, and limits of its width."""


def write_figure(
    name: str,
    runs: Sequence[Path],
    files: Sequence[Output],
    *,
    first: int,
    last: int | None,
    width: int | None,
    quiet: bool,
) -> list[str]:
    """Draw a figure of a run, write it to files, and return the messages for the user.

    Args:
        name: its name.
        runs: folder of the run.
        files: their endings choose the formats.
        first: the first step to show.
        last: the last step; None: the end.
        width: width in pixels, of 200 an inch; None: the page of a paper.
        quiet: whether to hide the result.

    Raises:
        UserError: the user can fix the problem; no file is written.
    """
    from quorum.comparison.figures.style import PAGE, SAVED, rendered, styled  # noqa: PLC0415 - Matplotlib
    from quorum.view.replay.figures import FIGURES  # noqa: PLC0415

    if name not in FIGURES:
        raise UserError(f"--figure {name}: there is no such figure", choices_hint(name, "Figures", FIGURES))
    if len(runs) > 1:
        raise UserError(f"--figure {name}: it shows one run", f"Leave out {runs[1]}.")
    for file in files:
        if (ending := file.target.suffix[1:]) not in SAVED:
            raise UserError(f"--out {file.target}: a figure has another ending", choices_hint(ending, "Endings", SAVED))
        file.check()
    if width is not None and not _NARROWEST <= width <= _WIDEST:
        raise UserError(f"--width {width}: a figure is {_NARROWEST} to {_WIDEST} pixels wide, of {_INCH} an inch")
    shown = prepare_replay([open_episode(runs[0])], first, last)
    run, inches = shown.runs[0], PAGE if width is None else width / _INCH
    with styled():
        try:
            figure = FIGURES[name](run, shown.first, shown.last, inches)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise contradicts_itself(run.folder, f"{type(error).__name__}: {error}") from error
        write_outputs({file: rendered(figure, file.target.suffix[1:]) for file in files})
    return [*filter(None, [run.remark]), *([] if quiet else [f"figure: {', '.join(str(f.target) for f in files)}"])]
