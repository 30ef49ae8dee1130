"""What the loop itself tells agents: in a repair what is expected to fail, and what healers say.

Sources: COOP2-Repair (arXiv 2603.00349 v2), DIG to Heal (arXiv 2603.00309).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

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


class Pattern(StrEnum):
    """A way in which cooperation fails (DIG to Heal), and the healer that speaks up then."""

    ORPHAN = "orphan"
    EXCESSIVE_REROUTING = "excessive_rerouting"
    REPEATED_EFFORT = "repeated_effort"
    MISSING_DEPENDENCY = "missing_dependency"
    INCOMPLETE_COVERAGE = "incomplete_coverage"
    MISSED_SUBMISSION = "missed_submission"
    DEADLOCK = "deadlock"


@dataclass(frozen=True, slots=True)
class HealerNote:
    """What a healer tells an agent. It stands in each of its turns until it has decided.

    Attributes:
        number: of the note in its episode, from 0.
        healer: which.
        text: what it says.
        subject: the target of the task that it is about; empty where there is none.
        handlers: who is to go on with it, or whom to listen to; empty where it does not say who.
        messages: sender and text of each message that it is put on; empty for one of its own.
    """

    number: int
    healer: Pattern
    text: str
    subject: str = ""
    handlers: tuple[int, ...] = ()
    messages: tuple[tuple[int, str], ...] = ()
