"""What an episode is expected to take. Nothing is played.

`usual_costs.json` holds what episodes with the simulated model took, for each team of the named experiments;
`python benchmarks/usual_costs.py` writes it. An estimate takes the entry whose world, minds and topology are alike, in
proportion to agents and steps. For a real model, its own price is put on these tokens, and each answer is assumed to
last `SECONDS_PER_CALL`. A branch has better evidence, its own run: where its team is that of the run, it is expected to
take what the run took from the branch point on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson

from maeil.metrics.model import answers_of, call_number
from maeil.trace import Instant
from maeil.trace.reader import Trace
from quorum.agents.llm.prices import BATCH, OFFER_BATCHES, read_tier
from quorum.agents.llm.protocol import Usage
from quorum.agents.llm.spending import dollars
from quorum.agents.skills import skills_of
from quorum.experiments.common.outputs import clock_time
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.providers.config import ProviderConfig
from quorum.experiments.configuration.providers.simulated import SimulatedConfig
from quorum.experiments.configuration.registry import providers
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.configuration.team_label import converses, team_label

NO_MODELS = ("simulated", "random")
"""Providers without a model: rules and draws. The figures come from episodes with the first."""
SECONDS_PER_CALL = 3.0
"""Assumed for an answer of a real model; the answers of an episode are assumed to come one after the other."""
FIGURES = Path(__file__).with_name("usual_costs.json")


@dataclass(frozen=True, slots=True)
class UsualCosts:
    """What recorded episodes of a team took, on average.

    Attributes:
        world: name of the world.
        minds: label of the team.
        topology: name of the topology.
        n: agents.
        steps: environment steps.
        completed: whether they ended before the step limit.
        thoughts: thoughts of all agents.
        answers: answers of the simulated model.
        prompt: tokens read.
        completion: tokens written.
        seconds: wall time.
    """

    world: str
    minds: str
    topology: str
    n: int
    steps: float
    completed: bool
    thoughts: float
    answers: float
    prompt: float
    completion: float
    seconds: float

    def share(self, raw: Mapping[str, Any], rest: Rest | None) -> float:
        """Return how much of it an episode takes, in proportion to its thoughts, or to its agents and steps."""
        if rest is not None:
            return rest.thoughts / max(self.thoughts, 1.0)
        steps = min(self.steps, raw["max_steps"]) if self.completed else raw["max_steps"]
        n: int = raw["n"]
        share: float = n / self.n * steps / max(self.steps, 1.0)
        return max(share, n / max(self.thoughts, n))  # every agent thinks before the first step


@dataclass(frozen=True, slots=True)
class Rest:
    """What a recorded episode took from a branch point on.

    Attributes:
        thoughts: of all agents.
        answers: of its models; 0 where they say nothing of the branch.
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
        """Sum up an episode from an instant on."""
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
        answers: of language models.
        tokens: read and written.
        usd: money in US dollars, as far as prices are known.
        seconds: wall time.
        priceless: whether the price of an answer is not known.
        by_tier: the money in each tier of service whose price is known, batches among them; the usual one has the
            empty name. Empty for means of finished cells: these had the price of the tier that answered.
    """

    answers: float
    tokens: float
    usd: float
    seconds: float
    priceless: bool = False
    by_tier: Mapping[str, float] = field(default_factory=dict)

    def times(self, share: float) -> Expected:
        """Return what takes so many times as much."""
        return Expected(
            self.answers * share,
            self.tokens * share,
            self.usd * share,
            self.seconds * share,
            self.priceless,
            {tier: usd * share for tier, usd in self.by_tier.items()},
        )


def asks_real_model(raw: Mapping[str, Any], *, uses_models: bool) -> bool:
    """Whether the minds of a resolved configuration ask a model, and not rules or draws in its place."""
    return uses_models and raw["llm"]["name"] not in NO_MODELS


def expected(raw: Mapping[str, Any], *, uses_models: bool, rest: Rest | None = None) -> Expected | None:
    """Estimate an episode of a resolved configuration; None where no recorded episode is of such minds.

    In the usual ones no minds have conversations, whose prompts grow with the turns.

    Args:
        raw: the configuration.
        uses_models: whether its minds think with language models.
        rest: of a branch: what its run took from the branch point on; None: the episode is no branch.
    """
    usual = _usual(raw)
    share, seconds = 0.0, 0.0
    if usual is not None:
        share = usual.share(raw, rest)
        seconds = usual.seconds * share
    if not uses_models:
        return Expected(0.0, 0.0, 0.0, seconds) if usual is not None else None
    if rest is not None and rest.shows_cost:
        answers, read, written = rest.answers, rest.prompt, rest.completion
    elif usual is not None and usual.answers and not converses(raw["agents"]):
        answers, read, written = (value * share for value in (usual.answers, usual.prompt, usual.completion))
    else:
        return None
    if raw["llm"]["name"] == "random":
        return Expected(answers, 0.0, 0.0, seconds)
    if not asks_real_model(raw, uses_models=uses_models):
        prices = [raw["llm"].get(f"usd_per_million_{kind}") or 0.0 for kind in ("prompt", "completion")]
        usd = (read * prices[0] + written * prices[1]) / 1e6
        return Expected(answers, read + written, usd, seconds)
    by_tier = _by_tier(raw["llm"], Usage(prompt=round(read), completion=round(written)), math.ceil(answers))
    money = by_tier.get(read_tier(raw["llm"].get("service_tier")))
    seconds += answers * SECONDS_PER_CALL
    return Expected(answers, read + written, money or 0.0, seconds, priceless=money is None, by_tier=by_tier)


def expectation(cell: Cell, rest: Rest | None = None) -> str:
    """Say what an episode is expected to take; empty where no model is asked but a simulated one or a recording.

    Args:
        cell: the episode.
        rest: of a branch: what its run took from the branch point on; None: the episode is no branch.
    """
    c = cell.configuration
    if not (asks_real_model(cell.plain, uses_models=c.uses_models) and isinstance(c.llm, ProviderConfig)):
        return ""
    found = expected(cell.plain, uses_models=True, rest=rest)
    if found is None:
        how = " with agents.memory=conversation" if converses(cell.plain["agents"]) else ""
        return f"cost unknown: there are no figures of agents={c.team_label}{how}"
    money = "unknown money (no price)" if found.priceless else dollars(found.usd)
    amounts = f"{found.answers:,.0f} answers, {found.tokens:,.0f} tokens, {money}, {clock_time(found.seconds)}"
    on = basis()
    if rest is not None and rest.shows_cost:
        on = basis("what its run took from there on", simulated=rest.simulated)
    return f"expected: about {amounts} ({on})"


def uninformed(configuration: Configuration) -> str:
    """Say that the simulated model does not know a world; empty where it does, or where it is not asked."""
    c = configuration
    models = (c.llm, *c.special_models.values()) if c.uses_models else ()
    if not any(isinstance(model, SimulatedConfig) for model in models) or skills_of(c.env.name).has("speaker"):
        return ""
    return (
        f"the simulated model has no rules for the world '{c.env.name}': its plans are valid and uninformed. "
        "Skills with a speaker give it some: docs/writing-a-world.md"
    )


def basis(record: str = "recorded episodes", *, simulated: bool = True) -> str:
    """Say what the figures of a real model rest on.

    Args:
        record: what was recorded.
        simulated: whether a simulated model answered there.
    """
    by = " with the simulated model" if simulated else ""
    return f"from {record}{by}, at {SECONDS_PER_CALL:g} s an answer"


@cache
def _figures() -> tuple[UsualCosts, ...]:
    return tuple(UsualCosts(**entry) for entry in orjson.loads(FIGURES.read_bytes()))


def _usual(raw: Mapping[str, Any]) -> UsualCosts | None:
    """Return the figures of the team that is most alike: same minds, then world, then topology, then size."""
    wanted = (team_label(raw["agents"]), raw["agents"]["name"], raw["env"]["name"], raw["topology"]["name"])
    alike = [entry for entry in _figures() if entry.minds in wanted[:2]]

    def likeness(entry: UsualCosts) -> tuple[bool, bool, bool, int]:
        same = (entry.world == wanted[2], entry.minds == wanted[0], entry.topology == wanted[3])
        return (*same, -abs(entry.n - raw["n"]))

    return max(alike, key=likeness, default=None)


def _by_tier(values: Mapping[str, Any], usage: Usage, calls: int) -> Mapping[str, float]:
    """Return what tokens of a model cost in each tier whose price is known.

    Args:
        values: of the model.
        usage: the tokens.
        calls: that take them.
    """
    config = providers.get(values["name"]).config.model_validate(values)
    if not isinstance(config, ProviderConfig) or (price := config.price) is None:
        return {}
    known = {"", read_tier(values.get("service_tier")), *price.tiers}
    own_address = urlsplit(config.address or "").hostname == getattr(config, "official", None)
    if values["name"] in OFFER_BATCHES and own_address:
        known.add(BATCH)
    else:  # other servers that speak the format mostly have no batches
        known.discard(BATCH)
    prices = {tier: price.of_tier(tier) for tier in sorted(known)}
    return {tier: found.usd(usage, calls) for tier, found in prices.items() if found is not None}
