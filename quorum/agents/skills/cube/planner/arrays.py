"""The arrays of a working team, read and written by the kernels of one step."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]

ROW, COL, WEIGHT, ALIVE = range(4)
"""Columns of a table of blocks: top-left cell, weight, and 1 while the block is present."""

STAY, UP, DOWN, LEFT, RIGHT = range(5)
"""Primitive actions."""

GATHERING, PUSHING, DONE = range(3)
"""Phases of a task."""

OPEN, LANE, STANDING, BOW, WALL = range(5)
"""Kinds of ground for walking agents. A lane is the area a moving block will sweep; agents without a task do not stay
there. Its bow is the part that an agent could not leave in time: a wall for agents outside, to be left at once by
agents inside. Cells of agents that stand on their target or push are passed only if there is no other way."""

UNREACHED = -1

CLEARANCE = 2
"""Free columns that a block keeps for the team of another block ahead that is not yet pushed."""


class Team(NamedTuple):
    """The arrays that one step reads and writes; n agents, B blocks, J tasks, a grid of side K."""

    agents: Integers
    """(n, 2): row, col."""
    blocks: Integers
    """(B, 4): row and col of the top-left cell, weight, 1 while it is present."""
    grid: Integers
    """(K, K): occupancy."""
    order: Integers
    """(J,): the block of each task, by rank."""
    members: Flags
    """(J, n): whether the agent works on the task."""
    carrier: Integers
    """(B,): rank of the task that delivers a block: its own, or one that pushes it along; -1 for none."""
    phase: Integers
    """(J,): `GATHERING`, `PUSHING` or `DONE`."""
    current: Integers
    """(n,): rank of an agent's task; J for none."""
    target: Integers
    """(n, 2): the staging cell that an agent goes to or stands on; -1 for none."""
    ground: Integers
    """(K, K): `OPEN`, `LANE`, `STANDING` (an agent that stays), `BOW` or `WALL`."""
    field: Integers
    """(n, K, K): distance to an agent's target or, for an agent in a bow, to the way out; `UNREACHED` elsewhere."""
    claimed: Flags
    """(K, K): cells that an agent enters in this step."""
    settled: Flags
    """(n,): whether an agent stands on its target."""
    waited: Integers
    """(n,): steps since an agent last stood on its target, or since its task started."""
    decided: Flags
    """(n,): whether an agent's action is decided."""
    queue: Integers
    """(K * K,): scratch space of searches."""
    seen: Flags
    """(K, K): scratch space of searches."""
    actions: Integers
    """(n,): the joint action."""
