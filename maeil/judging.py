"""The contract of rules that judge committed plans before they run, and advise others.

The rules are those of one world. `quorum.methods.repair` asks them (COOP2-Repair, arXiv 2603.00349 v2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from maeil.plans import LivePlan, Plan, Task
from maeil.tasks import Constraint, TaskState
from maeil.world import Controller, World


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


class PlanRules(ABC):
    """What a world's rules say about plans. Tasks are those of `World.constraints`, under the same names."""

    cooldown: int
    """Steps after the repair of a task in which it is not repaired again, unless the configuration says otherwise."""

    @abstractmethod
    def task_of(self, world: World, agent: int, plan: Plan) -> Task | None:
        """Return the task that a plan serves in the state as it is, by its actions; None where it serves none."""

    def cooldown_key(self, task: Task) -> str:
        """Return what tasks share that cool down together: by itself, each for itself."""
        return str(task)

    @abstractmethod
    def predict(self, moment: Moment) -> Sequence[Violation]:
        """Return what plans are expected to violate, by a rule of thumb."""

    @abstractmethod
    def advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        """Return an assignment that replaces plans that are expected to fail; None if the rules know none."""
