"""Tracks the cooperation constraints of all tasks as reported by a world, and selects open tasks for feedback.

Source: EmCoop (arXiv 2603.00349); the feedback is that of RQ3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maeil.acting import Primitive
from maeil.contracts import check_items, name_of
from maeil.errors import ContractError
from maeil.messages import Message
from maeil.mind import Turn
from maeil.plans import Plan, Task
from maeil.tasks import Attempt, Constraint, OpenTask, TaskState, fewest
from maeil.team import Participant, Team
from maeil.trace.events import ConstraintChange
from maeil.world import World


def missing(state: TaskState) -> tuple[Constraint, ...]:
    """Return the constraints that a task's state violates; the first one is the cause of a failed attempt.

    An agent that acts on a task also takes part in it, so an agent missing from participation is missing from the
    temporal constraint too. Hence the order of causes: prerequisites, committed agents, their position, their timing.
    `JOINT` comes alone: each other constraint has enough agents, but too few agents satisfy all of them.
    """
    counted = (Constraint.PARTICIPATION, Constraint.SPATIAL, Constraint.TEMPORAL)
    found = [] if state.dependency else [Constraint.DEPENDENCY]
    found += [constraint for constraint in counted if getattr(state, constraint) < state.threshold]
    return tuple(found) or ((Constraint.JOINT,) if state.joint < state.threshold else ())


class ConstraintTracker:
    """Records the changes of all tasks, and determines the missing constraints of failed attempts.

    Args:
        world: reports the states of its tasks.
        team: records the changes.
        states: states that the world has already reported.
    """

    def __init__(self, world: World, team: Team, states: Mapping[Task, TaskState] | None = None) -> None:
        self._world = world
        self._team = team
        self._states: dict[Task, TaskState] = dict(states or {})

    @property
    def states(self) -> tuple[TaskState, ...]:
        """The states of active tasks under the joint action of the last step; empty before the first step."""
        return tuple(self._states.values())

    def before_step(self, joint: Sequence[Primitive]) -> None:
        """Update the states for the coming joint action. An agent with an unmet attempt counts for that task."""
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
        """Add the agents' unmet attempts to the attempts of a step, and clear them.

        Tasks that are over, or succeeded in this step, are left out. Each agent has at most one unmet task per step:
        the last one.
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
        """Return the attempts of the step as records, each failed one with its missing constraints.

        Raises:
            ContractError: an attempt failed at a task without reported constraints.
        """
        for attempt in attempts:
            if not attempt.succeeded and attempt.task not in self._states:
                raise ContractError(
                    f"{name_of(self._world.constraints)}() did not report the task {attempt.task} before an attempt at "
                    "it failed; it must report every active task before the step",
                    self._world.constraints,
                )
        return [
            {
                "task": attempt.task.to_json(),
                "agents": attempt.agents,
                "succeeded": attempt.succeeded,
                "missing": () if attempt.succeeded else missing(self._states[attempt.task]),
                "unmet": attempt.unmet,
            }
            for attempt in attempts
        ]


def _plan_of(agent: Participant) -> Plan | None:
    """Return the plan that counts for an agent's participation in tasks: see `World.constraints`."""
    if agent.unmet is not None:
        return Plan((), agent.unmet)
    return agent.plan.plan if agent.plan is not None else None


def _change(state: TaskState) -> ConstraintChange:
    """Return the event for a state. It names each field, since a generic copy is too slow for every step."""
    return ConstraintChange(
        state.task.to_json(),
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
"""Stands for an unmet dependency that the world does not name."""


class Feedback:
    """Provides the open tasks for turns and messages, computed on demand.

    Args:
        world: lists the open tasks, or only reports counts.
        team: provides the current plans.
        constraints: the counts of the last step, for a world that does not list open tasks.
    """

    def __init__(self, world: World, team: Team, constraints: ConstraintTracker) -> None:
        self._world = world
        self._team = team
        self._constraints = constraints
        self._listed: tuple[OpenTask, ...] = ()
        self._of: object = None

    def forget(self) -> None:
        """Discard the cached list, because the world has changed within an instant."""
        self._of = None

    def shown(self, turn: Turn, known: Sequence[Message], first: int) -> tuple[OpenTask, ...]:
        """Return the open tasks to show in a turn, always from one source, since two lists could contradict each other.

        The last message with tasks from another participant takes precedence, so that agents act on the tasks that came
        with a directive. Tasks from earlier conversations are out of date, as are those in the participant's own
        messages.

        Args:
            turn: the turn.
            known: messages that the participant has read or sent, oldest first.
            first: number of the first message of this conversation.
        """
        for message in reversed(known):
            if message.id < first:
                break
            if message.sender != turn.agent and message.constraints:
                return message.constraints
        return self.now() if turn.feedback else ()

    def now(self, text: str = "") -> tuple[OpenTask, ...]:
        """Return the current open tasks, cached while time, plans and text stay the same.

        Args:
            text: text of the message to which the tasks are attached; any other tasks that it names are added.
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
    """Return an open task derived from the counts of a task's state, without names of missing items."""
    needs = fewest(state.threshold, state.weights)
    more = fewest(max(0, state.threshold - state.spatial), state.weights)
    before = (UNNAMED,) if Constraint.DEPENDENCY in missing(state) else ()
    return OpenTask(state.task, needs, more, before=before)
