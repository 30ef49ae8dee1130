"""What `quorum replay` does with its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.common.consoles import Console
from quorum.experiments.common.outputs import Output
from quorum.experiments.replay.replay import prepare_replay
from quorum.experiments.results.recorded_episode import open_episode

FASTEST = 50
"""Steps a second; viewers of films slow down what is faster."""


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """The words of a command, as they were typed.

    Attributes:
        runs: folders, one or two.
        out: the file of a film; None: the terminal.
        fps: steps a second.
        first: the first step that is shown.
        last: the last one; None: the end.
        width: of a film, in pixels; None: what suits the board.
    """

    runs: Sequence[Path]
    out: Output | None
    fps: float
    first: int
    last: int | None
    width: int | None


def run_replay(request: ReplayRequest, console: Console, *, quiet: bool) -> list[str]:
    """Show a replay, or write it, and return what is to be said of it.

    Args:
        request: the words of the command.
        console: where it is shown.
        quiet: whether a film is made in silence.

    Raises:
        UserError: whatever the user can put right; nothing is half-written.
    """
    if not 0 < request.fps <= FASTEST or math.isnan(request.fps):
        raise UserError(f"--fps {request.fps:g}: steps a second are more than 0 and at most {FASTEST}")
    if request.out is None:
        _check_terminal(request, quiet=quiet)
        from quorum.experiments.replay.terminal import play, print_frames  # noqa: PLC0415

        shown = prepare_replay([open_episode(folder) for folder in request.runs], request.first, request.last)
        if console.is_terminal:
            play(shown, console, request.fps)
        else:
            print_frames(shown, console)
        return [run.remark for run in shown.runs if run.remark]

    from quorum.experiments.replay.film import check_target, make_film  # noqa: PLC0415 - Pillow and Matplotlib

    encode = check_target(request.out, request.width)
    shown = prepare_replay([open_episode(folder) for folder in request.runs], request.first, request.last)
    progress = None if quiet else Console(stderr=True)
    film = make_film(shown, request.out, encode, fps=request.fps, width=request.width, console=progress)
    return [*(run.remark for run in shown.runs if run.remark), *([] if quiet else [film.text()])]


def _check_terminal(request: ReplayRequest, *, quiet: bool) -> None:
    if request.width is not None:
        raise UserError("--width: it is the width of a film; give --out FILE.gif")
    if quiet:
        raise UserError("--quiet: it hides what the terminal would show; give --out FILE.gif")
