"""The contract of a world's gates: the rules that judge a joint plan and each agent's part of it, without a call.

A world's gates are one file named after it (`cube_gates.py`, `crafter_gates.py`); nothing else in this package knows a
world. Every rule has a code, and every code says which cooperation constraint it stands for, so that rejections are a
metric (`gates.*`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from maeil.mind import Observation
from maeil.plans import Plan
from maeil.tasks import Constraint


class Fault(StrEnum):
    """What sort of rule a code stands for; it decides what happens when all retries are used up."""

    GRAMMAR = "grammar"  # scrutiny: the joint plan cannot be read or carried out: the episode fails
    CONFLICT = "conflict"  # scrutiny: plans do not go together: one of them is dropped
    UNAVAILABLE = "unavailable"  # confirmation: the agent cannot do it now: it waits instead
    FRUITLESS = "fruitless"  # confirmation: it can be done and brings nothing nearer: it is done all the same


@dataclass(frozen=True, slots=True)
class Code:
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
    """What the critics know of the world: the union of what the agents see.

    Attributes:
        t: environment step.
        overview: the world as one without a body is shown it.
        agents: what each agent sees, by index.
    """

    t: int
    overview: Observation
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


class Gates(Protocol):
    """The rules of one world. They are pure functions of their arguments."""

    codes: Mapping[str, Code]
    """The rules of both gates by code."""

    def state(self, sight: Sight) -> object:
        """Give what the critics are shown of the world, JSON-ready."""
        ...

    def digest(self, sight: Sight) -> object:
        """Give the state in a few numbers, JSON-ready, for the memory of past decisions.

        None where the state itself tells all that has been: then no epochs are kept beside it.
        """
        ...

    def scrutinize(self, sight: Sight, joint: Joint) -> Sequence[Rejection]:
        """Veracity scrutiny: tell what is wrong with a joint plan; cheap rules first."""
        ...

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Plan confirmation: tell what is wrong with an agent's own part, by what it sees and was told.

        Args:
            agent: its index, in `joint.plans`.
            observation: what it sees.
            joint: what it was told, as far as it was told it.
        """
        ...


FORM, STRANGER, DUPLICATE, NOT_ASKED, IMPOSSIBLE = "V-FORM", "V-STRANGER", "V-DUPLICATE", "V-ASKED", "V-WORLD"

GRAMMAR: Mapping[str, Code] = {
    FORM: Code(Fault.GRAMMAR, None, "the answer is of the wanted form"),
    STRANGER: Code(Fault.GRAMMAR, None, "plans are for agents of the team"),
    DUPLICATE: Code(Fault.GRAMMAR, None, "an agent has one plan"),
    NOT_ASKED: Code(Fault.GRAMMAR, None, "plans are for the agents that are asked about"),
    IMPOSSIBLE: Code(Fault.GRAMMAR, None, "a plan names what is there, as the world itself checks before a commit"),
}
"""The rules of grammar, the same in every world."""
