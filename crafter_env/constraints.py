"""The cooperation constraints of the tasks of a world (EmCoop, cooperative constraints, instance MA-Crafter).

A task is a cell of one of the five resources that score (tree, stone, coal, iron, diamond). It is active while a living
agent has it in view. Under a joint action, a task has these numbers:

- threshold p: the number of capable agents required by the level;
- spatial: living agents within the radius of the collect rule;
- temporal: living agents whose `do` works on it: it would act on this cell, or its symbolic action names this cell and
  is out of reach of it;
- participation: living agents whose live plan works at this cell, plus those of temporal;
- dependency: p living agents hold the required tool, wherever they are;
- joint: living agents that are in place, work on it and hold the tool: `joint >= p` is the collection rule.

EmCoop's formula requires capability of p agents, both as a condition of each participant and as the dependency. Here it
is only the dependency, as EmCoop's public code counts it, so that too few agents and too few tools are two separate
causes. A task that is collected, or no longer in any agent's view, is reported once more with threshold 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from crafter_env.kernels.arrays import IntArray
from crafter_env.kernels.constraints import NUMBERS, aim_all, task_changes
from crafter_env.state import CrafterState


class CellConstraints(NamedTuple):
    """The numbers of one task; see the module docstring."""

    cell: int
    material: int
    threshold: int
    spatial: int
    temporal: int
    participation: int
    joint: int
    able: int
    """Living agents that hold the tool, wherever they are; the threshold if no tool is required."""


class ConstraintWatch:
    """Tracks the tasks of one episode and reports which have changed.

    Args:
        state: the world.
        rules: see `rules.encode_rules`.
    """

    def __init__(self, state: CrafterState, rules: IntArray) -> None:
        self._state = state
        self._rules = rules
        width, height = state.size
        cells, agents = width * height, len(state.positions)
        self._numbers = np.zeros((cells, NUMBERS), dtype=np.int64)
        self._followed = tuple(np.zeros(length, dtype=np.int64) for length in (cells, cells, 2))
        self._changed = np.zeros(2 * cells, dtype=np.int64)
        self._aims = np.zeros(agents, dtype=np.int64)

    def changes(self, joint: IntArray, named: IntArray, served: IntArray) -> list[CellConstraints]:
        """Return the tasks whose numbers have changed since the last call; the first call returns all.

        Args:
            joint: (n,) the primitives about to be taken.
            named: (n,) the cell (x * height + y) that each agent's symbolic action collects; -1 for none.
            served: (n,) the cell that each agent's live plan works at; -1 for none.
        """
        w = self._state.world
        aim_all(joint, self._rules, self._aims, *w)
        numbers = self._numbers
        found = task_changes(
            numbers, self._changed, *self._followed,
            w.materials, w.objects, w.agents, self._rules, joint, named, served, self._aims,
        )  # fmt: skip
        if not found:
            return []
        cells = self._changed[:found]
        return [
            CellConstraints(cell, *counts) for cell, counts in zip(cells.tolist(), numbers[cells].tolist(), strict=True)
        ]


def aimed_cells(state: CrafterState, joint: IntArray, rules: IntArray) -> IntArray:
    """Return the target of each agent's `do`, (n,); see `kernels.grid.aim_of`."""
    aims = np.empty(len(joint), dtype=np.int64)
    aim_all(joint, rules, aims, *state.world)
    return aims
