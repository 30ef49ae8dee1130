"""A world's reports on its cooperative tasks: constraints, attempts, and changes of capabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from math import ceil
from typing import Any

from maeil.plans import Task

Tasks = Mapping[str, Sequence[str]]
"""The tasks that plans may serve: the targets of each kind of task."""

NAMED = 2
"""Maximum number of tasks of each kind in the message of a refusal."""


def no_such_task(task: Task, tasks: Tasks) -> str:
    """Return the reason for refusing a plan for an unknown task, with examples of existing tasks."""
    few = [str(Task(kind, target)) for kind, targets in tasks.items() for target in targets[:NAMED]]
    return f"there is no task {task}; there are, for example, {', '.join(few)}" if few else f"there is no task {task}"


class Constraint(StrEnum):
    """A kind of constraint of a cooperative task. `TaskState` has a field with the name of each."""

    SPATIAL = "spatial"
    TEMPORAL = "temporal"
    PARTICIPATION = "participation"
    DEPENDENCY = "dependency"
    JOINT = "joint"


def fewest(threshold: float, weights: Sequence[float] | None) -> int:
    """Return the smallest number of agents that reach a threshold together; if all do not, one more than all.

    Args:
        threshold: p, a number of agents, or a sum of weights.
        weights: weight of each agent; None if each counts as 1.
    """
    if weights is None:
        return ceil(threshold)
    heaviest = accumulate(sorted(weights, reverse=True))
    return next((count for count, total in enumerate(heaviest, 1) if total >= threshold), len(weights) + 1)


@dataclass(frozen=True, slots=True)
class TaskState:
    """The cooperation constraints of one task (EmCoop, arXiv 2603.00349, section on cooperative constraints).

    If agents have different weights, such as their levels in level-based foraging, `weights` contains them, and the
    threshold and all counts of agents are sums of weights.

    Attributes:
        task: the task.
        threshold: p, the number of agents that it takes.
        spatial: number of agents in place.
        temporal: number of agents whose action in this step works on it.
        participation: number of agents involved: their live plan serves it, or they act on it.
        joint: number of agents that are in place, act on it and are able to.
        dependency: whether all its prerequisites hold, such as a tool for each of p agents.
        literal: threshold and spatial by EmCoop's literal definition, and how many of the threshold's agents its
            dependency allows (the holders of a tool; all if there is no dependency). None if threshold and spatial
            are the same as above, and the dependency allows all agents or none.
        weights: weight of each agent, by index; None if each counts as 1.
    """

    task: Task
    threshold: float
    spatial: float
    temporal: float
    participation: float
    joint: float
    dependency: bool
    literal: tuple[float, float, float] | None = None
    weights: tuple[float, ...] | None = None


@dataclass(frozen=True, slots=True)
class OpenTask:
    """An open task in feedback: the agents involved, and what is missing, by name.

    A `TaskState` holds counts under the joint action of a step, for the trace. An `OpenTask` is for planning, while the
    world is paused. Agents are indices, ascending.

    Attributes:
        task: the task.
        needs: p, the number of agents that it takes at the same time in the current state, without obstacles that it
            will meet later.
        more: how many more able agents have to get in place.
        in_place: the agents in place; None if the world does not report them.
        able: the agents that are able to take part; None for all.
        planned: the agents with a live plan for it.
        missing: what its agents lack, by name, with amounts.
        before: names of obstacles to remove first, or of tasks to do first.
    """

    task: Task
    needs: int
    more: int
    in_place: tuple[int, ...] | None = None
    able: tuple[int, ...] | None = None
    planned: tuple[int, ...] = ()
    missing: tuple[tuple[str, int], ...] = ()
    before: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the open task as JSON-ready data, without empty fields."""
        found = {
            "task": self.task.to_json(),
            "needs": self.needs,
            "more": self.more,
            "in_place": self.in_place,
            "able": self.able,
            "planned": self.planned or None,
            "missing": dict(self.missing) or None,
            "before": self.before or None,
        }
        return {key: value for key, value in found.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at a task in one step.

    Attributes:
        task: the task.
        agents: the agents that took part, ascending.
        succeeded: whether it succeeded.
        unmet: whether it failed before any primitive; the loop creates these from `maeil.world.ActionEnd.unmet`.
    """

    task: Task
    agents: tuple[int, ...]
    succeeded: bool
    unmet: bool = False


@dataclass(frozen=True, slots=True)
class CapabilityChange:
    """An agent has gained or lost a prerequisite for tasks, such as a tool."""

    agent: int
    capability: str
    gained: bool
