"""What an episode is expected to take: it is played once without a network, before it is paid for.

A simulated model stands in for a real one: the real one's price is put on its tokens, and each of its answers is taken
to last `SECONDS_PER_CALL`.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from quorum.agents.llm.prices import BATCH, OFFER_BATCHES, read_tier
from quorum.agents.llm.protocol import Usage
from quorum.agents.llm.records import WALL
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.compose import compose
from quorum.experiments.configuration.registry import providers
from quorum.experiments.episode.branching import Branching
from quorum.experiments.episode.call_books import CALLS, RECORDED
from quorum.experiments.episode.runner import Result, run_cell

SIMULATED = "simulated"
"""Name of the provider that stands in."""
SECONDS_PER_CALL = 3.0
"""Assumed of an answer of a real model, and that those of an episode come one after the other."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What a cell is expected to take.

    Attributes:
        answers: of language models.
        tokens: read and written.
        usd: money in US dollars, as far as prices are known.
        seconds: wall time.
        priceless: whether the price of an answer is not known.
        cut: whether the trial was ended before the episode was over, so that all of it is more.
        by_tier: the money in each tier of service whose price is known, batches among them; the usual one has the
            empty name. Known of trials alone: what is finished had the price of the tier that answered.
    """

    answers: float
    tokens: float
    usd: float
    seconds: float
    priceless: bool = False
    cut: bool = False
    by_tier: Mapping[str, float] = field(default_factory=dict)


def stands_in(raw: Mapping[str, Any], *, uses_models: bool) -> bool:
    """Whether a simulated model stands in for that of a resolved configuration."""
    return uses_models and raw["llm"]["name"] != SIMULATED


def tried(
    raw: Mapping[str, Any],
    *,
    uses_models: bool,
    seconds: float | None = None,
    branching: Branching | None = None,
) -> Expected:
    """Play an episode of a resolved configuration, without a network and without a trace of it.

    Args:
        raw: the configuration.
        uses_models: whether its minds think with language models.
        seconds: longest time that the trial may take; None: as long as the episode lasts.
        branching: the beginning that it has of another run, whose recorded answers cost nothing; it is used up. None:
            it begins by itself.

    Raises:
        Exception: whatever keeps the episode from being played.
    """
    real = raw["llm"]
    stand_in = stands_in(raw, uses_models=uses_models)
    given = {**raw, "budget": dict.fromkeys(raw["budget"])}
    if stand_in:
        given["llm"] = compose([f"llm={SIMULATED}"])["llm"]
    if seconds is not None:
        given["limits"] = {
            **raw["limits"],
            "episode_seconds": min(seconds, raw["limits"]["episode_seconds"] or seconds),
        }
    cell = Cell.of(given)
    if branching is not None:
        branching = replace(branching, after=cell.configuration)
    result, paid = _played(cell, branching, twice=not stand_in and branching is None)
    answers, read, written, usd_known = (
        float(result.metrics[f"model.{name}"] or 0) - paid[name]
        for name in ("answers", "prompt_tokens", "completion_tokens", "usd")
    )
    usd: float | None = max(usd_known, 0.0)
    by_tier: Mapping[str, float] = {}
    lasted = result.seconds
    if stand_in:
        by_tier = _by_tier(real, Usage(prompt=int(read), completion=int(written)))
        usd = by_tier.get(read_tier(real.get("service_tier")))
        lasted += answers * SECONDS_PER_CALL
    cut = result.outcome == "limit"
    return Expected(answers, read + written, usd or 0.0, lasted, priceless=usd is None, cut=cut, by_tier=by_tier)


def _by_tier(values: Mapping[str, Any], usage: Usage) -> Mapping[str, float]:
    """Return what tokens of a model cost in each tier whose price is known.

    Args:
        values: of the model.
        usage: the tokens.
    """
    config = providers.get(values["name"]).config.model_validate(values)
    price = config.price
    if price is None:
        return {}
    known = {"", read_tier(values.get("service_tier")), *price.tiers}
    own_address = urlsplit(config.address or "").hostname == getattr(config, "official", None)
    if values["name"] in OFFER_BATCHES and own_address:
        known.add(BATCH)
    else:  # servers of others speak the format, and mostly have no batches
        known.discard(BATCH)
    prices = {tier: price.of_tier(tier) for tier in sorted(known)}
    return {tier: found.usd(usage) for tier, found in prices.items() if found is not None}


def _played(cell: Cell, branching: Branching | None, *, twice: bool) -> tuple[Result, Mapping[str, float]]:
    """Play a cell; twice where its seconds are to be told: the first episode of a process compiles the world.

    Returns:
        What it came to, and what of its metrics another run has paid for.
    """
    with tempfile.TemporaryDirectory() as folder:
        if twice:
            run_cell(cell, Path(folder))
        result = run_cell(cell, Path(folder), branching=branching)
        return result, _paid(result.folder)


def _paid(folder: Path) -> Mapping[str, float]:
    """Return answers, tokens and money of the recorded answers of an episode."""
    found: defaultdict[str, float] = defaultdict(float)
    file = folder / CALLS
    for line in file.read_bytes().splitlines() if file.exists() else ():
        reply = orjson.loads(line).get("reply")
        if reply is not None and reply[WALL].get(RECORDED):
            usage = reply["usage"]
            found["answers"] += reply["repairs"] + 1
            found["prompt_tokens"] += usage["prompt"]
            found["completion_tokens"] += usage["completion"]
            found["usd"] += reply["usd"] or 0.0
    return found
