"""Estimates what an episode takes.

A pilot plays the episode in memory with the simulated model and counts answers and tokens. For a real model, these
tokens are priced at its own rates, and each answer is assumed to take `SECONDS_PER_CALL`. No pilot shows how a real
model plays or how much it thinks before it answers. A branch has better evidence: if its team is that of its recorded
run, it is expected to take what the run took after the branch point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from maeil.metrics.model import answers_of, call_number
from maeil.trace import Instant
from maeil.trace.reader import Trace
from quorum.agents.llm.prices import BATCH, OFFER_BATCHES, SET_PRICES, read_tier
from quorum.agents.llm.protocol import Usage
from quorum.agents.llm.spending import dollars
from quorum.agents.skills import skills_of
from quorum.configuration.cell import Cell
from quorum.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.configuration.providers.simulated import SimulatedConfig
from quorum.configuration.schema import Configuration
from quorum.episode.pilot import Taken, play_pilot
from quorum.episode.substitute import asks_real_models, models_in
from quorum.storage.outputs import clock_time

SECONDS_PER_CALL = 3.0
"""Assumed seconds for an answer of a real model."""
PILOT_SECONDS = 5.0
"""Maximum seconds for the pilot of a single episode."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What a recorded episode took after a branch point.

    Attributes:
        thoughts: thoughts of all agents.
        answers: answers of its models; 0 if they are no evidence for the branch.
        prompt: tokens read.
        completion: tokens written.
        simulated: whether a simulated model gave an answer.
    """

    thoughts: int
    answers: float = 0
    prompt: float = 0
    completion: float = 0
    simulated: bool = False

    @classmethod
    def of(cls, trace: Trace, instant: Instant) -> Rest:
        """Sum up an episode from `instant` on."""
        thoughts = [found for found in trace.story.thoughts if instant.has_come(found.start.t, found.start.t_hat)]
        calls = [call for thought in thoughts for call in thought.calls]

        def total(key: str) -> float:
            return math.fsum(call_number(call, key) or 0 for call in calls)

        return cls(
            len(thoughts),
            sum(map(answers_of, calls)),
            total("prompt_tokens"),
            total("completion_tokens"),
            any(call.get("simulated") is True for call in calls),
        )

    @property
    def shows_cost(self) -> bool:
        """Whether it shows what models take."""
        return bool(self.answers and self.prompt)


@dataclass(frozen=True, slots=True)
class Expected:
    """What a cell is expected to take.

    Attributes:
        answers: answers of language models.
        tokens: tokens read and written.
        usd: money in US dollars, as far as prices are known.
        seconds: wall time.
        priceless: whether the price of an answer is unknown.
        by_tier: cost in each service tier with a known price, including batches; the default tier has the empty name.
            Empty for means of finished cells, which were billed at the tier that answered.
    """

    answers: float
    tokens: float
    usd: float
    seconds: float
    priceless: bool = False
    by_tier: Mapping[str, float] = field(default_factory=dict)

    def times(self, share: float) -> Expected:
        """Return the estimate multiplied by `share`."""
        return Expected(
            self.answers * share,
            self.tokens * share,
            self.usd * share,
            self.seconds * share,
            self.priceless,
            {tier: usd * share for tier, usd in self.by_tier.items()},
        )


def price(configuration: Configuration, taken: Taken) -> Expected:
    """Apply the prices and speed of a configuration's models to the usage of an episode.

    Args:
        configuration: configuration of the episode.
        taken: usage of the episode, for example in a pilot.
    """
    models = models_in(configuration)
    if not models:
        return Expected(0.0, 0.0, 0.0, taken.seconds)
    if not asks_real_models(configuration):
        latency = getattr(models[0], "latency", 0.0)
        return Expected(taken.answers, taken.tokens, taken.usd, taken.seconds + taken.chain * latency)
    if len(models) == 1:
        usage = Usage(prompt=round(taken.prompt), completion=round(taken.completion))
        by_tier = _by_tier(models[0], usage, math.ceil(taken.answers))
        tier = read_tier(getattr(models[0], "service_tier", None))
    else:
        priced = all(isinstance(m, SimulatedConfig) or (isinstance(m, ProviderConfig) and m.price) for m in models)
        tier, by_tier = "", {"": taken.usd} if priced else {}
    seconds = taken.seconds + taken.chain * SECONDS_PER_CALL
    usd = by_tier.get(tier)
    return Expected(taken.answers, taken.tokens, usd or 0.0, seconds, priceless=usd is None, by_tier=by_tier)


def price_rest(configuration: Configuration, rest: Rest) -> Expected:
    """Apply the prices and speed of a branch's models to what its run took after the branch point."""
    usd = 0.0
    if isinstance(configuration.llm, SimulatedConfig):
        own = configuration.llm
        usd = (rest.prompt * own.usd_per_million_prompt + rest.completion * own.usd_per_million_completion) / 1e6
    taken = Taken(rest.answers, rest.prompt, rest.completion, usd, rest.thoughts, rest.answers, 0.0, 0.0)
    return price(configuration, taken)


