"""OpenAI's format of embeddings, which most servers of its chat format have, too."""

from __future__ import annotations

from math import isfinite
from typing import Any

from quorum.agents.llm.embeddings import reply_with
from quorum.agents.llm.errors import BrokenResponse
from quorum.agents.llm.limits import estimate_tokens
from quorum.agents.llm.protocol import Reply, Request, Usage


def embedding_body(request: Request, model: str) -> dict[str, Any]:
    """Return the body of a request for embeddings.

    Args:
        request: its messages are the texts.
        model: name of the model.
    """
    texts = [message.content for message in request.messages]
    return {"model": model, "input": texts, "encoding_format": "float"}


def read_embeddings(response: Any, request: Request, model: str) -> Reply:
    """Read a response with embeddings.

    Args:
        response: as the SDK gives it.
        request: what was asked: its tokens are estimated where the response does not count them.
        model: name of the model, where the response does not say it.

    Raises:
        BrokenResponse: it holds not one embedding for each text, or something else than numbers.
    """
    try:
        found = sorted(response.data, key=lambda one: one.index)
        vectors = [[float(number) for number in one.embedding] for one in found]
    except (AttributeError, TypeError, ValueError) as error:
        raise BrokenResponse(f"a success without readable embeddings ({type(error).__name__})") from None
    if not all(isfinite(number) for vector in vectors for number in vector):
        raise BrokenResponse("an embedding holds what is no number")
    tokens = getattr(getattr(response, "usage", None), "prompt_tokens", None)
    if type(tokens) is int and tokens >= 0:
        usage = Usage(tokens, 0)
    else:
        usage = Usage(estimate_tokens(*(message.content for message in request.messages)), 0, estimated=True)
    name = response.model if isinstance(getattr(response, "model", None), str) else model
    return reply_with(vectors, request, usage, name)
