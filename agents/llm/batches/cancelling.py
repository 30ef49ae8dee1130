"""Ends the open batches of a model."""

from __future__ import annotations

import asyncio

from quorum.agents.llm.batches.exchanges import Exchanges
from quorum.agents.llm.batches.journal import BatchJournal
from quorum.agents.llm.errors import TimedOut
from quorum.agents.llm.providers.base import Provider

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
    service, exchanges = provider.batches(), Exchanges(provider)
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
