"""The identity of a request, by which caches, recordings and replays find it again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import orjson

from quorum.agents.llm.protocol import Request


def describe_request(request: Request) -> dict[str, Any]:
    """Return a request as a JSON-ready record: all that reaches the model, and nothing else."""
    answer = request.answer
    return {
        "messages": [{"role": message.role.value, "content": message.content} for message in request.messages],
        "answer": None if answer is None else {"name": answer.name, "schema": answer.schema},
        "sampling": asdict(request.sampling),
        "sample": request.sample,
    }


def request_key(request: Request, identity: Mapping[str, str] | None = None) -> str:
    """Hash a request, and the model that is asked if `identity` names it.

    Args:
        request: what is asked; its origin plays no part.
        identity: provider, address, model, and whatever else of the provider's settings reaches the model.
    """
    content = {"request": describe_request(request), "identity": dict(identity or {})}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()
