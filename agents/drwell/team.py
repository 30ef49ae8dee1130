"""What the minds of a team share: the world model, and what each is carrying out just now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maeil.mind import PlanView
from maeil.plans import Plan, PlanStatus, Task
from maeil.world import TellsOpenTasks, World
from quorum.agents.drwell.world_model import Instance, WorldModel

STILL_OPEN = "the task was not over"
"""Why a plan whose actions all came off is no success."""


@dataclass(slots=True)
class Undertaking:
    """A plan for a task.

    Attributes:
        agent: index of who carries it out.
        task: what it is for.
        plan: the plan.
        begin: environment step of its commitment.
        end: environment step of its end; None while it lives.
    """

    agent: int
    task: Task
    plan: Plan
    begin: int
    end: int | None = None


class DrwellTeam:
    """Enters what becomes of the plans of a team in its world model.

    Args:
        world: where they are carried out.
        model: what the team knows to begin with.
    """

    def __init__(self, world: World, model: WorldModel) -> None:
        self.model = model
        """What the team knows."""
        self._world = world
        self._undertakings: list[Undertaking] = []
        self._live: dict[int, Undertaking] = {}

    def serves(self, agent: int, plan: Plan, task: Task) -> bool:
        """Return whether the actions of a plan work at an open task, as the world sees it in the state as it is."""
        assert isinstance(self._world, TellsOpenTasks)
        plans: list[Plan | None] = [None] * len(self._world.agents)
        plans[agent] = Plan(plan.actions)
        return any(told.task == task and agent in told.planned for told in self._world.open_tasks(plans))

    def begin(self, agent: int, task: Task, plan: Plan, t: int) -> None:
        """Note that an agent commits a plan; one that the loop then refuses is forgotten with the next."""
        self._live[agent] = Undertaking(agent, task, plan, t)

    def end(self, agent: int, outcomes: tuple[PlanView, ...], t: int) -> None:
        """Learn what became of the plan that an agent has committed, when it needs another one.

        Args:
            agent: its index.
            outcomes: its last plans that ended, oldest first.
            t: environment step.
        """
        live = self._live.pop(agent, None)
        if live is None or not outcomes or not _is(outcomes[-1], live):
            return
        live.end = t
        self._undertakings.append(live)
        over = not self.serves(agent, live.plan, live.task)
        self.model.add(self._instance(live, outcomes[-1].status, outcomes[-1].reason, over=over))

    def remember(self) -> dict[str, Any]:
        """Return the world model with what became of the plans that the end of the episode cut off, JSON-ready."""
        whole = WorldModel(self.model.instances, self.model.episode)
        for live in self._live.values():
            over = not self.serves(live.agent, live.plan, live.task)
            whole.add(self._instance(live, PlanStatus.SUCCEEDED if over else PlanStatus.CANCELLED, "", over=over))
        return whole.dump()

    def _instance(self, live: Undertaking, status: PlanStatus, reason: str, *, over: bool) -> Instance:
        done = status is PlanStatus.SUCCEEDED
        return Instance(
            episode=self.model.episode,
            task=str(live.task),
            actions=tuple(action.model_dump(mode="json") for action in live.plan.actions),
            outcome=status.value,
            reason=reason or (STILL_OPEN if done and not over else ""),
            succeeded=done and over,
            duration=live.end - live.begin if live.end is not None else None,
            team=len({live.agent, *(other.agent for other in self._beside(live))}),
        )

    def _beside(self, own: Undertaking) -> list[Undertaking]:
        """The undertakings of the same task that lived at the same time as one that ends now."""
        return [
            other
            for other in (*self._undertakings, *self._live.values())
            if other.task == own.task and (other.end is None or other.end > own.begin)
        ]


def _is(ended: PlanView, live: Undertaking) -> bool:
    return ended.task == live.task and ended.actions == tuple(map(str, live.plan.actions))
