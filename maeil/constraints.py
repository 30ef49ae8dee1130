"""Follows the cooperation constraints of every task, from what a world reports, and shows the tasks that matter now.

Source: EmCoop (arXiv 2603.00349), whose RQ3 has the feedback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maeil.acting import Primitive
from maeil.contracts import check_items, name_of
from maeil.errors import ContractError
from maeil.messages import Draft, Message
from maeil.mind import Turn
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, Constraint, OpenTask, TaskState, fewest
from maeil.team import Participant, Team
from maeil.trace.events import ConstraintChange
from maeil.world import World


def missing(state: TaskState) -> tuple[Constraint, ...]:
    """Return the constraints that a task's state violates; the first one is the cause of a failed attempt.

    Who acts on a task takes part in it, so who is missing is missing at the right time, too: the cause is what comes
    first, a prerequisite, then agents committed to the task, then their place, then the moment. `JOINT` stands alone:
    enough agents satisfy each of the others, but not enough the same ones.
    """
    counted = (Constraint.PARTICIPATION, Constraint.SPATIAL, Constraint.TEMPORAL)
    found = [] if state.dependency else [Constraint.DEPENDENCY]
    found += [constraint for constraint in counted if getattr(state, constraint) < state.threshold]
    return tuple(found) or ((Constraint.JOINT,) if state.joint < state.threshold else ())


class ConstraintTracker:
    """Records the changes of all tasks and says what a failed attempt was missing.

    Args:
        world: reports the states of its tasks.
        team: what records the changes.
        states: those that the world has already reported.
    """

    def __init__(self, world: World, team: Team, states: Mapping[Task, TaskState] | None = None) -> None:
        self._world = world
        self._team = team
        self._states: dict[Task, TaskState] = dict(states or {})

    @property
    def states(self) -> tuple[TaskState, ...]:
        """The active tasks under the joint action of the last step; none before the first one."""
        return tuple(self._states.values())

    def before_step(self, joint: Sequence[Primitive]) -> None:
        """Take in the states under the joint action that is about to be taken, and under what was tried in vain."""
        plans = [_plan_of(agent) for agent in self._team.agents]
        constraints = self._world.constraints
        for state in check_items(
            constraints(joint, plans), TaskState, constraints, "a tuple of maeil.TaskState, empty for none"
        ):
            if state.threshold:
                self._states[state.task] = state
            else:
                self._states.pop(state.task, None)
            self._team.record(_change(state))

    def with_unmet(self, attempts: Sequence[Attempt]) -> tuple[Attempt, ...]:
        """Return the attempts of a step and those in vain, but for tasks that are over or were done; these are taken.

        An agent tries one task in vain in a step: of several the last one.
        """
        done = {attempt.task for attempt in attempts if attempt.succeeded}
        agents: dict[Task, list[int]] = {}
        for agent in self._team.agents:
            if agent.unmet in self._states and agent.unmet not in done:
                agents.setdefault(agent.unmet, []).append(agent.index)
            agent.unmet = None
        unmet = (Attempt(task, tuple(those), succeeded=False, unmet=True) for task, those in agents.items())
        return (*attempts, *unmet)

    def attribute(self, attempts: Sequence[Attempt]) -> list[Mapping[str, Any]]:
        """Return the attempts of the step as records; a failed one says which constraints were missing.

        Raises:
            ContractError: one failed at a task for which the world has reported no constraints.
        """
        for attempt in attempts:
            if not attempt.succeeded and attempt.task not in self._states:
                raise ContractError(
                    f"{name_of(self._world.constraints)}() did not report the task {attempt.task}, at which an attempt "
                    "has failed; it must tell every active task before the step",
                    self._world.constraints,
                )
        return [
            {
                "task": attempt.task.plain(),
                "agents": attempt.agents,
                "succeeded": attempt.succeeded,
                "missing": () if attempt.succeeded else missing(self._states[attempt.task]),
                "unmet": attempt.unmet,
            }
            for attempt in attempts
        ]


def _plan_of(agent: Participant) -> Plan | None:
    """Return the plan by which an agent takes part in tasks: see `World.constraints`."""
    if agent.unmet is not None:
        return Plan((), agent.unmet)
    return agent.plan.plan if agent.plan is not None else None


def _change(state: TaskState) -> ConstraintChange:
    """Return the event of a state; it is made at every step, so its fields are named and not searched for."""
    return ConstraintChange(
        state.task.plain(),
        threshold=state.threshold,
        spatial=state.spatial,
        temporal=state.temporal,
        participation=state.participation,
        joint=state.joint,
        dependency=state.dependency,
        literal=state.literal or (state.threshold, state.spatial, state.threshold * state.dependency),
        weights=state.weights,
    )


UNNAMED = "something else than agents"
"""What stands before a task whose dependency does not hold, where the world does not say what."""


class Feedback:
    """Lists the open tasks that turns show and messages carry, evaluated only when one of them asks.

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

    def shown(self, turn: Turn, known: Sequence[Message], first: int) -> tuple[OpenTask, ...]:
        """Return the one list of tasks that a turn shows: in two of them, the values of a task could differ.

        Who acts on a directive acts on what came with it. What came with messages of earlier conversations is out of
        date, and so is to its sender what a message has carried.

        Args:
            turn: the turn.
            known: messages that its holder has read or sent, oldest first.
            first: number of the first message of this conversation.
        """
        for message in reversed(known):
            if message.id < first:
                break
            if message.sender != turn.agent and message.constraints:
                return message.constraints
        return self.now() if turn.feedback else ()

    def carried(self, turn: Turn, draft: Draft) -> tuple[OpenTask, ...]:
        """Return the tasks that a message of a turn carries: as they are now, and all that it names."""
        carries = turn.feedback and turn.role
        return self.now(f"{draft.content} {draft.task or ''}") if carries else ()

    def now(self, text: str = "") -> tuple[OpenTask, ...]:
        """Return the tasks that matter in the state as it is; those who ask at one instant get the same answer.

        Args:
            text: of a message that they are attached to, which may name more of them.
        """
        live = [agent.plan for agent in self._team.agents]
        asked = self._team.now.t, [plan.id if plan is not None else None for plan in live], text
        if asked != self._of:
            plans = [plan.plan if plan is not None else None for plan in live]
            listed = self._world.open_tasks(plans, text)
            if listed is None:
                return tuple(open_task(state) for state in self._constraints.states)
            self._listed, self._of = tuple(listed), asked
        return self._listed


def open_task(state: TaskState) -> OpenTask:
    """Return what the numbers of a task tell of what it is missing: no names."""
    needs = fewest(state.threshold, state.weights)
    more = fewest(max(0, state.threshold - state.spatial), state.weights)
    before = (UNNAMED,) if Constraint.DEPENDENCY in missing(state) else ()
    return OpenTask(state.task, needs, more, before=before)
