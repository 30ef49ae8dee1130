"""The contract of repair: what the gate before the execution of plans needs to know about one world.

Source of the method: COOP2-Repair (arXiv 2603.00349 v2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from maeil.mind import PlanView
from maeil.plans import LivePlan, Plan, Task
from maeil.tasks import Constraint, TaskState
from maeil.world import Controller, World

REPAIR_WORDS = (
    "A repair interrupts the usual talk of the team: before plans begin, a check has found that some of them will come "
    "to nothing. Only those concerned take part."
)
"""What a prompt says about how the team talks in a repair."""


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
    """What a repair shows to those who take part.

    Attributes:
        failures: the constraints that are expected to be violated.
        plans: of all agents as they were judged, by agent, each with the task of the world that it serves.
        channel: who takes part, ascending.
        replan: whether each must commit a new plan; otherwise it may resume the one that it has.
        advice: an assignment; None where there is none, or none is to be shown.
    """

    failures: tuple[Violation, ...]
    plans: Mapping[int, PlanView]
    channel: tuple[int, ...]
    replan: bool
    advice: Advice | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """What there is to judge: all agents are ready, and nothing has been carried out yet.

    Attributes:
        world: as it is; it must be left so.
        plans: the live plan of each agent, by index.
        controllers: the running action of each of these plans; None where it has not begun.
        states: the constraints of the active tasks, as the last step left them.
        tasks: the task that each plan serves, by agent; plans that serve none are left out.
        unmet: the task that agents have just tried in vain, with a plan that is over.
    """

    world: World
    plans: Sequence[LivePlan]
    controllers: Sequence[Controller | None]
    states: Mapping[Task, TaskState]
    tasks: Mapping[int, Task]
    unmet: Mapping[int, Task]

    @property
    def groups(self) -> Mapping[Task, tuple[int, ...]]:
        """The agents whose plans serve each task, ascending."""
        found: dict[Task, tuple[int, ...]] = {}
        for agent, task in sorted(self.tasks.items()):
            found[task] = (*found.get(task, ()), agent)
        return found


class RepairRules(ABC):
    """What repair needs to know of one world. Tasks are those of `World.constraints`, under the same names."""

    cooldown: int
    """Steps after a repair of a task in which it is not repaired again, where the configuration says no other."""

    @abstractmethod
    def task_of(self, world: World, agent: int, plan: Plan) -> Task | None:
        """Return the task that a plan serves in the state as it is, by its actions; None where it serves none."""

    def cooldown_key(self, task: Task) -> str:
        """Return what tasks share that cool down together: by itself, each for itself."""
        return str(task)

    @abstractmethod
    def predict(self, moment: Moment) -> Sequence[Violation]:
        """Return what plans are expected to violate by a rule of thumb: the predictor `heuristic`."""

    @abstractmethod
    def advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        """Return an assignment in the place of plans that are expected to fail; None where the rules know none."""


def violated(tries: Sequence[Collection[Constraint]], *, succeeded: bool, failed: bool) -> frozenset[Constraint]:
    """Return the constraints that the plans for a task have violated when they are over.

    It is one rule for what is expected and for what has happened. A constraint is violated when no attempt that the
    group has made at its task satisfied it. Where each was satisfied by some attempt and no attempt came off, it is the
    joint condition. A group that has made no attempt, and one of whose plans failed, never came in place.

    Args:
        tries: of each failed attempt at the task in which one of the group took part, what it was missing.
        succeeded: whether an attempt of the group came off.
        failed: whether one of its plans failed or timed out.
    """
    if succeeded:
        return frozenset()
    if tries:
        common = frozenset(tries[0]).intersection(*tries[1:])
        return common or frozenset({Constraint.JOINT})
    return frozenset({Constraint.SPATIAL}) if failed else frozenset()
