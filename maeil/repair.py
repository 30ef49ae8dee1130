"""The contract of repair: what the gate before the execution of plans needs of one world.

The scheduler knows the gate, the gate knows these rules, and the rules know the world. Source of the method:
COOP2-Repair (arXiv 2603.00349 v2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from maeil.notices import Advice, Violation
from maeil.plans import LivePlan, Plan, Task
from maeil.tasks import TaskState
from maeil.world import Controller, World


@dataclass(frozen=True, slots=True)
class Moment:
    """What there is to judge: all agents are ready, and nothing has been carried out yet.

    Attributes:
        world: as it is; it must be left so.
        plans: the live plan of each agent, by index.
        controllers: the running action of each of these plans; None where it has not begun.
        states: the constraints of the active tasks, as the last step left them.
        tasks: the task that each plan serves, by agent; plans that serve none are left out.
    """

    world: World
    plans: Sequence[LivePlan]
    controllers: Sequence[Controller | None]
    states: Mapping[Task, TaskState]
    tasks: Mapping[int, Task]

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
