"""Write the file of a film."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from types import ModuleType

from PIL import GifImagePlugin, Image, ImageChops
from rich.progress import track

from quorum.display.consoles import Console
from quorum.installation.packages import load
from quorum.storage.outputs import Output
from quorum.view.replay.frame_painter import PALETTE_SIZE, FramePainter, palette
from quorum.view.replay.replay import Replay, drawable
from quorum_base.drawing import Canvas
from quorum_base.painting.colours import INK, Colour
from quorum_base.user_errors import UserError, choices_hint

UNCHANGED = PALETTE_SIZE
"""Palette index of unchanged pixels."""
_TICK = 10
"""Time unit of GIFs, in milliseconds."""


def encode_gif(images: Iterator[Image.Image], colours: list[Colour], fps: float, hold: float) -> bytes:
    """Write images as a GIF that loops forever.

    Pillow's own writer keeps all frames in memory.

    Args:
        images: RGB, at least one, of equal size.
        colours: palette of the images, at most `PALETTE_SIZE`; other colours are shown as the nearest of these.
        fps: images per second; an image lasts whole hundredths of a second.
        hold: duration of the last image, in seconds.
    """
    palette = Image.new("P", (1, 1))
    palette.putpalette([channel for colour in colours for channel in colour])
    before = _indexed(next(images), palette)
    first = before.copy()
    first.putpalette([channel for colour in [*colours, *[INK] * (256 - len(colours))] for channel in colour])
    parts, _ = GifImagePlugin.getheader(first, info={"loop": 0})
    area, waiting = before, (0, 0)
    for image in images:
        parts += _frame(area, waiting, 1 / fps)
        now = _indexed(image, palette)
        area, waiting = _changed(before, now)
        before = now
    parts += _frame(area, waiting, hold)
    return b"".join(parts) + b";"


def _indexed(image: Image.Image, palette: Image.Image) -> Image.Image:
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def _changed(before: Image.Image, now: Image.Image) -> tuple[Image.Image, tuple[int, int]]:
    """Cut out the changed area, and return its position; unchanged pixels inside become `UNCHANGED`."""
    difference = ImageChops.difference(_plain(before), _plain(now))
    left, top, right, bottom = difference.getbbox() or (0, 0, 1, 1)
    box = (left, top, right, bottom)
    same = difference.crop(box).point([255, *[0] * 255])
    area = now.crop(box)
    area.paste(UNCHANGED, mask=same)
    return area, (left, top)


def _plain(image: Image.Image) -> Image.Image:
    """Return the indices of an image as grey values."""
    return Image.frombytes("L", image.size, image.tobytes())


def _frame(area: Image.Image, corner: tuple[int, int], seconds: float) -> list[bytes]:
    milliseconds = max(1, round(1000 * seconds / _TICK)) * _TICK
    return GifImagePlugin.getdata(area, corner, duration=milliseconds, transparency=UNCHANGED, disposal=1)


_OPTIONS = {"crf": "20", "preset": "medium"}
"""Settings that keep letters sharp."""


def encode_mp4(av: ModuleType, images: Iterator[Image.Image], fps: float, hold: float) -> bytes:
    """Write images as an MP4 that any browser and presentation program can play.

    Args:
        av: the package PyAV.
        images: RGB, at least one, of equal size with even edges.
        fps: images per second.
        hold: duration of the last image, in seconds.
    """
    data = BytesIO()
    with av.open(data, "w", format="mp4") as film:
        image = next(images)
        stream = film.add_stream("libx264", rate=Fraction(fps).limit_denominator(1000), options=_OPTIONS)
        stream.width, stream.height = image.size
        stream.pix_fmt = "yuv420p"
        film.mux(stream.encode(av.VideoFrame.from_image(image)))
        for image in images:
            film.mux(stream.encode(av.VideoFrame.from_image(image)))
        for _ in range(max(0, round(hold * fps) - 1)):
            film.mux(stream.encode(av.VideoFrame.from_image(image)))
        film.mux(stream.encode(None))
    return data.getvalue()


ENDINGS = (".gif", ".mp4")
HOLD = 2.0
"""Minimum duration of the last image of a film, in seconds."""
NARROWEST, WIDEST = 160, 4096
"""Limits of a film's width, in pixels."""

Encode = Callable[[Iterator[Image.Image], Canvas, float], bytes]
"""Returns the content of a file, given images, their canvas, and images per second."""


@dataclass(frozen=True, slots=True)
class FilmFile:
    """The file that was written."""

    file: Path
    frames: int
    size: tuple[int, int]
    bytes: int

    def text(self) -> str:
        """Return a line about it."""
        width, height = self.size
        return f"film: {self.file} ({self.frames} frames, {width} x {height}, {self.bytes / 1000:,.0f} kB)"


def check_target(output: Output, width: int | None) -> Encode:
    """Check the arguments before drawing anything, and return the encoder.

    Raises:
        UserError: no film can be written there, or not of this kind or width.
    """
    file = output.target
    ending = file.suffix.lower()
    if file.is_dir():
        raise UserError(f"--out {file}: it is a folder", f"Give a file: --out {file / 'film.gif'}.")
    if ending not in ENDINGS:
        what = f"{file.suffix!r} is not an ending of a film" if file.suffix else "the name of a film needs an ending"
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
    """Draw a film and write it, completely or not at all.

    Args:
        replay: the replay.
        output: the file.
        encode: from `check_target`.
        fps: steps per second.
        width: width in pixels; None: a width that fits the board.
        console: shows progress; None: no progress.

    Raises:
        UserError: a run cannot be replayed or drawn, the film would be too narrow, or it cannot be written.
    """
    canvas, draw = drawable(replay.runs[0])
    painter = FramePainter(replay, canvas, width)
    frames = replay.frames(draw)
    if console is not None and console.is_terminal:
        frames = iter(track(frames, "drawing", len(replay), console=console, transient=True))
    data = encode(map(painter.paint, frames), canvas, fps)
    output.write(data)
    return FilmFile(output.target, len(replay), painter.size, len(data))
