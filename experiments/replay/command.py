"""What `quorum replay` does with its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from maeil.user_errors import UserError
from quorum.experiments.replay.reel import reel
from quorum.experiments.results.recorded import open_run

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
    out: Path | None
    fps: float
    first: int
    last: int | None
    width: int | None


def replay_out(asked: ReplayRequest, console: Console, *, quiet: bool) -> list[str]:
    """Show a replay, or write it, and give what is to be told of it.

    Args:
        asked: the words of the command.
        console: where it is shown.
        quiet: whether a film is made in silence.

    Raises:
        UserError: whatever the user can put right; nothing is half-written.
    """
    if not 0 < asked.fps <= FASTEST or math.isnan(asked.fps):
        raise UserError(f"--fps {asked.fps:g}: steps a second are more than 0 and at most {FASTEST}")
    if asked.out is None:
        _check_terminal(asked, quiet=quiet)
        from quorum.experiments.replay.terminal import play, print_frames  # noqa: PLC0415

        shown = reel([open_run(folder) for folder in asked.runs], asked.first, asked.last)
        if console.is_terminal:
            play(shown, console, asked.fps)
        else:
            print_frames(shown, console)
        return [run.remark for run in shown.runs if run.remark]

    from quorum.experiments.replay.film import check_target, make_film  # noqa: PLC0415 - Pillow and Matplotlib

    encode = check_target(asked.out, asked.width)
    shown = reel([open_run(folder) for folder in asked.runs], asked.first, asked.last)
    progress = None if quiet else Console(stderr=True)
    film = make_film(shown, asked.out, encode, fps=asked.fps, width=asked.width, console=progress)
    return [*(run.remark for run in shown.runs if run.remark), *([] if quiet else [film.text()])]


def _check_terminal(asked: ReplayRequest, *, quiet: bool) -> None:
    if asked.width is not None:
        raise UserError("--width: it is the width of a film; give --out FILE.gif")
    if quiet:
        raise UserError("--quiet: it hides what the terminal would show; give --out FILE.gif")
