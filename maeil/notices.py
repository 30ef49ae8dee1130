"""What a repair tells those whom it concerns: which constraints are expected to be violated, and what is advised.

Source: COOP2-Repair (arXiv 2603.00349 v2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from maeil.plans import Plan, Task
from maeil.tasks import Constraint

REPAIR_WORDS = (
    "A repair interrupts the usual talk of the team: before plans begin, a check has found that some of them will come "
    "to nothing. Only those concerned take part."
)
"""What a prompt says of the way in which a team talks in a repair."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint of a task that committed plans are expected to violate.

    Attributes:
        task: the task.
        constraint: which of its constraints.
        agents: whose plans serve the task, ascending.
        expected: how many agents are expected to satisfy it at once; of a dependency 0.
        needed: how many have to; of a dependency 1.
    """

    task: Task
    constraint: Constraint
    agents: tuple[int, ...]
    expected: int
    needed: int


@dataclass(frozen=True, slots=True)
class JudgedPlan:
    """A committed plan as it was judged.

    Attributes:
        agent: whose plan it is.
        plan: its id.
        task: the task of the world that it serves; None where it serves none.
        actions: its actions as text, in order.
        done: how many of them have succeeded.
    """

    agent: int
    plan: str
    task: Task | None
    actions: tuple[str, ...]
    done: int


@dataclass(frozen=True, slots=True)
class Advice:
    """An assignment that would satisfy the constraints, as far as the rules of the world can tell.

    Attributes:
        task: what is to be done.
        plans: a plan for each agent that is to take part.
    """

    task: Task
    plans: Mapping[int, Plan]

    @property
    def agents(self) -> tuple[int, ...]:
        """Those who are to take part, ascending."""
        return tuple(sorted(self.plans))


@dataclass(frozen=True, slots=True)
class Notice:
    """What a turn of a repair shows.

    Attributes:
        failures: the constraints that are expected to be violated.
        plans: the plans of those concerned, as they were judged.
        channel: who takes part, ascending.
        replan: whether each has to commit a plan anew; otherwise it may go on with the one that it has.
        advice: an assignment; None where there is none, or none is to be shown.
    """

    failures: tuple[Violation, ...]
    plans: tuple[JudgedPlan, ...]
    channel: tuple[int, ...]
    replan: bool
    advice: Advice | None = None
