"""The simulated speaker in the roles of LLaMAC. The joint plans are each world's own; all else is here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import orjson

from maeil.mind import Observation
from maeil.plans import Plan
from quorum.agents.llamac.roles import LlamacRole
from quorum.agents.naive.answers import plan_value

ROLES = frozenset(LlamacRole)
"""The roles that `play` answers in."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What a critic is asked.

    Attributes:
        role: `explorer` or `exploiter`.
        state: the block of that name, as JSON.
        running: what is left of the plans of other agents, as JSON, by index.
        asked: agents to plan for, ascending.
        poor: probability, for each agent, that its part is made at random.
        rng: for the choices.
        told: agents whose parts the rules have found wrong, in the proposal before.
    """

    role: str
    state: Any
    running: Mapping[int, Mapping[str, Any]]
    asked: Sequence[int]
    poor: float
    rng: np.random.Generator
    told: frozenset[int]

    def drawn_at_random(self) -> list[int]:
        """Draw the agents whose parts are made at random, for this call.

        A part that was found wrong is made by the rules then, as the simulated speaker's first choice alone is at
        random, and what it hears afterwards puts it right.
        """
        drawn = self.rng.random(len(self.asked)) < self.poor
        return [agent for agent, poor in zip(self.asked, drawn, strict=True) if poor and agent not in self.told]


class Proposer(Protocol):
    """What the module of a world offers."""

    def check(self, vocabulary: frozenset[str]) -> None:
        """Refuse a vocabulary that the rules make no plans of."""
        ...

    def propose(self, brief: Brief) -> Mapping[int, Plan]:
        """Make a joint plan."""
        ...

    def read_observation(self, text: str) -> Observation:
        """Read the observation of a prompt."""
        ...


def play(blocks: Mapping[str, str], world: Proposer, poor: float, rng: np.random.Generator) -> dict[str, Any]:
    """Answer in a role.

    Args:
        blocks: the blocks of the prompt, as JSON; `turn` says which role.
        world: the rules of its world.
        poor: probability that a choice is made at random.
        rng: for the choices.

    Raises:
        BadRequest: the rules make plans of actions that the vocabulary does not have.
    """
    given = {name: orjson.loads(text) for name, text in blocks.items()}
    turn = given["turn"]
    world.check(frozenset(turn["vocabulary"]))
    role = turn["role"]
    if role == LlamacRole.ACTOR:
        failed = given["failed_check"]
        return {"thoughts": f"{failed['code']} does not hold.", "issue": failed["problem"], "proposal": None}
    if role == LlamacRole.ASSESSOR:
        return {"thoughts": "I take whole teams.", "choices": _choose(given, poor, rng)}
    return {"thoughts": f"I am the {role}.", "plans": entries(given, role, world, poor, rng)}


def entries(
    given: Mapping[str, Any], role: str, world: Proposer, poor: float, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Make a joint plan by the rules of a world.

    Args:
        given: the blocks of the prompt.
        role: `explorer` or `exploiter`.
        world: the rules.
        poor: probability, for each agent, that its part is made at random.
        rng: for the choices.

    Returns:
        The entries of the answer.
    """
    names = given["turn"]["team"]
    index = {name: agent for agent, name in enumerate(names)}
    running = {index[name]: plan for name, plan in given.get("commitments", {}).items()}
    asked = [index[name] for name in given["asked"]]
    told = frozenset(index[name] for name in _told(given))
    plans = world.propose(Brief(role, given["state"], running, asked, poor, rng, told))
    return [{"agent": names[agent], "plan": plan_value(plan)} for agent, plan in sorted(plans.items())]


def _told(given: Mapping[str, Any]) -> set[str]:
    """The agents that internal feedback names."""
    return {name for entry in given.get("feedback", ()) for name in entry["agents"]}


def _choose(given: Mapping[str, Any], poor: float, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Take the exploiter's plans whole; the explorer's after a refusal, and for those who object to what they have.

    A choice that was found wrong is not drawn at random again. Where there is one critic alone, it insists: what brings
    nothing nearer can be a detour.
    """
    sources = {name: given[name]["plans"] for name in ("exploiter", "explorer") if name in given}
    preferred = "explorer" if given.get("feedback") else "exploiter"
    refused = given.get("suggestion", {})
    told = _told(given)
    choices = []
    for agent in given["asked"]:
        offers = [name for name, plans in sources.items() if agent in plans]
        if len(sources) > 1:
            offers = [name for name in offers if sources[name][agent] != refused.get(agent)]
        if not offers:
            continue
        if rng.random() < poor and agent not in told:
            source = offers[rng.integers(len(offers))]
        elif preferred in offers or refused:
            source = preferred if preferred in offers else offers[0]
        else:
            continue  # the preferred proposal has nothing for it, and teams stay whole
        choices.append({"agent": agent, "source": source, "plan": None})
    return choices
