"""What the simulated speaker does in CUBE as long as it has heard nobody: it goes by what it sees, and never waits."""

from __future__ import annotations

from collections import Counter

from cube_env import SymbolicBlock, SymbolicObservation
from maeil.mind import View
from maeil.plans import PlanStatus
from quorum.agents.skills.cube.knowledge import clear, seen
from quorum.agents.skills.cube.routes import way

_IN_VAIN = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)


def lone_choice(view: View, observation: SymbolicObservation) -> SymbolicBlock:
    """Return the block that one takes who knows nothing of what the others are going to do.

    That is the nearest of those with a clear way at which fewer agents stand than it weighs. Two who are near the same
    block both take it. After a plan that came to nothing it is the block at which most stand, itself among them, and of
    several the nearest to the goal: all who give up choose alike, so that they meet in the end.
    """
    stand = seen(observation)
    there = Counter(stand.values())
    others = Counter(block for agent, block in stand.items() if agent != view.agent)
    short = [block for block in clear(observation) if others[block.id] < block.weight] or clear(observation)
    if view.outcomes and view.outcomes[-1].status in _IN_VAIN:
        return min(short, key=lambda block: (-there[block.id], block.distance, block.id))
    cell = observation.agents[view.agent]
    return min(short, key=lambda block: (way(cell, block), block.id))
