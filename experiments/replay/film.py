"""Makes the file of a film."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from rich.progress import track

from maeil.drawing import Canvas
from maeil.user_errors import UserError, choices_hint
from quorum.experiments.common.consoles import Console
from quorum.experiments.common.outputs import Output
from quorum.experiments.common.packages import load
from quorum.experiments.replay.colours import palette
from quorum.experiments.replay.frame_painter import FramePainter
from quorum.experiments.replay.frames import drawable
from quorum.experiments.replay.gif import encode_gif
from quorum.experiments.replay.mp4 import encode_mp4
from quorum.experiments.replay.replay import Replay

ENDINGS = (".gif", ".mp4")
HOLD = 2.0
"""Seconds that the end of a film stays, at least."""
NARROWEST, WIDEST = 160, 4096
"""Pixels of a film's width."""

Encode = Callable[[Iterator[Image.Image], Canvas, float], bytes]
"""Given images, the canvas on them and images a second, returns the content of a file."""


@dataclass(frozen=True, slots=True)
class FilmFile:
    """What was written."""

    file: Path
    frames: int
    size: tuple[int, int]
    bytes: int

    def text(self) -> str:
        """Write it in a line."""
        width, height = self.size
        return f"film: {self.file} ({self.frames} frames, {width} x {height}, {self.bytes / 1000:,.0f} kB)"


def check_target(output: Output, width: int | None) -> Encode:
    """Look at what was asked for before anything is drawn, and find what writes it.

    Raises:
        UserError: no film can be written there, or not of this kind or width.
    """
    file = output.target
    ending = file.suffix.lower()
    if file.is_dir():
        raise UserError(f"--out {file}: it is a folder", f"Give a file: --out {file / 'film.gif'}.")
    if ending not in ENDINGS:
        what = f"{file.suffix!r} is no ending of a film" if file.suffix else "a film has an ending"
        raise UserError(f"--out {file}: {what}", choices_hint(ending, "Endings", ENDINGS))
    output.check()
    if width is not None and not NARROWEST <= width <= WIDEST:
        raise UserError(f"--width {width}: a film is {NARROWEST} to {WIDEST} pixels wide")
    if ending == ".mp4":
        av = load("av", "video", f"--out {file}")
        return lambda images, _, fps: encode_mp4(av, images, fps, max(HOLD, 1 / fps))
    return lambda images, canvas, fps: encode_gif(images, palette(canvas.kinds), fps, max(HOLD, 1 / fps))


def make_film(
    replay: Replay, output: Output, encode: Encode, *, fps: float, width: int | None, console: Console | None
) -> FilmFile:
    """Draw a film and write it, whole or not at all.

    Args:
        replay: what is shown.
        output: where it goes.
        encode: of `check_target`.
        fps: steps a second.
        width: in pixels; None: what suits the board.
        console: shows how far it is; None: nothing does.

    Raises:
        UserError: a run cannot be brought back or drawn, the film would be too narrow, or it cannot be written.
    """
    canvas, draw = drawable(replay.runs[0])
    painter = FramePainter(replay, canvas, width)
    frames = replay.frames(draw)
    if console is not None and console.is_terminal:
        frames = iter(track(frames, "drawing", len(replay), console=console, transient=True))
    data = encode(map(painter.paint, frames), canvas, fps)
    output.write(data)
    return FilmFile(output.target, len(replay), painter.size, len(data))
