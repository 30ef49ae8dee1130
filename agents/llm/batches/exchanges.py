"""Exchanges with a provider about batches: the SDK's errors become ours, and an outage is waited out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from quorum.agents.llm.errors import LanguageModelError, TimedOut, Transient
from quorum.agents.llm.providers.base import Provider

_log = logging.getLogger(__name__)

EXCHANGE = 600.0
"""Seconds that one exchange may take: up to 256 MB go up or down."""
OUTAGE = 3600.0
"""Seconds in which no exchange succeeds, after which those who wait for a batch are told."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds between two tries: at first, and at most."""

Found = TypeVar("Found")


class Exchanges:
    """Asks a provider about its batches.

    Args:
        provider: knows what the errors of its SDK mean.
    """

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def insist(self, call: Callable[[], Awaitable[Found]], *, patient: bool = False) -> Found:
        """Ask about a batch until there is an answer: the batch goes on although the network is gone for a while.

        Args:
            call: asks once.
            patient: whether it may take as long as other batches do.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: the provider refuses, or the network is gone for too long.
        """
        begin, pause = time.monotonic(), FIRST_PAUSE
        while True:
            try:
                return await self.once(call, patient=patient)
            except Transient as failure:
                pause = max(pause, failure.retry_after or 0.0)
                if time.monotonic() + pause - begin > OUTAGE:
                    raise
                _log.info("a batch cannot be asked for and is tried again in %.0f s: %s", pause, failure)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def once(self, call: Callable[[], Awaitable[Found]], *, patient: bool = False) -> Found:
        """Ask once.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: it failed.
        """
        failure: LanguageModelError
        try:
            async with asyncio.timeout(None if patient else EXCHANGE) as scope:
                return await call()
        except TimeoutError:
            if not scope.expired():
                raise
            failure = TimedOut(f"an exchange about a batch took more than {EXCHANGE:g} s")
        except Exception as error:  # every failure of an SDK ends here; what is none goes on
            ours = self._provider.translate(error)
            if ours is None:
                raise
            failure = ours
        raise failure  # outside of the handler: what the SDK says may hold a key
