"""The simulated model in place of paid ones, at their prices: what it spends is an estimate of what they would."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from quorum.experiments.configuration.edits import edited
from quorum.experiments.configuration.providers.config import ModelConfig
from quorum.experiments.configuration.schema import Configuration, validate


def standing_in(
    configuration: Configuration, names: Sequence[str] = (), config_dir: Path | None = None
) -> Configuration:
    """Return a configuration in which the simulated model answers at the prices of its models.

    Args:
        configuration: of an episode that would be paid for.
        names: participants whose models may have prices of their own.
        config_dir: folder with more options of the groups.
    """
    plain = edited(configuration.plain(), ["llm=simulated"], config_dir)
    plain["llm"] |= {**_prices(configuration.llm), "agents": {n: _prices(configuration.llm_of(n)) for n in names}}
    return validate(plain, recorded=True)


def _prices(model: ModelConfig) -> dict[str, Any]:
    price = model.price
    return {} if price is None else {"usd_per_million_prompt": price.input, "usd_per_million_completion": price.output}
