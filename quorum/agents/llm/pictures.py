"""Pictures in prompts: what they are, how many tokens they may take, and how one is read from its bytes.

Rules of tokens, as of 2026-11-23: OpenAI's tiles (developers.openai.com/api/docs/guides/images-vision, "Calculating
costs", with the figures of gpt-4o): scaled into 2048 x 2048, then the shorter edge to 768 at most; 85 tokens, and 170
for each tile of 512 x 512. Anthropic (platform.claude.com/docs/en/build-with-claude/vision): width * height / 750, of
pictures with more than 1,568 pixels along an edge after they were scaled to that. Other models count otherwise (by
patches, or by tiles at other figures), so these are estimates for what is decided before an answer comes; the tokens of
an answer are those that the provider counted.
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
    """Bytes are no PNG, or not all of one."""


@dataclass(frozen=True)
class Picture:
    """A picture of a prompt. Two are equal when they show the same.

    Attributes:
        hash: of what it shows, 64 hexadecimal digits: of all that it is painted from, or of its bytes. The bytes that
            are painted may differ with the version of the imaging library, and a recorded run can be replayed with any.
        width: in pixels.
        height: in pixels.
        paint: gives the bytes, a PNG; it is called when they are first asked for.
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
        """What stands for it in the record of a request, and in its key."""
        return {"hash": self.hash, "width": self.width, "height": self.height}


def read_png(png: bytes) -> Picture:
    """Return the picture in the bytes of a PNG.

    Raises:
        NoPicture: they are none, or are cut off.
    """
    if len(png) < _HEAD or not png.startswith(_SIGNATURE) or png[12:16] != b"IHDR":
        raise NoPicture("it is no PNG")
    if zlib.crc32(png[12:29]) != int.from_bytes(png[29:33], "big") or not png.endswith(_END):
        raise NoPicture("the PNG is damaged or cut off")
    width, height = int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")
    if not (width and height):
        raise NoPicture("the PNG has no pixels")
    return Picture(hashlib.sha256(png).hexdigest(), width, height, lambda: png)


def picture_tokens(pictures: Iterable[Picture]) -> int:
    """Estimate the tokens of pictures: of each the more by the rules of OpenAI's gpt-4o and of Anthropic."""
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
