"""The content of messages in every format: texts with cache marks, pictures, and extra fields."""

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
"""Content of a message in any format: a text, or parts."""


def with_pictures(
    content: Content,
    pictures: Iterable[Picture],
    image: Callable[[Picture], dict[str, Any]],
    written: Callable[[str, bool], dict[str, Any]],
) -> Content:
    """Return the content of a message with its pictures; unchanged if there are none.

    They come before its last text part, or before the whole text if there is only one. So the part that recurs in later
    prompts stays in front of them, and the words about them follow, as providers advise.

    Args:
        content: content without pictures.
        pictures: pictures of the message.
        image: makes the part for a picture.
        written: writes a piece of text, as for `contents_of`.
    """
    images = [image(picture) for picture in pictures]
    if not images:
        return content
    parts = [written(content, False)] if isinstance(content, str) else content
    return [*parts[:-1], *images, parts[-1]]


def openai_image(picture: Picture) -> dict[str, Any]:
    """Return a picture as a part in OpenAI's format (`ChatCompletionContentPartImageParam` of the SDK, 3.52).

    It requests high detail, because numbers on a board are unreadable in low detail.
    """
    url = f"data:image/png;base64,{_base64(picture)}"
    return {"type": "image_url", "image_url": {"url": url, "detail": "high"}}


def responses_image(picture: Picture) -> dict[str, Any]:
    """Return a picture as a part for OpenAI's Responses API (`ResponseInputImageParam` of the SDK, 3.52)."""
    inner = openai_image(picture)["image_url"]
    return {"type": "input_image", "image_url": inner["url"], "detail": inner["detail"]}


def gemini_image(picture: Picture) -> dict[str, Any]:
    """Return a picture as a part in Gemini's format (`Part` of google-genai, 3.6)."""
    return {"inlineData": {"mimeType": "image/png", "data": _base64(picture)}}


def anthropic_image(picture: Picture) -> dict[str, Any]:
    """Return a picture as a block in Anthropic's format (`ImageBlockParam` of the SDK, 2.11)."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _base64(picture)}}


def _base64(picture: Picture) -> str:
    return b64encode(picture.png).decode()


MOST_BREAKPOINTS = 4
"""Maximum number of cache breakpoints in one request, for both providers."""
MOST_OF_MESSAGES = MOST_BREAKPOINTS - 1
"""Breakpoints available after the system message, which has its own."""


class PromptCaching(StrEnum):
    """Prompt cache settings to send."""

    NONE = "none"
    KEY = "key"
    BREAKPOINTS = "breakpoints"


def cut(messages: Sequence[ChatMessage]) -> list[list[tuple[str, bool]]]:
    """Cut messages at their last marks, up to the limit, and system messages at their end.

    Return the non-blank pieces of each message: the text, and whether a breakpoint follows it. Joined, they give the
    message.
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
    """Return OpenAI's cache key for a prompt, equal for equal prefixes. It has 39 characters; 64 are allowed."""
    beginning = [*system, None if answer is None else answer.schema]
    return f"quorum-{hashlib.sha256(orjson.dumps(beginning)).hexdigest()[:32]}"


def contents_of(
    messages: Sequence[ChatMessage], written: Callable[[str, bool], dict[str, Any]], *, marked: bool
) -> list[Content]:
    """Return the contents of messages without their pictures: the text, or its pieces if it is marked.

    Args:
        messages: the prompt, or its messages after the system message.
        written: writes a piece in the provider's format.
        marked: whether to send marks.
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
    """Add the fields of `llm.extra_body` to a request body; nested maps are merged.

    Fields already in the body take precedence.
    """
    joined = dict(body)
    for key, value in (extra or {}).items():
        own = joined.get(key)
        if isinstance(own, Mapping) and isinstance(value, Mapping):
            joined[key] = with_extra(own, value)
        else:
            joined.setdefault(key, value)
    return joined
