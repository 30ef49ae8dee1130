"""How much is asked at once and per minute, and how often a call is tried again."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import orjson

from maeil.contracts import check_awaitable, check_type
from quorum.agents.llm.errors import InfrastructureFailed, RateLimited, Transient, Unreachable
from quorum.agents.llm.paid import after, carried, paid_with
from quorum.agents.llm.pictures import picture_tokens
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum_base.stopwatches import Stopwatch, queued, timed_by

WINDOW = 60.0
MOST_ROUNDS = 8
"""Rounds of rate limits that are counted: after so many, waits are at their longest, and few answers end it."""
CHARACTERS_PER_TOKEN = 4


class AdaptiveConcurrency:
    """A number of places that adapts to rate limits, and a count of how badly the provider is limited.

    An answer gives a place back, a rate limit takes one. So the places shrink while more than half of the tries meet a
    limit, and are all there again within seconds after: each round of answers doubles them. Rate limits that come at
    random, up to nearly one in two, take none for good.

    Rounds of rate limits distinguish bad luck from a provider that answers nobody. A round begins with a rate limit of
    a call that began after the last round did, so the calls of one moment are one round; an answer takes one back.

    Args:
        most: places at most, and at the beginning.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.active = 0
        self.places = most
        """Number of calls that may be under way now."""
        self.rounds = 0
        """Rounds of rate limits without an answer between them."""
        self._started_rounds = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> int:
        """Take a place, first come first served; give a ticket for `rate_limited`."""
        if self.active < self.places and not self._waiting:
            self.active += 1
            return self._started_rounds
        place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self.leave()
            raise
        return self._started_rounds

    def answered(self) -> None:
        """Note that a call was answered."""
        self.places = min(self.most, self.places + 1)
        self.rounds = max(0, self.rounds - 1)

    def rate_limited(self, ticket: int) -> int:
        """Note that a call met a rate limit; give the number of rounds, at least 1.

        Args:
            ticket: from `enter`.
        """
        self.places = max(1, self.places - 1)
        if ticket == self._started_rounds:
            self._started_rounds += 1
            self.rounds = min(MOST_ROUNDS, self.rounds + 1)
        return max(1, self.rounds)

    def resize(self, most: int) -> None:
        """Have more places or fewer from now on, in proportion; calls under way go on."""
        self.places = max(1, self.places * most // self.most)
        self.most = most
        self._admit()

    def leave(self) -> None:
        """Give a place back."""
        self.active -= 1
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


class CallLimits:
    """The limits that all calls of a process share; for one event loop.

    Args:
        max_concurrency: calls under way at once, at most.
        requests_per_minute: requests in any window of a minute; None for any number.
        tokens_per_minute: tokens read and written in any window of a minute, as far as they can be predicted; None for
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
        self.requests = None if requests_per_minute is None else _PerMinute(requests_per_minute, clock, sleep)
        self.tokens = None if tokens_per_minute is None else _PerMinute(tokens_per_minute, clock, sleep)
        self.answers = 0
        """Calls that were answered so far."""
        self.rate_limited = 0
        """Calls that met a rate limit so far."""
        self.written = 0
        """Tokens that were written so far."""

    def resize(self, max_concurrency: int, requests_per_minute: int | None, tokens_per_minute: int | None) -> None:
        """Keep to other limits from now on: another number of processes shares them."""
        self.concurrency.resize(max_concurrency)
        for bound, most in ((self.requests, requests_per_minute), (self.tokens, tokens_per_minute)):
            if bound is not None and most is not None:
                bound.most = most

    def predict(self, request: Request) -> float:
        """Predict the tokens of a request and its answer."""
        return estimate_prompt(request) + (self.written / self.answers if self.answers else 0.0)


def estimate_prompt(request: Request) -> float:
    """Estimate how many tokens a prompt has, those of its pictures and of the thoughts that it carries among them."""
    characters = sum(len(message.content) for message in request.messages)
    characters += sum(len(orjson.dumps(item)) for message in request.messages for item in message.carried)
    return characters / CHARACTERS_PER_TOKEN + sum(picture_tokens(message.pictures) for message in request.messages)


def estimate_tokens(*texts: str) -> int:
    """Estimate how many tokens texts have together, in whole tokens."""
    return math.ceil(sum(map(len, texts)) / CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Limited:
    """A model whose calls keep to shared limits.

    Args:
        model: the model.
        limits: the limits, shared by everything that asks this provider.
    """

    model: Model
    limits: CallLimits

    async def complete(self, request: Request) -> Reply:
        """Answer a request when the limits allow it.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: as the model does; a rate limit has its `rounds`.
        """
        with queued() as begin:
            ticket = await self.limits.concurrency.enter()
            try:
                return await self._complete(request, ticket, begin)
            finally:
                self.limits.concurrency.leave()

    async def _complete(self, request: Request, ticket: int, begin: Callable[[], None]) -> Reply:
        """Answer a request that has a place."""
        limits, complete = self.limits, self.model.complete
        if limits.requests is not None:
            await limits.requests.enter(1)
        entry = None if limits.tokens is None else await limits.tokens.enter(limits.predict(request))
        begin()
        try:
            reply = await check_awaitable(complete(request), complete)
        except RateLimited as error:
            limits.rate_limited += 1
            error.rounds = limits.concurrency.rate_limited(ticket)
            raise
        check_type(reply, Reply, complete, "a quorum.agents.llm.protocol.Reply")
        limits.answers += 1
        limits.concurrency.answered()
        limits.written += reply.usage.completion
        if entry is not None:
            entry.amount = reply.usage.prompt + reply.usage.completion
        return reply


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryRules:
    """How often and how long a call is tried again.

    Attributes:
        max_tries: tries that may fail otherwise than by a rate limit; 1 is no second try.
        max_rate_limited: tries that may meet a rate limit.
        max_wait: seconds that a call may wait between its tries, all waits together.
        first_wait: seconds before the second try; every further wait is twice as long.
        longest_wait: seconds that a wait of our own choice may have at most.
    """

    max_tries: int
    max_rate_limited: int
    max_wait: float
    first_wait: float
    longest_wait: float


@dataclass(frozen=True, slots=True)
class Retrying:
    """A model that is asked again when a failure may pass.

    Waits grow exponentially, shortened by up to a half at random so that agents do not come back together. After a rate
    limit they grow no further than the rounds in which the provider answered nobody, where the failure has them: a
    call that has bad luck among others that are answered comes back soon. A provider's wish to wait longer
    (Retry-After) is granted in full, and one that goes beyond `max_wait` ends the call at once; a wish to come back
    sooner is not.

    Rate limits are counted apart from other failures. What is refused, or is no failure of the network, passes through.
    What was paid for tries that failed goes up with whatever ends the call.

    Args:
        model: the model.
        rules: the bounds.
        rng: randomness of the waits.
        sleep: how to wait.
        patient: whether a server to which there was no connection yet is waited for.
    """

    model: Model
    rules: RetryRules
    rng: random.Random
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    patient: bool = True

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            InfrastructureFailed: the bound on tries or on waiting is reached.
            Unreachable: there is no way to the server, which is not waited for.
        """
        paid: list[Reply | None] = []
        with carried(paid):
            return await self._insist(request, paid)

    async def _insist(self, request: Request, paid: list[Reply | None]) -> Reply:
        """Ask until there is an answer; what was paid for tries that failed is added to `paid`."""
        stopwatch = Stopwatch()
        failed = rate_limited = 0
        waited = 0.0
        while True:
            try:
                with timed_by(stopwatch):
                    reply = await self.model.complete(request)
            except Transient as error:
                if isinstance(error, Unreachable) and not self.patient:
                    raise
                failure = error
            else:
                attempts = reply.attempts + failed + rate_limited
                return replace(after(paid, reply), attempts=attempts, seconds=stopwatch.seconds)
            paid.append(paid_with(failure))
            if isinstance(failure, RateLimited):
                rate_limited += 1
            else:
                failed += 1
            wait = self._wait(failure, _doublings(failure, failed, rate_limited))
            spent = failed >= self.rules.max_tries or rate_limited >= self.rules.max_rate_limited
            if spent or waited + wait > self.rules.max_wait:
                bound = f"{failed + rate_limited} tries" if spent else f"waiting {self.rules.max_wait:g} s at most"
                asked = "" if failure.retry_after is None else f"; it asks to wait {failure.retry_after:g} s"
                raise InfrastructureFailed(
                    f"no answer within {bound}: {type(failure).__name__}: {failure}{asked}", failed + rate_limited
                ) from failure
            waited += wait
            _log.info("a call failed and is tried again in %.1f s: %s: %s", wait, type(failure).__name__, failure)
            await self.sleep(wait)

    def _wait(self, failure: Transient, doublings: int) -> float:
        longest: float = min(self.rules.first_wait * 2**doublings, self.rules.longest_wait)
        return max(longest * self.rng.uniform(0.5, 1.0), failure.retry_after or 0.0)


def _doublings(failure: Transient, failed: int, rate_limited: int) -> int:
    """Return how often the wait after a failure has doubled, given how many there were of each kind."""
    if not isinstance(failure, RateLimited):
        return failed - 1
    return min(rate_limited, failure.rounds or rate_limited) - 1
