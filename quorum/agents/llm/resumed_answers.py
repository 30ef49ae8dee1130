"""Answers paid for by a killed attempt at an episode: the next attempt reuses them instead of requesting them again."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.records import read_reply, request_key


class ResumedAnswers:
    """The answers by participant and request, in order of arrival. Each is returned once.

    Args:
        records: records of paid calls, as written by `Recording`.
    """

    def __init__(self, records: Iterable[Mapping[str, Any]] = ()) -> None:
        self._left: defaultdict[tuple[str, str], deque[Reply]] = defaultdict(deque)
        for record in records:
            self._left[record["agent"], record["key"]].append(read_reply(record["reply"]))

    def __len__(self) -> int:
        return sum(map(len, self._left.values()))

    def take(self, request: Request) -> Reply | None:
        """Return the answer to a request as if from a cache; None if none is left."""
        agent = request.origin.agent if request.origin is not None else ""
        left = self._left.get((agent, request_key(request))) if self._left else None
        return replace(left.popleft(), cache_hit=True, attempts=0, seconds=0.0) if left else None


class Resuming:
    """A model that is called only for requests that no earlier attempt has paid for.

    Args:
        model: the model.
        given: the answers of earlier attempts.
    """

    def __init__(self, model: Model, given: ResumedAnswers) -> None:
        self._model = model
        self._given = given

    async def complete(self, request: Request) -> Reply:
        """Answer a request."""
        return self._given.take(request) or await self._model.complete(request)
