"""The board as an agent observes it, for a picture."""

from __future__ import annotations

from cube_env.symbolic.picture import canvas, ground, mark_agent, mark_block
from cube_env.symbolic.shown import ShownObservation
from maeil.drawing import Depiction, Drawing
from maeil.environments.parallel import agent_name

LEGEND = (
    "Rows are numbered along both sides, columns above and below, as in actions. A blue disc is the agent with its "
    "number; an orange square is a block with its id (b3 is block 3), as wide and high as its weight; the hatched "
    "column is the goal."
)
"""How the picture is read."""


def depict(seen: ShownObservation) -> Depiction:
    """Draw an observation: the blocks, and the agents that a prompt tells of.

    Who observes is not marked, so that the picture of a step is the same for a whole team.

    Args:
        seen: what is observed.
    """
    marks = {f"block_{b.id}": mark_block(b.id, b.weight, b.row, b.col) for b in seen.blocks}
    marks |= {agent_name(agent): mark_agent(agent, seen.agents[agent]) for agent in seen.told_agents()}
    return Depiction(canvas(seen.side), Drawing(ground(seen.side), marks), lines=(_words(seen),), legend=LEGEND)


def _words(seen: ShownObservation) -> str:
    left = f"Step {seen.step} of {seen.max_steps}. Blocks left: {len(seen.blocks)}."
    hidden = len(seen.agents) - len(seen.told_agents())
    return f"{left} Agents that are not shown: {hidden}." if hidden else left
