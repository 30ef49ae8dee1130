"""What a simulated speaker of CUBE says it offers and needs: blocks that it can push, and hands for the nearest one."""

from __future__ import annotations

from cube_env import SymbolicObservation
from maeil.extensions.describe.descriptors import Descriptor, Need, Offer
from maeil.mind import View
from quorum.agents.skills.cube.knowledge import Knowledge, clear
from quorum.agents.skills.cube.routes import way

OFFERED = 2
"""Blocks that an agent offers to push, the nearest."""


def describe(view: View, observation: SymbolicObservation, known: Knowledge) -> Descriptor:
    """Offer to push the nearest blocks; need hands for the one that is wanted, and to know who else comes to it."""
    cell = observation.cell
    assert cell is not None
    ranked = sorted(clear(observation), key=lambda block: (known.failures[block.id], way(cell, block), block.id))
    wished = known.wishes.get(view.agent)
    wanted = next((block for block in ranked if block.id == wished), ranked[0])
    offered = [wanted, *(block for block in ranked if block is not wanted)][:OFFERED]
    names = tuple(f"block_{block.id}" for block in offered)
    told = f"I can push {' or '.join(names)}; {names[0]} is {way(cell, wanted)} steps away."
    hands = f"{names[0]} takes {wanted.weight - 1} more to push. " if wanted.weight > 1 else ""
    return Descriptor(
        Offer(told, names, free=view.plan is None), Need(f"{hands}Who else can push {names[0]}?", names[:1])
    )
