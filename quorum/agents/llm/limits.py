"""Limits on concurrent calls and calls per minute, and retries."""

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

from quorum.agents.llm.errors import InfrastructureFailed, RateLimited, Transient, Unreachable
from quorum.agents.llm.paid import carried, paid_with, together
from quorum.agents.llm.pictures import picture_tokens
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum_base.stopwatches import Stopwatch, queued, timed_by

WINDOW = 60.0
MOST_ROUNDS = 8
"""Maximum count of rate-limit rounds. Waits are then at their longest, and a few answers are enough to end it."""
CHARACTERS_PER_TOKEN = 4


class AdaptiveConcurrency:
    """A number of slots that adapts to rate limits, and a measure of how limited the provider is.

    An answer restores a slot, a rate limit removes one. So the slots shrink while more than half of the tries meet a
    limit, and recover within seconds afterwards, because each round of answers doubles them. Random rate limits, up to
    nearly one in two, remove no slots permanently.

    Rounds of rate limits distinguish bad luck from a provider that answers no call. A round starts with the rate limit
    of a call that began after the last round did, so simultaneous calls count as one round; an answer removes one.

    Args:
        most: initial and maximum number of slots.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.active = 0
        self.places = most
        """Number of calls that may currently be under way."""
        self.rounds = 0
        """Consecutive rounds of rate limits, minus answers since."""
        self._started_rounds = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def enter(self) -> int:
        """Take a slot, first come, first served; return a ticket for `rate_limited`."""
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
        """Record an answered call."""
        self.places = min(self.most, self.places + 1)
        self.rounds = max(0, self.rounds - 1)

    def rate_limited(self, ticket: int) -> int:
        """Record a rate limit; return the number of rounds, at least 1.

        Args:
            ticket: from `enter`.
        """
        self.places = max(1, self.places - 1)
        if ticket == self._started_rounds:
            self._started_rounds += 1
            self.rounds = min(MOST_ROUNDS, self.rounds + 1)
        return max(1, self.rounds)

    def resize(self, most: int) -> None:
        """Change the number of slots, scaling the current ones; calls under way continue."""
        self.places = max(1, self.places * most // self.most)
        self.most = most
        self._admit()

    def leave(self) -> None:
        """Release a slot."""
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
    """A bound on an amount in every one-minute window. An amount above the bound passes alone."""

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
    """The limits shared by all calls of a process; for one event loop.

    Args:
        max_concurrency: maximum number of concurrent calls.
        requests_per_minute: maximum requests in any one-minute window; None for no limit.
        tokens_per_minute: maximum tokens read and written in any one-minute window, as predicted; None for no limit.
        clock: monotonic seconds.
        sleep: waits for some seconds.
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
        """Number of answered calls so far."""
        self.rate_limited = 0
        """Number of calls that met a rate limit so far."""
        self.written = 0
        """Number of tokens written so far."""

    def resize(self, max_concurrency: int, requests_per_minute: int | None, tokens_per_minute: int | None) -> None:
        """Change the limits, when another number of processes shares them."""
        self.concurrency.resize(max_concurrency)
        for bound, most in ((self.requests, requests_per_minute), (self.tokens, tokens_per_minute)):
            if bound is not None and most is not None:
                bound.most = most

    def predict(self, request: Request) -> float:
        """Predict the tokens of a request and its answer."""
        return estimate_prompt(request) + (self.written / self.answers if self.answers else 0.0)


def estimate_prompt(request: Request) -> float:
    """Estimate the tokens of a prompt, including its pictures and the thoughts it carries."""
    characters = sum(len(message.content) for message in request.messages)
    characters += sum(len(orjson.dumps(item)) for message in request.messages for item in message.carried)
    return characters / CHARACTERS_PER_TOKEN + sum(picture_tokens(message.pictures) for message in request.messages)


def estimate_tokens(*texts: str) -> int:
    """Estimate the total tokens of some texts, rounded to whole tokens."""
    return math.ceil(sum(map(len, texts)) / CHARACTERS_PER_TOKEN)


