"""How much is asked at once, and per minute: one object for all agents and episodes of a process."""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from quorum.agents.llm.errors import RateLimited
from quorum.agents.llm.protocol import Model, Reply, Request

WINDOW = 60.0
CHARACTERS_PER_TOKEN = 4


class AdaptiveConcurrency:
    """A number of places that adapts: one more after each full round of successes, half as many after a rate limit.

    Rate limits of calls that began before the last halving do not halve again: they tell the same news.

    Args:
        most: places at most, and at the beginning.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.active = 0
        self._places = float(most)
        self._halvings = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def places(self) -> int:
        """Number of calls that may be under way now."""
        return int(self._places)

    async def enter(self) -> int:
        """Take a place, first come first served; give a ticket for `leave`."""
        if self.active < self.places and not self._waiting:
            self.active += 1
            return self._halvings
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.active -= 1
                self._admit()
            raise
        return self._halvings

    def leave(self, ticket: int, rate_limited: bool | None) -> None:
        """Give a place back.

        Args:
            ticket: from `enter`.
            rate_limited: whether the call met a rate limit; None where it tells nothing.
        """
        self.active -= 1
        if rate_limited and ticket == self._halvings:
            self._places = max(1.0, self._places / 2)
            self._halvings += 1
        elif rate_limited is False:
            self._places = min(float(self.most), self._places + 1 / self._places)
        self._admit()

    def resize(self, most: int) -> None:
        """Have more places or fewer from now on, in proportion; calls under way go on."""
        self._places = max(1.0, self._places * most / self.most)
        self.most = most
        self._admit()

    def _admit(self) -> None:
        while self._waiting and self.active < self.places:
            place = self._waiting.popleft()
            if not place.done():
                self.active += 1
                place.set_result(None)


@dataclass(slots=True)
class _Entry:
    begin: float
    amount: float


class _PerMinute:
    """A bound on an amount in every window of a minute. An amount beyond the bound passes alone."""

    def __init__(self, most: float, clock: Callable[[], float], sleep: Callable[[float], Awaitable[object]]) -> None:
        self.most = most
        self._clock = clock
        self._sleep = sleep
        self._entries: deque[_Entry] = deque()
        self._turn = asyncio.Lock()

    async def enter(self, amount: float) -> _Entry:
        async with self._turn:
            while (wait := self._wait(amount)) > 0:
                await self._sleep(wait)
            entry = _Entry(self._clock(), amount)
            self._entries.append(entry)
            return entry

    def _wait(self, amount: float) -> float:
        now = self._clock()
        while self._entries and self._entries[0].begin + WINDOW <= now:
            self._entries.popleft()
        if not self._entries or sum(entry.amount for entry in self._entries) + amount <= self.most:
            return 0.0
        return self._entries[0].begin + WINDOW - now


class Limits:
    """The limits that all calls of a process share; for one event loop.

    Args:
        max_concurrency: calls under way at once, at most.
        requests_per_minute: requests in any window of a minute; None for any number.
        tokens_per_minute: tokens read and written in any window of a minute, as far as they can be foretold; None for
            any number.
        clock: monotonic seconds.
        sleep: how to wait.
    """

    def __init__(
        self,
        max_concurrency: int,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self.concurrency = AdaptiveConcurrency(max_concurrency)
        self._requests = None if requests_per_minute is None else _PerMinute(requests_per_minute, clock, sleep)
        self._tokens = None if tokens_per_minute is None else _PerMinute(tokens_per_minute, clock, sleep)
        self.answers = 0
        """Calls that were answered so far."""
        self.rate_limited = 0
        """Calls that met a rate limit so far."""
        self._written = 0

    def resize(self, max_concurrency: int, requests_per_minute: int | None, tokens_per_minute: int | None) -> None:
        """Keep to other limits from now on: another number of processes shares them."""
        self.concurrency.resize(max_concurrency)
        for bound, most in ((self._requests, requests_per_minute), (self._tokens, tokens_per_minute)):
            if bound is not None and most is not None:
                bound.most = most

    async def run(self, model: Model, request: Request) -> Reply:
        """Ask a model when the limits allow it."""
        ticket = await self.concurrency.enter()
        rate_limited: bool | None = None
        try:
            if self._requests is not None:
                await self._requests.enter(1)
            entry = None if self._tokens is None else await self._tokens.enter(self._foretell(request))
            try:
                reply = await model.complete(request)
            except RateLimited:
                rate_limited = True
                self.rate_limited += 1
                raise
            rate_limited = False
            self.answers += 1
            self._written += reply.usage.completion
            if entry is not None:
                entry.amount = reply.usage.prompt + reply.usage.completion
            return reply
        finally:
            self.concurrency.leave(ticket, rate_limited)

    def _foretell(self, request: Request) -> float:
        written = self._written / self.answers if self.answers else 0.0
        return estimate_prompt(request) + written


def estimate_prompt(request: Request) -> float:
    """Estimate how many tokens a prompt has."""
    return sum(len(message.content) for message in request.messages) / CHARACTERS_PER_TOKEN


def estimate_tokens(*texts: str) -> int:
    """Estimate how many tokens texts have together, in whole tokens."""
    return math.ceil(sum(map(len, texts)) / CHARACTERS_PER_TOKEN)


class Limited:
    """A model whose calls keep to shared limits.

    Args:
        model: the model.
        limits: the limits, shared by everything that asks this provider.
    """

    def __init__(self, model: Model, limits: Limits) -> None:
        self._model = model
        self._limits = limits

    async def complete(self, request: Request) -> Reply:
        """Answer a request when the limits allow it."""
        return await self._limits.run(self._model, request)
