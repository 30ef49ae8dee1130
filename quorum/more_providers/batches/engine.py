"""The engine `batch`: one worker plays all episodes and sends their requests in batches."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from maeil.component import Component
from quorum.agents.llm.prices import OFFER_BATCHES, service_at
from quorum.agents.llm.providers.base import Provider
from quorum.configuration.providers.chance import FloorConfig
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.schema import Configuration
from quorum.episode.model_pool import ModelPool, as_user_errors, line_key
from quorum.episode.planned_cell import PlannedCell
from quorum.episode.substitute import models_in
from quorum.more_providers.batches.exchanges import cancel_batches
from quorum.more_providers.batches.journal import BATCHES, BatchJournal, orphans
from quorum.more_providers.batches.waves import BatchConfig, Waves
from quorum.sweeps.engines.local import Local
from quorum.sweeps.engines.locks import sweep_lock
from quorum.sweeps.engines.protocol import Courier
from quorum_base.inside import open_inside
from quorum_base.user_errors import UserError

_OFFERS = ", ".join(f"llm={name}" for name in OFFER_BATCHES)
_HINT = f"Use one of these models: {_OFFERS}; or engine=local, which sends each request by itself."


@dataclass(frozen=True, slots=True)
class BatchCourier(Courier):
    """Delivers requests in batches.

    Attributes:
        rules: the limits of the batches.
    """

    rules: BatchConfig

    def check(self, folder: Path, cells: Iterable[PlannedCell]) -> None:
        """Reject what cannot be sent in batches, before anything is sent.

        Raises:
            UserError: no cell uses a model, a cell's model has no batches, a time limit would end requests that wait
                for a batch, or the journal cannot be written. Unknown servers report their own limits later.
        """
        with suppress(FileNotFoundError, NotADirectoryError):
            os.close(open_inside(folder, BATCHES, os.O_RDWR))
        asking = {cell.kind: cell for cell in cells if cell.uses_models}
        if not asking:
            raise UserError("engine=batch: no cell uses a language model", _HINT)
        for cell in asking.values():
            _check(cell.cell().configuration)

    def open(self, folder: Path) -> Waves:
        """Return the object that sends a worker's requests.

        Raises:
            UserError: the journal of the sweep's batches is damaged.
        """
        return Waves(BatchJournal(folder / BATCHES, wanted=lambda cell: not (folder / cell).is_dir()), self.rules)

    def cancel(self, folder: Path, cells: Iterable[PlannedCell]) -> dict[str, Any]:
        """Cancel all open batches of a sweep at the provider.

        Raises:
            UserError: another command runs the sweep, the journal is damaged, or a provider does not answer.
        """
        if not (folder / BATCHES).exists():
            return {"folder": str(folder), "cancelled_batches": 0, "requests": 0}
        with sweep_lock(folder), closing(BatchJournal(folder / BATCHES)) as journal:
            rows = sum(len(intent.rows) for intent in journal.open.values())
            number = asyncio.run(_cancel(journal, cells))
        return {"folder": str(folder), "cancelled_batches": number, "requests": rows}


def _check(configuration: Configuration) -> None:
    for config in models_in(configuration):
        if isinstance(config, FloorConfig):
            continue  # these answers need no batch: they cost nothing and never wait
        service = service_at(config.address) if config.name in OFFER_BATCHES else None
        name = service.name if service is not None else config.name
        if name not in OFFER_BATCHES:
            raise UserError(f"engine=batch: llm={name} has no batches", _HINT)
        if (tier := getattr(config, "service_tier", None)) is not None:
            raise UserError(
                f"engine=batch: a batch has its own price, so llm.service_tier={tier} has no effect",
                "Leave one of them out: llm.service_tier=null, or engine=local.",
            )
    limits = configuration.limits
    for name, seconds in (("thought", limits.thought_seconds), ("episode", limits.episode_seconds)):
        if seconds is not None:
            raise UserError(
                f"engine=batch: limits.{name}_seconds={seconds:g} would end each {name} that waits hours for a batch",
                f"Leave one of them out: limits.{name}_seconds=null, or engine=local.",
            )


def remark(folder: Path) -> str:
    """Describe unused answers and open batches of a sweep; empty if there are none.

    Raises:
        UserError: the journal is damaged.
    """
    found = orphans(folder)
    parts = []
    if found.answers:
        parts.append(f"{found.answers:,} answers of batches are not in a cell yet")
    if found.asked:
        parts.append(f"{found.asked:,} requests are in batches whose answers were not read")
    return f"{' and '.join(parts)}: engine=batch continues with them" if parts else ""


async def _cancel(journal: BatchJournal, cells: Iterable[PlannedCell]) -> int:
    wanted = {intent.line for intent in journal.open.values()}
    number = 0
    async with ModelPool() as pool:
        for cell in {cell.kind: cell for cell in cells if cell.uses_models}.values():
            for config in models_in(cell.cell().configuration):
                if not wanted or not isinstance(config, ProviderConfig) or config.name not in OFFER_BATCHES:
                    continue
                client = pool.client(config)
                key = line_key(client.identity)
                if key in wanted and isinstance(client.model, Provider):
                    wanted.discard(key)
                    with as_user_errors(config):
                        number += await cancel_batches(journal, key, client.model)
    if wanted:
        raise UserError(
            "--cancel-batches: batches of models that these arguments do not name are still open",
            "Give the arguments of the sweep.",
        )
    return number


def _build(config: BatchConfig, _context: None = None) -> Local:
    return Local(1, None, BatchCourier(config))


component = Component(BatchConfig, _build)
