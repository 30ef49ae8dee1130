"""Writes parts of requests and replies as text or JSON: schemas, tool calls, carried items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Finish


def schema_message(answer: AnswerFormat) -> ChatMessage:
    """Return a message that requests a schema in words, for providers without a better way."""
    schema = orjson.dumps(answer.schema).decode()
    return ChatMessage(
        ChatRole.SYSTEM, f"Answer with one JSON object that fits this JSON schema, and with nothing else:\n{schema}"
    )


def carried_item(item: Any) -> Mapping[str, Any]:
    """Return a response item, an SDK model, as its original JSON; for `Reply.carried`."""
    found: Mapping[str, Any] = orjson.loads(printable_unicode(json.dumps(item.to_dict(), ensure_ascii=False)))
    return found


def written_call(arguments: Any, finish: Finish) -> str:
    """Write the arguments of a tool call that the service has parsed from the model's text.

    If a call was cut off, nothing shows whether its arguments are complete, so the text is left incomplete as well.
    """
    text = json.dumps(arguments, ensure_ascii=False)
    return text[:-1] if finish is Finish.LENGTH else text


def with_schema_in_words(messages: Sequence[ChatMessage], answer: AnswerFormat | None) -> list[ChatMessage]:
    """Return messages with the answer schema after the system messages, unless there is none or they describe it."""
    place = next((i for i, m in enumerate(messages) if m.role is not ChatRole.SYSTEM), len(messages))
    asked = [] if answer is None or answer.in_words else [schema_message(answer)]
    return [*messages[:place], *asked, *messages[place:]]


def printable_unicode(text: str) -> str:
    """Replace lone surrogates, which JSON can carry and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
