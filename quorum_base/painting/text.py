"""Text in pictures, in the typeface that ships with Matplotlib, so that it looks the same on every machine."""

from __future__ import annotations

from bisect import bisect_right
from functools import cache, lru_cache
from pathlib import Path

import matplotlib
from PIL import Image, ImageDraw, ImageFont

from quorum_base.painting.colours import PAPER_WHITE, Colour

_FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
_SMALLEST = 7
"""Font size of the smallest legible label, in pixels."""
_LARGEST = 26


@cache
def font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Return the typeface in a size, in pixels."""
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(_FONTS / name, size, layout_engine=ImageFont.Layout.BASIC)


@cache
def fitting(text: str, width: float, height: float) -> ImageFont.FreeTypeFont | None:
    """Return the largest font in which a label fits a box; None if it would not be legible."""
    size = min(0.62 * height, _LARGEST)
    if size < _SMALLEST:
        return None
    size = min(size, size * 0.84 * width / font(int(size), bold=True).getlength(text))
    return font(int(size), bold=True) if size >= _SMALLEST else None


def clipped(text: str, width: float, face: ImageFont.FreeTypeFont) -> str:
    """Cut a text that is too wide, and end it with an ellipsis."""
    if face.getlength(text) <= width:
        return text
    room = bisect_right(range(len(text)), width, key=lambda end: face.getlength(text[:end] + "…"))
    return text[: max(0, room - 1)].rstrip() + "…"


@lru_cache(maxsize=64)
def two_lines(text: str, width: float, face: ImageFont.FreeTypeFont) -> tuple[str, str]:
    """Break a text into two lines, and cut the second one if it is too wide."""
    first = clipped(text, width, face)
    if first == text:
        return text, ""
    end = text.rfind(" ", 0, len(first))
    end = end if end > len(first) // 2 else len(first) - 1
    return text[:end], clipped(text[end:].lstrip(), width, face)


@lru_cache(maxsize=64)
def strip(text: str, size: tuple[int, int], face: ImageFont.FreeTypeFont, colour: Colour) -> Image.Image:
    """Write a line on its own strip of paper, which clips characters at its edges.

    The strip is cached for later pictures: paste it, but do not draw on it.
    """
    image = Image.new("RGB", size, PAPER_WHITE)
    ImageDraw.Draw(image).text((0, size[1] / 2), text, colour, face, anchor="lm")
    return image
