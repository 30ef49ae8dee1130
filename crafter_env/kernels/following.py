"""What of the agents has changed since the last step, as a kernel."""

from __future__ import annotations

from typing import Final

from crafter_env.constants import Item
from crafter_env.kernels.arrays import (
    ACHIEVED,
    ACHIEVEMENTS,
    ALIVE,
    INVENTORY,
    ITEMS,
    ByteArray,
    IntArray,
)  # fmt: skip
from crafter_env.kernels.jit import compiled

FIRST_CAPABILITY: Final = int(Item.wood)
"""The first of the items whose possession is a capability: all but needs and saplings."""
CAPABILITIES: Final = ITEMS - FIRST_CAPABILITY


@compiled
def note_changes(agents: IntArray, counted: IntArray, held: ByteArray, changed: IntArray) -> tuple[int, bool]:
    """Bring what is known of the agents up to date.

    Args:
        agents: see `World`.
        counted: (22,) how often the team has reached each achievement; written here.
        held: (n, 11) 1 where an agent lives and holds an item; written here.
        changed: (11 n, 3) agent, item, and 1 for gained, of each change of `held`; written here.

    Returns:
        The number of rows in `changed`, and whether `counted` has changed.
    """
    found, progressed = 0, False
    for achievement in range(ACHIEVEMENTS):
        total = 0
        for agent in range(agents.shape[0]):
            total += agents[agent, ACHIEVED + achievement]
        progressed = progressed or total != counted[achievement]
        counted[achievement] = total
    for agent in range(agents.shape[0]):
        for column in range(CAPABILITIES):
            holds = agents[agent, ALIVE] != 0 and agents[agent, INVENTORY + FIRST_CAPABILITY + column] > 0
            if holds != (held[agent, column] != 0):
                held[agent, column] = holds
                changed[found, 0], changed[found, 1], changed[found, 2] = agent, FIRST_CAPABILITY + column, holds
                found += 1
    return found, progressed
