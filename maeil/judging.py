"""The contract of plan rules, which judge committed plans before they run, and suggest better ones.

Each world has its own rules. `quorum.methods.repair` uses them (COOP2-Repair, arXiv 2603.00349 v2).
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
        constraint: the constraint.
        agents: the agents whose plans serve the task, ascending.
        expected: how many agents are expected to satisfy it at once; 0 for a dependency.
        needed: how many agents have to satisfy it; 1 for a dependency.
    """

    task: Task
    constraint: Constraint
    agents: tuple[int, ...]
    expected: int
    needed: int


@dataclass(frozen=True, slots=True)
class Advice:
    """An assignment that satisfies the constraints according to the rules of the world.

    Attributes:
        task: the task.
        plans: a plan for each agent that should take part.
    """

    task: Task
    plans: Mapping[int, Plan]

    @property
    def agents(self) -> tuple[int, ...]:
        """The agents that should take part, ascending."""
        return tuple(sorted(self.plans))


@dataclass(frozen=True, slots=True)
class Moment:
    """The situation to judge: all agents are ready, and no new plan has started.

    Attributes:
        world: the world in its current state; rules must not change it.
        plans: the live plan of each agent, by index.
        controllers: the running action of each of these plans; None if it has not started.
        states: the constraints of the active tasks after the last step.
        tasks: the task that each plan serves, by agent; plans without a task are left out.
        unmet: the task that an agent has just attempted but could not act on, by agent; the plan for it is over.
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
    """A world's rules for judging plans. Tasks have the same names as in `World.constraints`."""

    cooldown: int
    """Steps after a repair before the same task may be repaired again; the configuration can override it."""

    @abstractmethod
    def task_of(self, world: World, agent: int, plan: Plan) -> Task | None:
        """Return the task that a plan's actions serve in the current state; None if they serve none."""

    def cooldown_key(self, task: Task) -> str:
        """Return the key that tasks with a common cooldown share; by default, each task has its own."""
        return str(task)

    @abstractmethod
    def predict(self, moment: Moment) -> Sequence[Violation]:
        """Return the constraints that the plans will probably violate, according to a heuristic."""

    @abstractmethod
    def advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        """Return an assignment to replace plans that will probably fail; None if the rules find none."""
