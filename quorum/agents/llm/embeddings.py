"""Embeddings through the protocol of language models: a request holds texts, and the reply holds numbers.

So such a call is retried, limited, cached, budgeted, recorded and replayed like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from quorum.agents.llm.errors import BrokenResponse
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Finish, Reply, Request, Usage

EMBEDDING = "embedding"
"""The role in which minds ask a model for embeddings."""

EMBEDDINGS = AnswerFormat(
    "embeddings",
    {
        "type": "object",
        "properties": {"embeddings": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}},
        "required": ["embeddings"],
        "additionalProperties": False,
    },
)
"""The answer schema: a list of numbers for each message, in order."""
DIGITS = 6
"""Decimals kept of each number."""


def texts_to_embed(texts: Sequence[str]) -> tuple[ChatMessage, ...]:
    """Return the messages of a request for the embeddings of texts."""
    return tuple(ChatMessage(ChatRole.USER, text) for text in texts)


def wants_embeddings(request: Request) -> bool:
    """Return whether a request is for embeddings."""
    return request.answer is not None and request.answer.name == EMBEDDINGS.name


def reply_with(vectors: Sequence[Sequence[float]], request: Request, usage: Usage, model: str, **more: Any) -> Reply:
    """Return the reply to a request for embeddings.

    Args:
        vectors: one for each message.
        request: the request.
        usage: token counts.
        model: name of the model.
        more: other fields of the reply.

    Raises:
        BrokenResponse: there is not one vector for each text, all of one length.
    """
    wanted = len(request.messages)
    if len(vectors) != wanted or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise BrokenResponse(f"{len(vectors)} embeddings for {wanted} texts, or embeddings of different lengths")
    rounded = [[round(float(number), DIGITS) for number in vector] for vector in vectors]
    text = orjson.dumps({"embeddings": rounded}).decode()
    return Reply(text, Finish.STOP, usage, more.pop("usd", None), more.pop("seconds", 0.0), model, **more)
