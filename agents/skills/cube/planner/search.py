"""Local search over schedules: by estimated times first, then by what rollouts really take."""

from __future__ import annotations

from collections.abc import Callable
from math import exp
from typing import Protocol, TypeVar

import numpy as np

from quorum.agents.skills.contract import Effort
from quorum.agents.skills.cube.planner.schedule import Choice, Project, Schedule

HEAT = 3.0
"""Steps by which an accepted change may well be worse at the beginning of annealing."""
MARGIN = 1.1
"""Schedules whose estimate is worse than the best known steps by this factor are not rolled out."""

PERSISTENCE = 4
"""How many times its work a search may spend while it has found no schedule that delivers everything."""


class RolloutResult(Protocol):
    """What a rollout has come to."""

    @property
    def steps(self) -> int:
        """Steps taken."""

    @property
    def value(self) -> tuple[int, int, int]:
        """The less the better; the first number is 0 when the task is done."""


_Outcome = TypeVar("_Outcome", bound=RolloutResult)


def search(
    project: Project,
    roll_out: Callable[[Schedule, int], _Outcome],
    limit: int,
    effort: Effort,
    generator: np.random.Generator,
) -> _Outcome:
    """Find a good schedule and give its rollout.

    Args:
        project: the agents and blocks.
        roll_out: carries a schedule out in at most so many steps.
        limit: steps that are left.
        effort: how long to search.
        generator: what all draws come from.
    """
    choices = [anneal(project, effort.changes, generator) for _ in range(effort.starts)]
    choice, best = choices[0], roll_out(project.schedule(choices[0]), limit)
    size = len(project.agents) * project.side**2
    work = best.steps * size
    known = {project.schedule(choice).key}
    for number in range(1, effort.rollouts):
        done = best.value[0] == 0
        if work > effort.work * (1 if done else PERSISTENCE):
            break
        candidate = choices[number] if number < len(choices) else change(choice, generator)
        schedule = project.schedule(candidate)
        if schedule.key in known or (done and schedule.cost > best.steps * MARGIN):
            continue
        known.add(schedule.key)
        found = roll_out(schedule, best.steps if done else limit)
        work += found.steps * size
        if found.value <= best.value:
            choice, best = candidate, found
    return best


def anneal(project: Project, changes: int, generator: np.random.Generator) -> Choice:
    """Find a schedule of little estimated cost by simulated annealing."""
    count = len(project.blocks)
    draws = generator.random((2, count)) < 0.5
    choice = Choice(generator.permutation(count), draws[0], draws[1])
    cost = project.schedule(choice).cost
    best, least = choice, cost
    for number in range(changes):
        candidate = change(choice, generator)
        new = project.schedule(candidate).cost
        heat = HEAT * (1 - number / changes)
        if new <= cost or generator.random() < exp((cost - new) / heat):
            choice, cost = candidate, new
            if cost < least:
                best, least = choice, cost
    return best


def change(choice: Choice, generator: np.random.Generator) -> Choice:
    """Move a block in the priority list, or turn over one of its two options."""
    new = choice.copy()
    kind, block, place = (
        generator.random(),
        generator.integers(len(new.priority)),
        generator.integers(len(new.priority)),
    )
    if kind < 0.5:
        rest = np.delete(new.priority, block)
        new.priority[:] = np.insert(rest, place, choice.priority[block])
    elif kind < 0.75:
        new.chain[block] ^= True
    else:
        new.latest[block] ^= True
    return new
