"""Recording: every call as one JSON-ready record. Neither headers nor keys ever reach it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from maeil.errors import EpisodeStop
from quorum.agents.llm import errors
from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.protocol import Model, Origin, Reply, Request
from quorum.agents.llm.records import WALL, describe_reply, describe_request, record_key

Sink = Callable[[dict[str, Any]], None]
"""Takes one record, e.g. to write it as a line of `calls.jsonl`."""

Keep = Callable[[Picture], None]
"""Takes a picture, e.g. to write it as a file."""

CANCELLED = "Cancelled"


class Recording:
    """A model whose calls are recorded: what was asked, what came back or why nothing did, and who asked when.

    An answer that is asked for again is one call, and asking again is the next.

    Fields of a record: `key`, `agent`, `t`, `role` and `turn` (of `Origin`) where there are such, `request` (messages,
    form, sampling, sample), then `reply` or `failure`.
    What may differ between equal runs (seconds, tries, hits of the cache) stands under `wall`, inside of the reply.

    Args:
        model: the model.
        sink: takes each record when its call ends.
        keep: takes each picture of a request before the record that names it.
    """

    def __init__(self, model: Model, sink: Sink, keep: Keep = lambda _: None) -> None:
        self._model = model
        self._sink = sink
        self._keep = keep

    async def complete(self, request: Request) -> Reply:
        """Answer a request and record the call, also when it fails or is cancelled."""
        begin = time.perf_counter()
        try:
            reply = await self._model.complete(request)
        except asyncio.CancelledError:
            self._fail(request, {"kind": CANCELLED}, begin)
            raise
        except (errors.LanguageModelError, EpisodeStop) as error:
            self._fail(request, describe_failure(error), begin, getattr(error, "attempts", 0))
            raise
        self._record(request, {"reply": describe_reply(reply)})
        return reply

    def _fail(self, request: Request, failure: dict[str, Any], begin: float, attempts: int = 0) -> None:
        tried = {"attempts": attempts} if attempts else {}
        self._record(request, {"failure": {**failure, WALL: {"seconds": time.perf_counter() - begin, **tried}}})

    def _record(self, request: Request, end: dict[str, Any]) -> None:
        for message in request.messages:
            for picture in message.pictures:
                self._keep(picture)
        self._sink({**_head(request), **end})


def _head(request: Request) -> dict[str, Any]:
    origin = request.origin or Origin("", 0)
    who = {"agent": origin.agent, "t": origin.t}
    how = {name: value for name, value in (("role", origin.role), ("turn", origin.turn)) if value}
    record = describe_request(request)
    return {"key": record_key(record), **who, **how, "request": record}


def describe_failure(error: errors.LanguageModelError | EpisodeStop) -> dict[str, Any]:
    """Return a failure as a JSON-ready record."""
    record: dict[str, Any] = {"kind": type(error).__name__, "message": str(error)}
    if isinstance(error, errors.AnswerInvalid):  # of a replay: versions before 0.10 recorded answers with their repairs
        record["answer"] = {
            "reasons": list(error.reasons),
            "completion_tokens": error.completion_tokens,
            "record": error.record,
        }
    elif isinstance(error, errors.BudgetReached):
        record["budget"] = {"kind": error.kind, "value": error.value, "limit": error.limit}
    return record
