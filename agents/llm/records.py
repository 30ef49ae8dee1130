"""Replies as JSON-ready records and back: for caches, recordings and traces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import orjson

from quorum.agents.llm.protocol import Finish, Rejected, Reply, Usage

WALL = "wall"
"""Field of a record that holds what may differ between equal runs: times, tries, hits of the cache."""


def describe_reply(reply: Reply) -> dict[str, Any]:
    """Return a reply as a JSON-ready record; what may differ between equal runs stands under `wall`."""
    return {
        "text": reply.text,
        "value": reply.value,
        "finish": reply.finish.value,
        "model": reply.model,
        "usage": asdict(reply.usage),
        "usd": reply.usd,
        "repairs": reply.repairs,
        "rejected": [{"text": answer.text, "reasons": list(answer.reasons)} for answer in reply.rejected],
        "not_sent": list(reply.not_sent),
        "simulated": reply.simulated,
        WALL: {"seconds": reply.seconds, "attempts": reply.attempts, "cache_hit": reply.cache_hit},
    }


def read_reply(record: Mapping[str, Any]) -> Reply:
    """Return the reply of a record.

    Raises:
        KeyError, TypeError, ValueError: it is no record of a reply.
    """
    wall = record[WALL]
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
        cache_hit=wall["cache_hit"],
        not_sent=tuple(record["not_sent"]),
        simulated=record["simulated"],
        rejected=tuple(Rejected(answer["text"], tuple(answer["reasons"])) for answer in record["rejected"]),
    )


def dump(record: Mapping[str, Any]) -> bytes:
    """Write a record as one line of JSON."""
    return orjson.dumps(record)


def load(line: bytes | str) -> dict[str, Any]:
    """Read a record."""
    record: dict[str, Any] = orjson.loads(line)
    return record
