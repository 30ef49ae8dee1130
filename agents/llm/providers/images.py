"""Pictures in the content of a message, in the two formats of the wire."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable
from typing import Any

from quorum.agents.llm.pictures import Picture

Content = str | list[dict[str, Any]]
"""What a message holds: a text, or parts, in both formats."""


def with_pictures(content: Content, pictures: Iterable[Picture], image: Callable[[Picture], dict[str, Any]]) -> Content:
    """Return the content of a message with its pictures; as it is where there are none.

    They stand before its last part of text, or before all of it where it is one: so what comes again in later prompts
    stays in front of them, and the words about them follow, as providers advise.

    Args:
        content: without pictures.
        pictures: of the message.
        image: makes the part of a picture.
    """
    images = [image(picture) for picture in pictures]
    if not images:
        return content
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return [*parts[:-1], *images, parts[-1]]


def openai_image(picture: Picture) -> dict[str, Any]:
    """Return the part of a picture in OpenAI's format (`ChatCompletionContentPartImageParam` of the SDK, 3.52).

    It asks for high detail: in low detail no number on a board can be read.
    """
    url = f"data:image/png;base64,{_base64(picture)}"
    return {"type": "image_url", "image_url": {"url": url, "detail": "high"}}


def anthropic_image(picture: Picture) -> dict[str, Any]:
    """Return the block of a picture in Anthropic's format (`ImageBlockParam` of the SDK, 2.11)."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _base64(picture)}}


def _base64(picture: Picture) -> str:
    return b64encode(picture.png).decode()