@dataclass(frozen=True, slots=True)
class Limited:
    """A model whose calls respect shared limits.

    Args:
        model: the model.
        limits: limits shared by all users of this provider.
    """

    model: Model
    limits: CallLimits

    async def complete(self, request: Request) -> Reply:
        """Answer a request once the limits allow it.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: raised by the model; a rate limit carries its `rounds`.
        """
        limits = self.limits
        with queued() as begin:
            ticket = await limits.concurrency.enter()
            try:
                if limits.requests is not None:
                    await limits.requests.enter(1)
                entry = None if limits.tokens is None else await limits.tokens.enter(limits.predict(request))
                begin()
                reply = await self.model.complete(request)
                limits.answers += 1
                limits.concurrency.answered()
                limits.written += reply.usage.completion
                if entry is not None:
                    entry.amount = reply.usage.prompt + reply.usage.completion
                return reply
            except RateLimited as error:
                limits.rate_limited += 1
                error.rounds = limits.concurrency.rate_limited(ticket)
                raise
            finally:
                limits.concurrency.leave()


_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RetryRules:
    """How often and how long to retry a call.

    Attributes:
        max_tries: maximum tries that fail for reasons other than a rate limit; 1 means no retry.
        max_rate_limited: maximum tries that meet a rate limit.
        max_wait: maximum total wait between tries of a call, in seconds.
        first_wait: seconds before the second try; every further wait is twice as long.
        longest_wait: maximum length of a wait that we choose ourselves, in seconds.
    """

    max_tries: int
    max_rate_limited: int
    max_wait: float
    first_wait: float
    longest_wait: float


@dataclass(frozen=True, slots=True)
class Retrying:
    """A model that retries calls after transient failures.

    Waits grow exponentially and are shortened by up to half at random so that agents do not return together. After a
    rate limit they grow only with the rounds in which the provider answered no call, if the failure reports them: a
    call with bad luck among answered ones retries soon. A request to wait longer (Retry-After) is granted in full and
    ends the call at once if it exceeds `max_wait`; a request to return sooner is ignored.

    Rate limits are counted separately from other failures. Refusals and non-network errors pass through. The exception
    that ends a call carries the cost of its failed tries.

    Args:
        model: the model.
        rules: bounds on tries and waiting.
        rng: randomness of the waits.
        sleep: waits for some seconds.
        patient: whether to wait for a server that has not accepted any connection yet.
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
            Unreachable: the server is unreachable and not waited for.
        """
        stopwatch = Stopwatch()
        failed = rate_limited = 0
        waited = 0.0
        paid: list[Reply | None] = []
        with carried(paid):
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
                    return replace(together([*paid, reply]), attempts=attempts, seconds=stopwatch.seconds)
                paid.append(paid_with(failure))
                if isinstance(failure, RateLimited):
                    rate_limited += 1
                else:
                    failed += 1
                wait = self._wait(failure, _doublings(failure, failed, rate_limited))
                spent = failed >= self.rules.max_tries or rate_limited >= self.rules.max_rate_limited
                if spent or waited + wait > self.rules.max_wait:
                    bound = f"{failed + rate_limited} tries" if spent else f"{self.rules.max_wait:g} s of waiting"
                    raise InfrastructureFailed(
                        f"no answer within {bound}: {_described(failure)}", failed + rate_limited
                    ) from failure
                waited += wait
                _log.info("a call failed; the next try is in %.1f s: %s: %s", wait, type(failure).__name__, failure)
                await self.sleep(wait)

    def _wait(self, failure: Transient, doublings: int) -> float:
        longest: float = min(self.rules.first_wait * 2**doublings, self.rules.longest_wait)
        return max(longest * self.rng.uniform(0.5, 1.0), failure.retry_after or 0.0)


def _described(failure: Transient) -> str:
    asked = "" if failure.retry_after is None else f"; the service asks to wait {failure.retry_after:g} s"
    return f"{type(failure).__name__}: {failure}{asked}"


def _doublings(failure: Transient, failed: int, rate_limited: int) -> int:
    """Return how often the wait after a failure has doubled, given the number of failures of each kind."""
    if not isinstance(failure, RateLimited):
        return failed - 1
    return min(rate_limited, failure.rounds or rate_limited) - 1
