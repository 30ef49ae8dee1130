"""What a sweep does about batches besides sending them: which cells can, what is left of them, and how they end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from maeil.user_errors import UserError
from quorum.agents.llm.batches.exchanges import cancel_batches
from quorum.agents.llm.batches.journal import BATCHES, BatchJournal, BatchRules, orphans
from quorum.agents.llm.prices import OFFER_BATCHES, service_at
from quorum.agents.llm.providers.base import Provider
from quorum.experiments.configuration.providers.chance import RandomConfig
from quorum.experiments.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.model_pool import ModelPool, as_user_errors, line_key
from quorum.experiments.episode.planned_cell import PlannedCell
from quorum.experiments.results.run_folder import is_there
from quorum.experiments.sweep.engines.locks import sweep_lock
from quorum.experiments.sweep.engines.protocol import Engine

_OFFERS = ", ".join(f"llm={name}" for name in OFFER_BATCHES)
_HINT = f"Batches are offered by {_OFFERS}: engine.batch=false sends each request by itself."


def batching_of(engine: Engine) -> BatchRules | None:
    """Return the bounds of an engine's batches; None where it sends each request by itself."""
    rules: BatchRules | None = getattr(engine, "batching", None)  # engines of others need not know of batches
    return rules


def check_batches(cells: Iterable[PlannedCell]) -> None:
    """Refuse to send by batches what cannot be sent so, before anything is asked.

    Raises:
        UserError: no cell asks a model, a cell's model has no batches, or a limit of the clock would end what waits for
            one. What a server that nobody knows can do, it says itself.
    """
    asking = {cell.kind: cell for cell in cells if cell.uses_models}
    if not asking:
        raise UserError("engine.batch=true: no cell asks a language model", _HINT)
    for cell in asking.values():
        configuration = cell.cell().configuration
        for config in models_of(configuration):
            if isinstance(config, RandomConfig):
                continue  # what is drawn at random next to a model costs nothing, and waits for nobody
            service = service_at(config.address) if config.name in OFFER_BATCHES else None
            name = service.name if service is not None else config.name
            if name not in OFFER_BATCHES:
                raise UserError(f"engine.batch=true: llm={name} has no batches", _HINT)
            if getattr(config, "service_tier", None) is not None:
                raise UserError(
                    f"engine.batch=true: a batch has its own price, so llm.service_tier={config.service_tier} "  # type: ignore[attr-defined]
                    "says nothing",
                    "Leave one of them out: llm.service_tier=null, or engine.batch=false.",
                )
        limits = configuration.limits
        for name, seconds in (("thought", limits.thought_seconds), ("episode", limits.episode_seconds)):
            if seconds is not None:
                raise UserError(
                    f"engine.batch=true: limits.{name}_seconds={seconds:g} would end what waits for a batch, for hours",
                    f"Leave one of them out: limits.{name}_seconds=null, or engine.batch=false.",
                )


def models_of(configuration: Configuration) -> Iterator[ModelConfig]:
    """Return the values of all models that an episode may ask."""
    llm = configuration.llm
    yield llm
    for participant in llm.participants:
        yield configuration.llm_of(participant)
    for role in llm.special_roles:
        yield configuration.llm_of("", role)


def notice_of_batches(folder: Path) -> str:
    """Say what of a sweep's batches is in no cell, to one who goes on without them; empty where there is nothing.

    Raises:
        UserError: the journal is damaged.
    """
    found = orphans(folder, is_there)
    parts = []
    if found.answers:
        parts.append(f"{found.answers:,} answers of batches are in no cell")
    if found.asked:
        parts.append(f"{found.asked:,} requests are in batches whose answers were not read")
    return f"{' and '.join(parts)}: engine.batch=true goes on with them" if parts else ""


def cancel(folder: Path, cells: Iterable[PlannedCell]) -> dict[str, Any]:
    """Have the provider end all open batches of a sweep; return how many, as JSON-ready data.

    Args:
        folder: of the sweep.
        cells: of its plan, whose models tell how the providers are reached.

    Raises:
        UserError: another command is at work in the folder, the journal is damaged, or a provider does not answer.
    """
    if not (folder / BATCHES).exists():
        return {"folder": str(folder), "cancelled_batches": 0, "requests": 0}
    with sweep_lock(folder), closing(BatchJournal(folder / BATCHES)) as journal:
        rows = sum(len(intent.rows) for intent in journal.open.values())
        number = asyncio.run(_cancel(journal, cells))
    return {"folder": str(folder), "cancelled_batches": number, "requests": rows}


async def _cancel(journal: BatchJournal, cells: Iterable[PlannedCell]) -> int:
    wanted = {intent.line for intent in journal.open.values()}
    number = 0
    async with ModelPool() as pool:
        for cell in {cell.kind: cell for cell in cells if cell.uses_models}.values():
            for config in models_of(cell.cell().configuration):
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
            "--cancel-batches: open batches of models that these words do not name are left",
            "Say the words with which the sweep was run.",
        )
    return number
