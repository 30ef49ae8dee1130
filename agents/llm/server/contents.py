"""The content of a message on the wire: a text, or parts of text and pictures."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from io import BytesIO
from typing import Any

from quorum.agents.llm.pictures import Picture, read_png

_DATA = "data:image/png;base64,"
LARGEST_EDGE = 8000
"""Pixels of a picture's longer edge, as Anthropic bounds it."""


def read_content(content: Any) -> tuple[str, tuple[Picture, ...]]:
    """Return the text and the pictures of a message, in either format of the wire.

    Raises:
        ValueError: it is something else, or a picture is no whole PNG within its bound; the text says why.
    """
    if isinstance(content, str):
        return content, ()
    if not isinstance(content, list) or not all(isinstance(part, Mapping) for part in content):
        raise ValueError("a text, or a list of parts is needed")
    texts: list[str] = []
    pictures: list[Picture] = []
    for part in content:
        match part:
            case {"type": "text"}:
                texts.append(str(part.get("text", "")))
            case {"type": "image_url", "image_url": {"url": str(url)}} if url.startswith(_DATA):
                pictures.append(_picture(url.removeprefix(_DATA)))
            case {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": str(data)}}:
                pictures.append(_picture(data))
            case _:
                raise ValueError("only text, and pictures that are a PNG in base64, are known here")
    return "".join(texts), tuple(pictures)


def _picture(data: str) -> Picture:
    """Read a picture, and make sure that it holds the pixels that its head tells."""
    from PIL import Image  # noqa: PLC0415 (only where there are pictures)

    try:
        picture = read_png(b64decode(data, validate=True))
        if max(picture.width, picture.height) > LARGEST_EDGE:
            raise ValueError(f"a picture of {picture.width} x {picture.height} pixels: at most {LARGEST_EDGE} an edge")
        with Image.open(BytesIO(picture.png), formats=["PNG"]) as image:
            image.load()
    except (binascii.Error, OSError, SyntaxError) as error:  # Pillow calls a broken chunk an error of syntax
        raise ValueError(f"a picture cannot be read: {error}") from error
    return picture
