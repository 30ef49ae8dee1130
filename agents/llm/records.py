"""Requests and replies as JSON-ready records, and replies back: for caches, recordings, replays and traces."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import msgspec
import orjson

from quorum.agents.llm.protocol import ChatMessage, Effort, Finish, Rejected, Reply, Request, Sampling, Usage

WALL = "wall"
"""Field of a record that holds what may differ between equal runs: times, tries, hits of the cache."""


def describe_request(request: Request) -> dict[str, Any]:
    """Return a request as a JSON-ready record: all that reaches the model, and nothing else."""
    answer = request.answer
    return {
        "messages": [describe_message(message) for message in request.messages],
        "answer": None if answer is None else {"name": answer.name, "schema": answer.schema},
        "sampling": _describe_sampling(request.sampling),
        "sample": request.sample,
    }


def describe_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message; its pictures, by what they show, where it has any."""
    pictures = {"pictures": [picture.record for picture in message.pictures]} if message.pictures else {}
    return {"role": message.role.value, "content": message.content, **pictures}


_USAGE = tuple(field.name for field in fields(Usage))
_USAGE_ALWAYS = ("prompt", "completion", "cached")
_SAMPLING = tuple(field.name for field in fields(Sampling))
_SAMPLING_ALWAYS = ("temperature", "max_tokens", "seed")


def _describe_sampling(sampling: Sampling) -> dict[str, Any]:
    """Return how an answer is drawn; what came with later versions stands there only where it is set.

    So requests that were recorded earlier keep their keys.
    """
    found = ((name, getattr(sampling, name)) for name in _SAMPLING)
    return {name: value for name, value in found if value is not None or name in _SAMPLING_ALWAYS}


def read_sampling(record: Mapping[str, Any]) -> Sampling:
    """Return how the answer of a recorded request was drawn.

    Raises:
        TypeError, ValueError: it is no record of that.
    """
    effort, stop = record.get("effort"), record.get("stop")
    typed = {"effort": None if effort is None else Effort(effort), "stop": None if stop is None else tuple(stop)}
    return Sampling(**{**record, **typed})


def request_key(request: Request, identity: Mapping[str, str] | None = None) -> str:
    """Hash a request, and the model that is asked if `identity` names it.

    Args:
        request: what is asked; its origin plays no part.
        identity: provider, address, model, and whatever else of the provider's settings reaches the model.
    """
    return record_key(describe_request(request), identity)


def record_key(record: Mapping[str, Any], identity: Mapping[str, str] | None = None) -> str:
    """Hash the record of a request, as `request_key` does that of the request."""
    content = {"request": record, "identity": dict(identity or {})}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def describe_reply(reply: Reply) -> dict[str, Any]:
    """Return a reply as a JSON-ready record; what may differ between equal runs stands under `wall`."""
    tier = {"tier": reply.tier} if reply.tier else {}
    return {
        "text": reply.text,
        **({"thinking": reply.thinking} if reply.thinking else {}),
        "value": reply.value,
        "finish": reply.finish.value,
        "model": reply.model,
        "usage": _describe_usage(reply.usage),
        "usd": reply.usd,
        "repairs": reply.repairs,
        **({"widened": reply.widened} if reply.widened else {}),
        "rejected": [{"text": answer.text, "reasons": list(answer.reasons)} for answer in reply.rejected],
        "not_sent": list(reply.not_sent),
        "simulated": reply.simulated,
        **tier,
        **({"fallback": reply.fallback} if reply.fallback else {}),
        WALL: {"seconds": reply.seconds, "attempts": reply.attempts, "cache_hit": reply.cache_hit},
    }


def _describe_usage(usage: Usage) -> dict[str, Any]:
    """Return token counts; what few calls have (thoughts, tokens written to a cache) stands there if they have it."""
    found = ((name, getattr(usage, name)) for name in _USAGE)
    return {name: value for name, value in found if value or name in _USAGE_ALWAYS}


def read_reply(record: Mapping[str, Any]) -> Reply:
    """Return the reply of a record.

    Raises:
        KeyError, TypeError, ValueError: it is no record of a reply.
    """
    wall = record[WALL]
    msgspec.convert({**record, **wall}, type=Reply)  # every field is of its type; whole numbers stay whole below
    return Reply(
        text=record["text"],
        finish=Finish(record["finish"]),
        usage=Usage(**record["usage"]),
        usd=record["usd"],
        seconds=wall["seconds"],
        model=record["model"],
        value=record["value"],
        attempts=wall["attempts"],
        repairs=record["repairs"],
        widened=record.get("widened", 0),
        cache_hit=wall["cache_hit"],
        not_sent=tuple(record["not_sent"]),
        simulated=record["simulated"],
        thinking=record.get("thinking", ""),
        rejected=tuple(Rejected(answer["text"], tuple(answer["reasons"])) for answer in record["rejected"]),
        tier=record.get("tier", ""),
        fallback=record.get("fallback", ""),
    )


def dump(record: Mapping[str, Any]) -> bytes:
    """Write a record as one line of JSON."""
    return orjson.dumps(record)


def load(line: bytes | str) -> dict[str, Any]:
    """Read a record."""
    record: dict[str, Any] = orjson.loads(line)
    return record
