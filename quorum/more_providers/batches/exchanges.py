"""Exchanges with a provider about its batches: errors of the SDK become ours, and outages are waited out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from quorum.agents.llm.errors import LanguageModelError, TimedOut, Transient
from quorum.agents.llm.providers.base import Provider
from quorum.more_providers.batches.journal import BatchJournal
from quorum.more_providers.batches.offered import batches_of

_log = logging.getLogger(__name__)

EXCHANGE = 600.0
"""Seconds that one exchange may take: up to 256 MB go up or down."""
OUTAGE = 3600.0
"""Seconds in which no exchange succeeds, after which those who wait for a batch get the error."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds between two tries: at first, and at most."""

Found = TypeVar("Found")


class Outage:
    """Waits between the tries of one exchange, longer each time, as long as an outage may last."""

    def __init__(self) -> None:
        self._begin, self._pause = time.monotonic(), FIRST_PAUSE

    async def wait(self, failure: Transient) -> None:
        """Wait before the next try.

        Raises:
            quorum.agents.llm.errors.Transient: the failure, where it has lasted for too long.
        """
        pause = max(self._pause, failure.retry_after or 0.0)
        if time.monotonic() + pause - self._begin > OUTAGE:
            raise failure
        _log.info("an exchange about a batch failed and is tried again in %.0f s: %s", pause, failure)
        await asyncio.sleep(pause)
        self._pause = min(2 * pause, LONGEST_PAUSE)


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
        outage = Outage()
        while True:
            try:
                return await self.once(call, patient=patient)
            except Transient as failure:
                await outage.wait(failure)

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
        raise failure  # outside of the handler: the SDK's message may hold a key


LOOKING = 60.0
"""Seconds in which a batch is looked for whose id was not written down."""


async def cancel_batches(journal: BatchJournal, line: str, provider: Provider) -> int:
    """Have the provider end all open batches of a model; return their number.

    They stay in the journal: what they have answered by then is read when the sweep goes on.

    Args:
        journal: of the sweep.
        line: key of the model.
        provider: of the model.

    Raises:
        quorum.agents.llm.errors.LanguageModelError: the provider does not answer, or refuses.
    """
    service, exchanges = batches_of(provider), Exchanges(provider)
    ended = 0
    try:
        for intent in [intent for intent in journal.open.values() if intent.line == line]:
            batch = intent.batch
            if batch is None:
                try:
                    async with asyncio.timeout(LOOKING):
                        batch = await exchanges.once(
                            lambda: service.find(intent.mark, len(intent.rows), intent.time, 1.0)  # noqa: B023 (awaited here)
                        )
                except TimeoutError:
                    raise TimedOut("a batch whose id was not written down is among others that are open") from None
                if batch is None:
                    journal.dropped(intent)
                    continue
                journal.created(intent, batch)
            if await exchanges.once(lambda: service.ended(batch)) is False:  # noqa: B023 (awaited here)
                await exchanges.once(lambda: service.cancel(batch))  # noqa: B023 (awaited here)
                ended += 1
    finally:
        await service.close()
    return ended
