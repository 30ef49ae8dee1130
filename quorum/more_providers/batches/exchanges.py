"""Calls to a provider about its batches: translates SDK errors into ours and waits out outages."""

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
"""Timeout of one call in seconds; it may transfer up to 256 MB."""
OUTAGE = 3600.0
"""Length of an outage, in seconds, after which requests waiting for a batch get the error."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Initial and maximum pause between two attempts, in seconds."""

Found = TypeVar("Found")


class Outage:
    """Pauses between the attempts of one call, longer each time, up to the maximum length of an outage."""

    def __init__(self) -> None:
        self._begin, self._pause = time.monotonic(), FIRST_PAUSE

    async def wait(self, failure: Transient) -> None:
        """Wait before the next attempt.

        Raises:
            quorum.agents.llm.errors.Transient: the failure, if the outage has lasted too long.
        """
        pause = max(self._pause, failure.retry_after or 0.0)
        if time.monotonic() + pause - self._begin > OUTAGE:
            raise failure
        _log.info("a call about a batch failed and is tried again in %.0f s: %s", pause, failure)
        await asyncio.sleep(pause)
        self._pause = min(2 * pause, LONGEST_PAUSE)


class Exchanges:
    """Makes calls about a provider's batches.

    Args:
        provider: translates the errors of its SDK.
    """

    def __init__(self, provider: Provider) -> None:
        self._provider = provider

    async def retry(self, call: Callable[[], Awaitable[Found]], *, patient: bool = False) -> Found:
        """Retry a call until it succeeds: the batch continues while the network is down.

        Args:
            call: makes one attempt.
            patient: whether an attempt may take as long as other batches do.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: the provider refuses, or the outage lasts too long.
        """
        outage = Outage()
        while True:
            try:
                return await self.once(call, patient=patient)
            except Transient as failure:
                await outage.wait(failure)

    async def once(self, call: Callable[[], Awaitable[Found]], *, patient: bool = False) -> Found:
        """Make one attempt.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: the attempt failed.
        """
        failure: LanguageModelError
        try:
            async with asyncio.timeout(None if patient else EXCHANGE) as scope:
                return await call()
        except TimeoutError:
            if not scope.expired():
                raise
            failure = TimedOut(f"a call about a batch took more than {EXCHANGE:g} s")
        except Exception as error:  # SDK failures are translated here; other exceptions propagate
            ours = self._provider.translate(error)
            if ours is None:
                raise
            failure = ours
        raise failure  # raised outside the handler, because the chained SDK message may contain a key


LOOKING = 60.0
"""Maximum time in seconds to search for a batch with an unrecorded id."""


async def cancel_batches(journal: BatchJournal, line: str, provider: Provider) -> int:
    """Cancel all open batches of a model at the provider; return how many.

    They stay in the journal, and answers completed by then are read when the sweep continues.

    Args:
        journal: the sweep's journal.
        line: key of the model.
        provider: the model's provider.

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
                    raise TimedOut("cannot find a batch whose id was not recorded: others are open") from None
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
