"""Feedback: the tasks that matter now, shown to those whose turn has it (EmCoop, arXiv 2603.00349, RQ3)."""

from __future__ import annotations

from maeil.constraints import ConstraintTracker, missing
from maeil.tasks import Constraint, OpenTask, TaskState
from maeil.team import Team
from maeil.world import TellsOpenTasks, World

UNNAMED = "something else than agents"
"""What stands before a task whose dependency does not hold, where the world does not say what."""


class Feedback:
    """Lists the open tasks, evaluated only when a turn asks for them.

    Args:
        world: lists them, or only counts them.
        team: whose plans they are seen with.
        constraints: the numbers of the last step, for a world that only counts.
    """

    def __init__(self, world: World, team: Team, constraints: ConstraintTracker) -> None:
        self._world = world
        self._team = team
        self._constraints = constraints
        self._listed: tuple[OpenTask, ...] = ()
        self._of: object = None

    def forget(self) -> None:
        """Ask the world again: it has changed within an instant."""
        self._of = None

    def now(self) -> tuple[OpenTask, ...]:
        """Return the tasks that matter in the state as it is; those who ask at one instant get the same answer."""
        if not isinstance(self._world, TellsOpenTasks):
            return tuple(open_task(state) for state in self._constraints.states)
        live = [agent.plan for agent in self._team.agents]
        asked = self._team.now.t, [plan.id if plan is not None else None for plan in live]
        if asked != self._of:
            plans = [plan.plan if plan is not None else None for plan in live]
            self._listed, self._of = tuple(self._world.open_tasks(plans)), asked
        return self._listed


def open_task(state: TaskState) -> OpenTask:
    """Return what the numbers of a task tell of what it is missing: no names."""
    more = max(0, state.threshold - min(state.spatial, state.participation))
    before = (UNNAMED,) if Constraint.DEPENDENCY in missing(state) else ()
    return OpenTask(state.task, state.threshold, more, before=before)
