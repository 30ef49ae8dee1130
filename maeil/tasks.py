"""What a world reports of its cooperative tasks: their constraints, attempts at them, and who is capable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from math import ceil
from typing import Any

from maeil.plans import Task

Tasks = Mapping[str, Sequence[str]]
"""What plans may be for: the targets of each kind of task."""

NAMED = 2
"""Tasks of each kind that a refusal names, at most."""


def no_such_task(task: Task, tasks: Tasks) -> str:
    """Return why a plan for a task that does not exist is refused, with some of those that do."""
    few = [str(Task(kind, target)) for kind, targets in tasks.items() for target in targets[:NAMED]]
    return f"there is no task {task}; there are, for example, {', '.join(few)}" if few else f"there is no task {task}"


class Constraint(StrEnum):
    """What a task needs of the agents and of the world; `TaskState` has a field of the name of each."""

    SPATIAL = "spatial"
    TEMPORAL = "temporal"
    PARTICIPATION = "participation"
    DEPENDENCY = "dependency"
    JOINT = "joint"


def fewest(threshold: float, weights: Sequence[float] | None) -> int:
    """Return the fewest agents that reach a threshold together; one more than there are, where all do not.

    Args:
        threshold: p, a number of agents, or a sum of weights.
        weights: of each agent; None where each counts for 1.
    """
    if weights is None:
        return ceil(threshold)
    heaviest = accumulate(sorted(weights, reverse=True))
    return next((count for count, total in enumerate(heaviest, 1) if total >= threshold), len(weights) + 1)


@dataclass(frozen=True, slots=True)
class TaskState:
    """The cooperation constraints of one task (EmCoop, arXiv 2603.00349, section on cooperative constraints).

    Where agents count for different amounts, as by their levels in level-based foraging, `weights` has that of each,
    and the threshold and all counts of agents are sums of weights.

    Attributes:
        task: the task.
        threshold: p, how many agents it takes.
        spatial: number of agents that are in place.
        temporal: number of agents whose action of this step works on it.
        participation: number of agents that are involved in it: their live plan serves it, or they act on it.
        joint: number of agents that are in place, act on it and are able to.
        dependency: whether everything else that it needs holds, such as a tool for each of p agents.
        literal: threshold and spatial by EmCoop's literal definition, and of the threshold as many agents as its
            dependency allows (the holders of a tool; all where it depends on nothing). None where threshold and spatial
            are those above, and all or none can.
        weights: what each agent counts for, by index; None where each counts for 1.
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
    """A task that matters now, as feedback shows it: who is there, and what is missing by name.

    A `TaskState` counts under the joint action of a step, for the record. This is what somebody can act on who plans,
    while the world stands still. Agents are indices, ascending.

    Attributes:
        task: the task.
        needs: p, how many agents it takes at the same time, as things stand: what else it meets later is not counted.
        more: how many more of those who are able have to come in place.
        in_place: who is in place; None where the world does not say who.
        able: who is able to take part; None for everybody.
        planned: whose live plan serves it.
        missing: what those who would do it lack, by name, and how much of it.
        before: what stands before it, by name: what is in its way, or the tasks that have to be done first.
    """

    task: Task
    needs: int
    more: int
    in_place: tuple[int, ...] | None = None
    able: tuple[int, ...] | None = None
    planned: tuple[int, ...] = ()
    missing: tuple[tuple[str, int], ...] = ()
    before: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """Return it JSON-ready, without what there is nothing to say about."""
        found = {
            "task": self.task.plain(),
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
        agents: who took part, ascending.
        succeeded: whether it came off.
        unmet: whether it never came to a primitive: the loop makes these of `maeil.world.ActionEnd.unmet`.
    """

    task: Task
    agents: tuple[int, ...]
    succeeded: bool
    unmet: bool = False


@dataclass(frozen=True, slots=True)
class CapabilityChange:
    """An agent has gained or lost what it needs to take part in tasks (a tool, say)."""

    agent: int
    capability: str
    gained: bool
