"""Pictures in prompts: their type, their cost in tokens, and reading them from bytes.

Token rules as of 2026-11-23: OpenAI's tiles (developers.openai.com/api/docs/guides/images-vision, "Calculating costs",
with the figures of gpt-4o): scale into 2048 x 2048, then the shorter edge to at most 768; 85 tokens, plus 170 for each
tile of 512 x 512. Anthropic (platform.claude.com/docs/en/build-with-claude/vision): width * height / 750, after scaling
the longer edge to at most 1,568 pixels. Other models count differently (by patches, or by tiles with other figures), so
these are estimates for decisions before an answer arrives; an answer has the tokens that the provider counted.
"""

from __future__ import annotations

import hashlib
import math
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEAD = 33
"""Bytes of the signature and of the first chunk, which holds the size (PNG 3rd edition, 5.3 and 11.2.1)."""
_END = b"\0\0\0\0IEND\xaeB`\x82"
_TILE, _BASE_TOKENS, _TILE_TOKENS = 512, 85, 170
_OPENAI_EDGES = 2048, 768
_PIXELS_PER_TOKEN, _ANTHROPIC_EDGE = 750, 1568


class NoPicture(ValueError):
    """Bytes are not a complete PNG."""


@dataclass(frozen=True)
class Picture:
    """A picture in a prompt. Two pictures are equal if they show the same.

    Attributes:
        hash: hash of the content, 64 hexadecimal digits: of everything it is painted from, or of its bytes. Painted
            bytes may differ between versions of the imaging library; a recorded run can be replayed with any version.
        width: in pixels.
        height: in pixels.
        paint: returns the bytes, a PNG; called on first use.
    """

    hash: str
    width: int
    height: int
    paint: Callable[[], bytes] = field(compare=False, repr=False)

    @cached_property
    def png(self) -> bytes:
        """The picture as a PNG."""
        return self.paint()

    @property
    def record(self) -> dict[str, Any]:
        """The representation of the picture in the record and key of a request."""
        return {"hash": self.hash, "width": self.width, "height": self.height}


def read_png(png: bytes) -> Picture:
    """Read a picture from the bytes of a PNG.

    Raises:
        NoPicture: they are not a PNG, or are cut off.
    """
    if len(png) < _HEAD or not png.startswith(_SIGNATURE) or png[12:16] != b"IHDR":
        raise NoPicture("it is not a PNG")
    if zlib.crc32(png[12:29]) != int.from_bytes(png[29:33], "big") or not png.endswith(_END):
        raise NoPicture("the PNG is damaged or cut off")
    width, height = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    if not (width and height):
        raise NoPicture("the PNG has no pixels")
    return Picture(hashlib.sha256(png).hexdigest(), width, height, lambda: png)


def picture_tokens(pictures: Iterable[Picture]) -> int:
    """Estimate the tokens of pictures: for each, the larger count by the rules of OpenAI's gpt-4o and of Anthropic."""
    return sum(max(_tiles(each), _pixels(each)) for each in pictures)


def _tiles(picture: Picture) -> int:
    largest, shortest = _OPENAI_EDGES
    scale = min(1.0, largest / max(picture.width, picture.height))
    scale *= min(1.0, shortest / (scale * min(picture.width, picture.height)))
    across, down = (math.ceil(round(edge * scale, 6) / _TILE) for edge in (picture.width, picture.height))
    return _BASE_TOKENS + _TILE_TOKENS * across * down


def _pixels(picture: Picture) -> int:
    scale = min(1.0, _ANTHROPIC_EDGE / max(picture.width, picture.height))
    return math.ceil(picture.width * scale * picture.height * scale / _PIXELS_PER_TOKEN)
