"""Asking again after a failure that may pass, within bounds on tries and on waiting."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from quorum.agents.llm.errors import InfrastructureFailed, RateLimited, Transient
from quorum.agents.llm.protocol import Model, Reply, Request

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


class Retrying:
    """A model that is asked again when a failure may pass.

    Waits grow exponentially, shortened by up to a half at random so that agents do not come back together. After a rate
    limit they grow no further than the rounds in which the provider answered nobody, where the failure tells them: a
    call that has bad luck among others that are answered comes back soon. A provider's wish to wait longer
    (Retry-After) is granted in full, and one that goes beyond `max_wait` ends the call at once; a wish to come back
    sooner is not.

    Rate limits are counted apart from other failures. What is refused, or is no failure of the network, passes through.

    Args:
        model: the model.
        rules: the bounds.
        rng: randomness of the waits.
        sleep: how to wait.
    """

    def __init__(
        self,
        model: Model,
        rules: RetryRules,
        rng: random.Random,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._model = model
        self._rules = rules
        self._rng = rng
        self._sleep = sleep

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            InfrastructureFailed: the bound on tries or on waiting is reached.
        """
        begin = time.perf_counter()
        failed = rate_limited = 0
        waited = 0.0
        while True:
            try:
                reply = await self._model.complete(request)
            except Transient as error:
                failure = error
            else:
                attempts = reply.attempts + failed + rate_limited
                return replace(reply, attempts=attempts, seconds=time.perf_counter() - begin)
            if isinstance(failure, RateLimited):
                rate_limited += 1
            else:
                failed += 1
            wait = self._wait(failure, _doublings(failure, failed, rate_limited))
            spent = failed >= self._rules.max_tries or rate_limited >= self._rules.max_rate_limited
            if spent or waited + wait > self._rules.max_wait:
                bound = f"{failed + rate_limited} tries" if spent else f"waiting {self._rules.max_wait:g} s at most"
                asked = "" if failure.retry_after is None else f"; it asks to wait {failure.retry_after:g} s"
                raise InfrastructureFailed(
                    f"no answer within {bound}: {type(failure).__name__}: {failure}{asked}", failed + rate_limited
                ) from None
            waited += wait
            _log.info("a call failed and is tried again in %.1f s: %s: %s", wait, type(failure).__name__, failure)
            await self._sleep(wait)

    def _wait(self, failure: Transient, doublings: int) -> float:
        longest: float = min(self._rules.first_wait * 2**doublings, self._rules.longest_wait)
        return max(longest * self._rng.uniform(0.5, 1.0), failure.retry_after or 0.0)


def _doublings(failure: Transient, failed: int, rate_limited: int) -> int:
    """Return how often the wait after a failure has doubled, given how many there were of each kind."""
    if not isinstance(failure, RateLimited):
        return failed - 1
    return min(rate_limited, failure.rounds or rate_limited) - 1
