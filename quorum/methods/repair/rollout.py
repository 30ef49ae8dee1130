"""The predictor `exact`: runs the committed plans on a copy of the world, under the world's own rules."""

from __future__ import annotations

import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from math import ceil

from maeil.constraints import ConstraintTracker
from maeil.judging import Moment, Violation
from maeil.mind import Mind, Thought, View
from maeil.plan_execution import PlanExecution
from maeil.plans import LivePlan, Plan, PlanStatus, Task
from maeil.settings import LoopSettings
from maeil.stages import Stage, Trigger
from maeil.tasks import Attempt, Constraint, TaskState
from maeil.team import Participant, Team
from maeil.trace.recorder import Recorder
from maeil.world import Controller, DrawsLots, closing_world
from quorum.methods.repair.rules import violated


class NoCopy(TypeError):
    """A world cannot be copied, so plans cannot be tried on a copy."""


def roll_out(moment: Moment, horizon: int) -> list[Violation]:
    """Run the plans on a copy of the world and return their violations.

    An agent whose plan ends early idles from then on, because its next decision is unknown. A world with randomness
    draws from another stream here, so that predictions cannot know future random outcomes.

    Args:
        moment: the plans; the world and the running actions are not modified.
        horizon: maximum number of steps to look ahead.

    Raises:
        NoCopy: the world cannot be copied.
    """
    try:
        world, controllers = copy.deepcopy((moment.world, tuple(moment.controllers)))
    except TypeError as error:
        raise NoCopy(f"the world '{moment.world.name}' cannot be copied: {error}") from error
    if isinstance(world, DrawsLots):
        world.draw_from(0)
    with closing_world(world):
        rehearsal = _Rehearsal(replace(moment, world=world, controllers=controllers))
        rehearsal.run(horizon)
        return rehearsal.violations()


class _Absent(Mind):
    """Placeholder mind that never thinks."""

    async def think(self, view: View) -> Thought:
        raise AssertionError(f"{view.name} thinks in a rehearsal")


@dataclass(frozen=True, slots=True)
class _Try:
    """An attempt in a rehearsal: its agents, whether it succeeded, its missing constraints, and its task's state."""

    agents: frozenset[int]
    succeeded: bool
    missing: Collection[Constraint]
    state: TaskState | None


class _Rehearsal:
    """Plans running on a copy of the world.

    Args:
        moment: the copy, with copies of the running actions.
    """

    def __init__(self, moment: Moment) -> None:
        names = moment.world.agents
        self._moment = moment
        self._world = moment.world
        self._team = Team(names, [_Absent()] * len(names), (), LoopSettings(), Recorder(None))
        for agent, plan, controller in zip(self._team.agents, moment.plans, moment.controllers, strict=True):
            _continue(self._team, agent, plan, controller)
            agent.unmet = moment.unmet.get(agent.index)
        self._left = {plan.id for plan in moment.plans}
        self._failed: set[int] = set()
        self._constraints = ConstraintTracker(self._world, self._team, moment.states)
        self._execution = PlanExecution(self._world, self._team)
        self._tries: dict[Task, list[_Try]] = {}

    def run(self, horizon: int) -> None:
        """Take steps until all judged plans or the world have ended, or the horizon is reached."""
        for step in range(horizon + 1):
            self._settle()
            if step == horizon or not (self._left or any(agent.unmet for agent in self._team.agents)):
                return
            joint = self._execution.act()
            self._constraints.before_step(joint)
            transition = self._world.step(joint)
            self._note(self._constraints.with_unmet(transition.attempts))
            if transition.end:
                self._settle()  # like the loop, settle before the remaining plans are cancelled
                return

    def violations(self) -> list[Violation]:
        """Return the violations of the groups of plans, by task, in the order of the constraints."""
        found = []
        for task, agents in self._moment.groups.items():
            tries = [one for one in self._tries.get(task, ()) if not one.agents.isdisjoint(agents)]
            broken = violated(
                [one.missing for one in tries if not one.succeeded],
                succeeded=any(one.succeeded for one in tries),
                failed=not self._failed.isdisjoint(agents),
            )
            for constraint in (one for one in Constraint if one in broken):
                states = [one.state for one in tries if one.state is not None]
                expected = max((int(getattr(state, constraint)) for state in states), default=0)
                thresholds = () if constraint is Constraint.DEPENDENCY else (state.threshold for state in states)
                needed = ceil(max(thresholds, default=1))
                found.append(Violation(task, constraint, agents, expected, needed))
        return found

    def _settle(self) -> None:
        """End and start actions; agents whose plans are over idle from now on."""
        while self._execution.settle():
            for agent in self._team.agents:
                if agent.stage is Stage.REASON:
                    ended = agent.outcomes[-1]
                    if ended.id in self._left and ended.status in (PlanStatus.FAILED, PlanStatus.TIMED_OUT):
                        self._failed.add(agent.index)
                    self._left.discard(ended.id)
                    self._team.commit(agent, Plan((self._world.idle,)))
                    self._team.change_stage(agent, Trigger.ALL_READY)

    def _note(self, attempts: Sequence[Attempt]) -> None:
        states = {state.task: state for state in self._constraints.states}
        judged = {plan.agent for plan in self._moment.plans if plan.id in self._left}
        for record, attempt in zip(self._constraints.attribute(attempts), attempts, strict=True):
            if attempt.unmet and judged.issuperset(attempt.agents):
                continue  # attempts of plans before the judged ones
            state = states.get(attempt.task)
            tried = _Try(frozenset(attempt.agents), attempt.succeeded, record["missing"], state)
            self._tries.setdefault(attempt.task, []).append(tried)


def _continue(team: Team, agent: Participant, plan: LivePlan, controller: Controller | None) -> None:
    """Put a rehearsal agent into the real one's state: ready, with its plan at the same point."""
    agent.stage, agent.plan, agent.controller = Stage.EXECUTE, copy.copy(plan), controller
    team.undecided.discard(agent.index)
