"""The arrays of a team at work on a board, which the kernels of one step read and write."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.signedinteger[Any]]
Flags = npt.NDArray[np.bool_]

ROW, COL, WEIGHT, ALIVE = range(4)
"""Columns of a table of blocks: its top-left cell, its weight, and 1 while it is there."""

STAY, UP, DOWN, LEFT, RIGHT = range(5)
"""Primitive actions."""

GATHERING, PUSHING, DONE = range(3)
"""Phases of a task."""

OPEN, LANE, STANDING, BOW, WALL = range(5)
"""Kinds of ground for those who walk. A lane is what a moving block will sweep; nobody without a task stays there. Its
bow is the part that nobody could leave in time: a wall for those outside, to be left at once by those inside. A cell
where an agent stands on its target or pushes is gone through only when there is no other way."""

UNREACHED = -1

CLEARANCE = 2
"""Free columns that a block keeps from the team of another ahead of it that is not yet pushed."""


class Team(NamedTuple):
    """The arrays that one step reads and writes; n agents, B blocks, J tasks, a grid of side K."""

    agents: Integers
    """(n, 2): row, col."""
    blocks: Integers
    """(B, 4): row and col of the top-left cell, weight, 1 while it is there."""
    grid: Integers
    """(K, K): occupancy."""
    order: Integers
    """(J,): the block of each task, by rank."""
    members: Flags
    """(J, n): who works on it."""
    carrier: Integers
    """(B,): rank of the task that delivers a block: its own, or one that pushes it on; -1 without any."""
    phase: Integers
    """(J,): `GATHERING`, `PUSHING` or `DONE`."""
    current: Integers
    """(n,): rank of the task that an agent is in; J without any."""
    target: Integers
    """(n, 2): the staging cell that an agent goes to or stands on, -1 without any."""
    ground: Integers
    """(K, K): `OPEN`, `LANE`, `STANDING` (an agent that stays), `BOW` or `WALL`."""
    field: Integers
    """(n, K, K): distance to an agent's target, or for one in a bow to the way out of it; `UNREACHED` elsewhere."""
    claimed: Flags
    """(K, K): cells that somebody enters in this step."""
    settled: Flags
    """(n,): stands on its target."""
    waited: Integers
    """(n,): steps since an agent last stood on its target, or since its task began."""
    decided: Flags
    """(n,): has its action."""
    queue: Integers
    """(K * K,): scratch of searches."""
    seen: Flags
    """(K, K): scratch of searches."""
    actions: Integers
    """(n,): the joint action."""
