"""Writes a GIF, frame by frame: each holds only what has changed since the one before."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import GifImagePlugin, Image, ImageChops

from maeil.painting.colours import INK, Colour
from quorum.experiments.replay.colours import PALETTE_SIZE

UNCHANGED = PALETTE_SIZE
"""The index of what stays as it was."""
_TICK = 10
"""Milliseconds that a GIF counts in."""


def encode_gif(images: Iterator[Image.Image], colours: list[Colour], fps: float, hold: float) -> bytes:
    """Write images as a GIF that runs for ever.

    Pillow's own way of writing many frames keeps them all in memory.

    Args:
        images: RGB, at least one, of equal size.
        colours: that the images are made of, at most `PALETTE_SIZE`; others are shown as the nearest of these.
        fps: images a second; an image is there for whole hundredths of a second.
        hold: seconds that the last image stays.
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
    """Cut out what has changed, and say where it was; what has not changed in there becomes `UNCHANGED`."""
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
