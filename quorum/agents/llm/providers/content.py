"""The content of messages in every format: texts with marks for the prompt cache, pictures, and extra fields."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import orjson

from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole

Content = str | list[dict[str, Any]]
"""What a message holds: a text, or parts, in every format."""


def with_pictures(
    content: Content,
    pictures: Iterable[Picture],
    image: Callable[[Picture], dict[str, Any]],
    written: Callable[[str, bool], dict[str, Any]],
) -> Content:
    """Return the content of a message with its pictures; as it is where there are none.

    They stand before its last part of text, or before all of it where it is one: so what comes again in later prompts
    stays in front of them, and the words about them follow, as providers advise.

    Args:
        content: without pictures.
        pictures: of the message.
        image: makes the part of a picture.
        written: writes a piece of text, as for `contents_of`.
    """
    images = [image(picture) for picture in pictures]
    if not images:
        return content
    parts = [written(content, False)] if isinstance(content, str) else content
    return [*parts[:-1], *images, parts[-1]]


def openai_image(picture: Picture) -> dict[str, Any]:
    """Return the part of a picture in OpenAI's format (`ChatCompletionContentPartImageParam` of the SDK, 3.52).

    It asks for high detail: in low detail no number on a board can be read.
    """
    url = f"data:image/png;base64,{_base64(picture)}"
    return {"type": "image_url", "image_url": {"url": url, "detail": "high"}}


def responses_image(picture: Picture) -> dict[str, Any]:
    """Return the part of a picture for OpenAI's Responses API (`ResponseInputImageParam` of the SDK, 3.52)."""
    inner = openai_image(picture)["image_url"]
    return {"type": "input_image", "image_url": inner["url"], "detail": inner["detail"]}


def gemini_image(picture: Picture) -> dict[str, Any]:
    """Return the part of a picture in Gemini's format (`Part` of google-genai, 3.6)."""
    return {"inlineData": {"mimeType": "image/png", "data": _base64(picture)}}


def anthropic_image(picture: Picture) -> dict[str, Any]:
    """Return the block of a picture in Anthropic's format (`ImageBlockParam` of the SDK, 2.11)."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _base64(picture)}}


def _base64(picture: Picture) -> str:
    return b64encode(picture.png).decode()


MOST_BREAKPOINTS = 4
"""Places of a prompt up to which one request can have it kept, with both providers."""
MOST_OF_MESSAGES = MOST_BREAKPOINTS - 1
"""Breakpoints of the messages behind the system message, which has its own."""


class PromptCaching(StrEnum):
    """What is said of the prompt cache."""

    NONE = "none"
    KEY = "key"
    BREAKPOINTS = "breakpoints"


def cut(messages: Sequence[ChatMessage]) -> list[list[tuple[str, bool]]]:
    """Cut messages at their last marks, as many as there may be, and system messages at their end.

    Return for each message its pieces, none of them blank: the text, and whether a breakpoint follows it. Joined, they
    are the message.
    """
    marked = [(number, place) for number, message in enumerate(messages) for place in message.marks]
    chosen = marked[-MOST_OF_MESSAGES:]
    system = max((i for i, message in enumerate(messages) if message.role is ChatRole.SYSTEM), default=None)
    return [
        [(message.content, True)]
        if number == system
        else list(_pieces(message.content, [place for at, place in chosen if at == number]))
        for number, message in enumerate(messages)
    ]


def _pieces(text: str, places: Sequence[int]) -> Iterator[tuple[str, bool]]:
    begin = 0
    for place in places:
        if text[begin:place].strip() and text[place:].strip():
            yield text[begin:place], True
            begin = place
    yield text[begin:], len(text) in places


def key_of(system: Iterable[str], answer: AnswerFormat | None) -> str:
    """Return the key of a prompt for OpenAI: equal where prompts begin alike. It has 39 characters; 64 may be sent."""
    beginning = [*system, None if answer is None else answer.schema]
    return f"quorum-{hashlib.sha256(orjson.dumps(beginning)).hexdigest()[:32]}"


def contents_of(
    messages: Sequence[ChatMessage], written: Callable[[str, bool], dict[str, Any]], *, marked: bool
) -> list[Content]:
    """Return the contents of messages, without their pictures: of each its text, or its pieces if it is marked.

    Args:
        messages: the prompt, or its messages behind the system message.
        written: writes a piece in the provider's format.
        marked: whether marks are sent.
    """
    if not marked:
        return [message.content for message in messages]
    return [
        [written(text, follows) for text, follows in pieces] if any(follows for _, follows in pieces) else pieces[0][0]
        for pieces in cut(messages)
    ]


def anthropic_block(text: str, breakpoint_follows: bool) -> dict[str, Any]:
    """Return a piece of text as a block of Anthropic's format."""
    block: dict[str, Any] = {"type": "text", "text": text}
    return {**block, "cache_control": {"type": "ephemeral"}} if breakpoint_follows else block


def openai_part(text: str, breakpoint_follows: bool) -> dict[str, Any]:
    """Return a piece of text as a content part of OpenAI's format."""
    part: dict[str, Any] = {"type": "text", "text": text}
    return {**part, "prompt_cache_breakpoint": {"mode": "explicit"}} if breakpoint_follows else part


def responses_part(text: str, breakpoint_follows: bool) -> dict[str, Any]:
    """Return a piece of text as a content part of OpenAI's Responses API."""
    return {**openai_part(text, breakpoint_follows), "type": "input_text"}


def gemini_part(text: str, _breakpoint_follows: bool = False) -> dict[str, Any]:
    """Return a piece of text as a part of Gemini's format, which has no breakpoints."""
    return {"text": text}


def with_extra(body: Mapping[str, Any], extra: Mapping[str, Any] | None) -> dict[str, Any]:
    """Put the fields of `llm.extra_body` into the body of a request; maps within one another are joined.

    What the body has already stays as it is.
    """
    joined = dict(body)
    for key, value in (extra or {}).items():
        own = joined.get(key)
        if isinstance(own, Mapping) and isinstance(value, Mapping):
            joined[key] = with_extra(own, value)
        else:
            joined.setdefault(key, value)
    return joined
