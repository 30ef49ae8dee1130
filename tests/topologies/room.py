"""A hallway with tasks for tests of negotiation: each task takes some agents, and is over when they have walked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from maeil.plans import Plan, Task
from maeil.tasks import OpenTask
from tests.maeil.corridor import Corridor, Walk

DOOR, GATE = Task("open", "door"), Task("open", "gate")


class Hallway(Corridor):
    """A corridor whose tasks are served by walks: `door` by those of one step, `gate` by all longer ones.

    Args:
        needs: how many agents each task takes.
        agents: of the team.
    """

    def __init__(self, needs: Mapping[Task, int], agents: int = 2, length: int = 3, max_steps: int = 20) -> None:
        super().__init__(agents, length, max_steps)
        self.needs = dict(needs)

    def open_tasks(self, plans: Sequence[Plan | None], text: str = "") -> list[OpenTask]:
        served: dict[Task, list[int]] = {task: [] for task in self.needs}
        for agent, plan in enumerate(plans):
            first = next((action for action in plan.actions if isinstance(action, Walk)), None) if plan else None
            if first is not None:
                served.get(DOOR if first.steps == 1 else GATE, []).append(agent)
        return [OpenTask(task, count, count, planned=tuple(served[task])) for task, count in self.needs.items()]
