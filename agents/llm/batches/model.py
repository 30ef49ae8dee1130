"""A provider that answers by batches, for one episode."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson

from quorum.agents.llm.batches.service import Fate, RowResult
from quorum.agents.llm.batches.waves import Line
from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.errors import ServerFailed, TimedOut
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.tiers import BATCH


class Batched:
    """A provider whose requests go out in batches. It tries once, like the provider itself.

    Requests are built, and answers read, by the provider; what a server refuses is left out as by a call of its own.

    Args:
        provider: the provider.
        line: its batches.
        cell: name of the episode's cell.
        price: of the model, for the status; None where it is not known.
    """

    def __init__(self, provider: Provider, line: Line, cell: str, price: Price | None) -> None:
        self._provider = provider
        self._line = line
        self._cell = cell
        self._price = None if price is None else price.of_tier(BATCH)

    async def complete(self, request: Request) -> Reply:
        """Answer a request, however long its batch takes.

        Raises:
            quorum.agents.llm.errors.Refused: the provider refuses.
            quorum.agents.llm.errors.Transient: the request, or its batch, failed; it may be asked again.
        """
        if wants_embeddings(request):  # they are cheap, and batches hold requests of one kind
            return await self._provider.complete(request)
        begin = time.perf_counter()
        who = request.origin.agent if request.origin is not None else ""

        async def send(body: Mapping[str, Any]) -> Any:
            key = _key(who, request.sample, body)
            return self._response(await self._line.ask((self._cell, key), body))

        reply = await self._provider.answer(request, send, None)
        self._line.account(None if self._price is None else self._price.usd(reply.usage))
        return replace(reply, tier=BATCH, seconds=time.perf_counter() - begin)

    def _response(self, result: RowResult) -> Any:
        """Return the response as the SDK would, or raise what it would."""
        match result.fate:
            case Fate.ANSWERED:
                return self._line.response(result.body or {})
            case Fate.FAILED:
                raise self._provider.failure(result.status, result.body)
            case Fate.EXPIRED:
                raise TimedOut("the batch was over before this request was answered")
            case Fate.CANCELLED:
                raise ServerFailed("the batch was cancelled before this request was answered")


def _key(who: str, sample: int, body: Mapping[str, Any]) -> str:
    """Return what tells the requests of an episode apart: who asks, and what is sent."""
    content = orjson.dumps([who, sample, body], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content).hexdigest()[:32]
