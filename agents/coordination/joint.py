"""Joint plans, and what can be wrong with them: the rules of grammar, the same in every world and for every planner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from maeil.calls import Call
from maeil.errors import EpisodeStop
from maeil.mind import Observation
from maeil.plans import Plan
from maeil.tasks import Constraint
from maeil.world import World
from quorum.agents.prompting.answers import part_value


class Fault(StrEnum):
    """What sort of rule a code stands for; it decides what happens when all retries are used up."""

    GRAMMAR = "grammar"  # scrutiny: the joint plan cannot be read or carried out: the episode fails
    CONFLICT = "conflict"  # scrutiny: plans do not go together: one of them is dropped
    UNAVAILABLE = "unavailable"  # confirmation: the agent cannot do it now: it waits instead
    FRUITLESS = "fruitless"  # confirmation: it can be done and brings nothing nearer: it is done all the same

    @property
    def gate(self) -> str:
        """The gate that judges by such rules: `scrutiny` or `confirmation`."""
        return "scrutiny" if self in (Fault.GRAMMAR, Fault.CONFLICT) else "confirmation"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule.

    Attributes:
        fault: what sort of rule it is.
        constraint: the cooperation constraint that it stands for; None for form alone.
        meaning: the rule in a sentence.
    """

    fault: Fault
    constraint: Constraint | None
    meaning: str


@dataclass(frozen=True, slots=True)
class Rejection:
    """A rule that a plan breaks.

    Attributes:
        code: the rule.
        agents: the offenders, ascending; the pair when two plans do not go together. Empty when no agent can be named.
        text: what is wrong, for a model to mend.
    """

    code: str
    agents: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Sight:
    """What a planner of joint plans can know of the world.

    Attributes:
        t: environment step.
        global_observation: the world as one without a body is shown it.
        agents: what each agent sees, by index.
    """

    t: int
    global_observation: Observation
    agents: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint plan.

    Attributes:
        plans: what is suggested, by agent; agents that are asked and not in it wait.
        running: what is left of the plans of the agents that are not asked.
    """

    plans: Mapping[int, Plan]
    running: Mapping[int, Plan] = field(default_factory=dict)

    @property
    def all(self) -> dict[int, Plan]:
        """Every agent's plan, suggested or under way."""
        return {**self.running, **self.plans}


@dataclass(frozen=True, slots=True)
class Proposal:
    """A joint plan with the thoughts behind it.

    Attributes:
        plans: by agent.
        thoughts: in words.
        rejections: what is wrong with it.
        readable: whether there is a joint plan at all.
    """

    plans: dict[int, Plan]
    thoughts: str = ""
    rejections: tuple[Rejection, ...] = ()
    readable: bool = True


class NoJointPlan(EpisodeStop):
    """All retries are used up, and there is no joint plan that can be read and carried out: the episode fails.

    It is a failure of the method ("syntactic error" in HMAS-2), scored and pooled like any other; so the outcome is
    `completed`.
    """

    outcome = "completed"

    def __init__(self, retries: int, rejections: Sequence[Rejection], calls: Sequence[Call]) -> None:
        found = "; ".join(f"{rejection.code}: {rejection.text}" for rejection in rejections)
        super().__init__(f"no joint plan after {retries} retries: {found}")
        self.calls = tuple(calls)


FORM, STRANGER, DUPLICATE, NOT_ASKED, IMPOSSIBLE = "V-FORM", "V-STRANGER", "V-DUPLICATE", "V-ASKED", "V-WORLD"

GRAMMAR: Mapping[str, Rule] = {
    FORM: Rule(Fault.GRAMMAR, None, "the answer is of the wanted form"),
    STRANGER: Rule(Fault.GRAMMAR, None, "plans are for agents of the team"),
    DUPLICATE: Rule(Fault.GRAMMAR, None, "an agent has one plan"),
    NOT_ASKED: Rule(Fault.GRAMMAR, None, "plans are for the agents that are asked about"),
    IMPOSSIBLE: Rule(Fault.GRAMMAR, None, "a plan names what is there, as the world itself checks before a commit"),
}
"""The rules of grammar, the same in every world."""


def look(world: World, t: int) -> Sight:
    """Look at the world."""
    return Sight(t, world.global_observation(), tuple(map(world.observe, range(len(world.agents)))))


def impossible(world: World, plans: Mapping[int, Plan]) -> tuple[Rejection, ...]:
    """Return which plans the world itself would refuse in its present state, and why."""
    return tuple(
        Rejection(IMPOSSIBLE, (agent,), problem)
        for agent, plan in sorted(plans.items())
        for problem in world.check_plan(agent, plan)
    )


def unreadable(reasons: Iterable[str]) -> Proposal:
    """Return what stands for an answer that is no joint plan."""
    return Proposal({}, "", tuple(Rejection(FORM, (), reason) for reason in reasons), readable=False)


def called(agents: Iterable[int]) -> str:
    """Name agents of the worlds of this project in a text for a model, as everything else names them."""
    return ", ".join(f"agent_{agent}" for agent in agents)


def named(plans: Mapping[int, Plan], names: Sequence[str]) -> dict[str, Any]:
    """Write plans by the names of their agents, JSON-ready."""
    return {names[agent]: part_value(plan) for agent, plan in sorted(plans.items())}


def told(author: str, rejections: Iterable[Rejection], names: Sequence[str]) -> list[dict[str, Any]]:
    """Write for a model what is wrong with a proposal, JSON-ready.

    Args:
        author: whose proposal it is.
        rejections: what is wrong with it.
        names: of the agents.
    """
    return [
        {
            "proposal": author,
            "code": rejection.code,
            "agents": [names[agent] for agent in rejection.agents],
            "problem": rejection.text,
        }
        for rejection in rejections
    ]