def expectation(cell: Cell, rest: Rest | None = None) -> str:
    """Describe what an episode is expected to take; empty if it uses only simulated or recorded models.

    Args:
        cell: the episode.
        rest: for a branch, what its run took after the branch point; None: the episode is not a branch.
    """
    c = cell.configuration
    if not (asks_real_models(c) and isinstance(c.llm, ProviderConfig)):
        return ""
    if rest is not None and rest.shows_cost:
        found, on = price_rest(c, rest), basis("what the rest of its run used", simulated=rest.simulated)
    else:
        pilot = play_pilot(cell, PILOT_SECONDS)
        if pilot is None:
            return f"cost unknown: the simulated model cannot play agents={c.team_label}"
        taken = pilot.extrapolated(cell.plain)
        if rest is not None:
            taken = taken.times(rest.thoughts / max(taken.thoughts, 1))
        found = price(c, taken)
        on = basis("a pilot" if pilot.whole else f"the first {pilot.steps} steps of a pilot")
    money = f"unknown money (no price: set {SET_PRICES})" if found.priceless else dollars(found.usd)
    amounts = f"{found.answers:,.0f} answers, {found.tokens:,.0f} tokens, {money}, {clock_time(found.seconds)}"
    return f"expected: about {amounts} ({on})"


def uninformed(configuration: Configuration) -> str:
    """Warn that the simulated model does not know a world; empty if it does, or is not used."""
    c = configuration
    models = (c.llm, *c.special_models.values()) if c.uses_models else ()
    if not any(isinstance(model, SimulatedConfig) for model in models) or skills_of(c.env.name).has("speaker"):
        return ""
    return (
        f"the simulated model has no rules for the world '{c.env.name}': its plans are valid but uninformed. "
        "To give it rules, write skills with a speaker: docs/writing-a-world.md"
    )


def basis(record: str, *, simulated: bool = True) -> str:
    """Describe the source of a real model's figures.

    Args:
        record: the source.
        simulated: whether a simulated model answered there.
    """
    by = " with the simulated model" if simulated else ""
    return f"from {record}{by}, at {SECONDS_PER_CALL:g} s an answer"


def _by_tier(model: ModelConfig, usage: Usage, calls: int) -> Mapping[str, float]:
    """Return what a model's tokens cost in each tier with a known price.

    Args:
        model: configuration of the model.
        usage: the tokens.
        calls: number of calls that use them.
    """
    if not isinstance(model, ProviderConfig) or (listed := model.price) is None:
        return {}
    known = {"", read_tier(getattr(model, "service_tier", None)), *listed.tiers}
    own_address = urlsplit(model.address or "").hostname == getattr(model, "official", None)
    if model.name in OFFER_BATCHES and own_address:
        known.add(BATCH)
    else:  # most other servers with this format have no batches
        known.discard(BATCH)
    prices = {tier: listed.of_tier(tier) for tier in sorted(known)}
    return {tier: found.usd(usage, calls) for tier, found in prices.items() if found is not None}
