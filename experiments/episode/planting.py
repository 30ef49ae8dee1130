"""Finds the fault of a cell with `fault=one`: one that makes its episode fail, which without it would succeed.

The episode is played in memory, first without a fault, then with one fault after the other, until one makes it fail
within its steps. Everything that decides is seeded, and the fault is the only difference. So its correction turns
failure into success, which is what Who&When (arXiv 2505.00212, section 3) calls the decisive error.

Any fresh mind of the cell's configuration is the clean reference: `build_team` knows nothing of faults, they are put
around minds by `seated` afterwards.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from maeil import Mind, TeamContext
from maeil.mind import COORDINATOR, Thought, View
from maeil.plans import Plan
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.fault import FaultKind
from quorum.experiments.episode.fault import Fault, Label
from quorum.experiments.episode.faulty import Faulty
from quorum.experiments.episode.parts import Parts, build
from quorum.experiments.episode.team import Team

Seated = Callable[[Team, TeamContext], Team]
"""Returns who takes part, of a team and what it was built for."""

Ending = Callable[[Parts], Awaitable[tuple[bool, int]]]
"""Plays an episode of built parts in memory; returns whether the world was finished, and after how many steps."""

_SPEAKING = (FaultKind.WITHHELD, FaultKind.FALSE_MESSAGE)


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn of the episode without a fault.

    Attributes:
        agent: name of whose turn it was.
        t: environment step.
        t_hat: cognitive time at which the thought began.
        plans: whether a plan was committed in it.
        speaks: whether something was said in it.
    """

    agent: str
    t: int
    t_hat: int | float
    plans: bool
    speaks: bool


class _Noted:
    """Thinks as its mind does, and notes what could go wrong in each turn."""

    def __init__(self, mind: Mind, turns: list[_Turn]) -> None:
        self._mind = mind
        self._turns = turns

    async def think(self, view: View) -> Thought:
        thought = await self._mind.think(view)
        plans = isinstance(thought.decision, Plan)
        self._turns.append(_Turn(view.name, view.t, view.t_hat, plans, bool(thought.messages)))
        return thought


def seated(fault: Fault | None) -> Seated:
    """Return what puts a fault around the mind of whoever does it; None: around nobody's."""

    def seat(team: Team, context: TeamContext) -> Team:
        if fault is None:
            return team
        index = participants(context).index(fault.agent)
        minds = list(team.minds)
        minds[index] = Faulty(minds[index], fault, context.world)
        return replace(team, minds=minds)

    return seat


def participants(context: TeamContext) -> Sequence[str]:
    """Return the names of all participants, the agents by index and then the coordinator if any."""
    return (*context.world.agents, *([COORDINATOR] if context.topology.coordinated else []))


async def plant(cell: Cell, models: Callable[[], Callable[[str], Any]], ending: Ending) -> Label:
    """Find the fault of a cell.

    Args:
        cell: with `fault=one`.
        models: returns, for one episode, what gives participants their language models.
        ending: plays it.

    Raises:
        UserError: the components cannot be built.
    """
    config = cell.configuration.fault
    assert config is not None
    turns: list[_Turn] = []

    def noted(team: Team, _context: TeamContext) -> Team:
        return replace(team, minds=[_Noted(mind, turns) for mind in team.minds])

    finished, steps = await ending(build(cell, models(), seated=noted))
    if not finished:
        return Label(None, f"without a fault it does not succeed within {cell.configuration.max_steps} steps", steps, 0)
    rng = cell.configuration.seeds.child("fault").generator()
    tries = 0
    for fault in _drawn(turns, config.kinds, config.delay, rng):
        if tries == config.tries:
            break
        tries += 1
        parts = build(cell, models(), seated=seated(fault))
        finished, _ = await ending(parts)
        done = [mind.done for mind in parts.team if isinstance(mind, Faulty)]
        if not finished and done == [(fault.t, fault.t_hat)]:
            return Label(fault, "", steps, tries)
    return Label(None, f"none of {tries} faults makes it fail", steps, tries)


def _drawn(turns: Sequence[_Turn], kinds: Sequence[FaultKind], delay: int, rng: np.random.Generator) -> Iterator[Fault]:
    """Draw faults, none twice: a kind, then a step, then a turn of that step in which it can be done.

    Each kind is as likely as the others, and so is each step that has such a turn. Teams take most of their turns in
    the first step; if turns were drawn alone, whoever always names that step would be right too often.
    """
    left = {kind: [turn for turn in turns if (turn.speaks if kind in _SPEAKING else turn.plans)] for kind in kinds}
    while possible := [kind for kind in kinds if left[kind]]:
        kind = possible[int(rng.integers(len(possible)))]
        steps = sorted({turn.t for turn in left[kind]})
        step = steps[int(rng.integers(len(steps)))]
        beside = [turn for turn in left[kind] if turn.t == step]
        turn = beside[int(rng.integers(len(beside)))]
        left[kind].remove(turn)
        yield Fault(turn.agent, turn.t, turn.t_hat, kind, int(rng.integers(2**31)), delay)
