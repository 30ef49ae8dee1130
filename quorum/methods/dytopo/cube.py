"""Rule-based offers and needs of CUBE agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cube_env import SymbolicObservation
from maeil.mind import View
from quorum.agents.skills.cube.negotiator import recall
from quorum.agents.skills.cube.plans import clear, way

OFFERED = 2
"""Number of nearest blocks that an agent offers to push."""


def describe(view: View) -> Mapping[str, Mapping[str, Any]]:
    """Offer to push the nearest blocks; ask for help at the agent's wanted block, and who else will push it."""
    observation = view.observation
    assert isinstance(observation, SymbolicObservation)
    known, cell = recall(view, observation), observation.cell
    assert cell is not None
    ranked = sorted(clear(observation), key=lambda block: (known.failures[block.id], way(cell, block), block.id))
    wished = known.wishes.get(view.agent)
    wanted = next((block for block in ranked if block.id == wished), ranked[0])
    offered = [wanted, *(block for block in ranked if block is not wanted)][:OFFERED]
    names = tuple(f"block_{block.id}" for block in offered)
    text = f"I can push {' or '.join(names)}; {names[0]} is {way(cell, wanted)} steps away."
    hands = f"{names[0]} takes {wanted.weight - 1} more to push. " if wanted.weight > 1 else ""
    return {
        "offers": {"text": text, "tasks": names},
        "needs": {"text": f"{hands}Who else can push {names[0]}?", "tasks": names[:1]},
    }
