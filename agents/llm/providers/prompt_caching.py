"""What a request says of the provider's prompt cache: where a beginning ends that may come again, and a key of it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any

import orjson

from quorum.agents.llm.prompt_caches import MOST_BREAKPOINTS
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole
from quorum.agents.llm.providers.images import Content

OFFERED = "prompt_cache"
"""What stands for all of it among what a server may refuse."""
MOST_OF_MESSAGES = MOST_BREAKPOINTS - 1
"""Breakpoints of the messages behind the system message, which has one of its own."""


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


def _pieces(text: str, places: Iterable[int]) -> Iterator[tuple[str, bool]]:
    begin = 0
    for place in places:
        if text[begin:place].strip() and text[place:].strip():
            yield text[begin:place], True
            begin = place
    yield text[begin:], False


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
