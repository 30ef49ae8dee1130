"""Drawings of the board, complete and as one participant sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cube_env.constants import DISPLACEMENT, Action, Cell, PushOutcome
from cube_env.state import Push, Snapshot
from quorum_base.drawing import PAPER, Canvas, Depiction, Drawing, Mark, MarkKind, Rotation, Shape, Texture
from quorum_base.environments.arguments import agent_name

if TYPE_CHECKING:
    from cube_env.symbolic.shown import ShownObservation

_GOAL, _BLOCK, _AGENT, _PUSH, _FAILED = range(5)
KINDS = (
    MarkKind("goal", "#cfe6d4", "#24402d", texture=Texture.STRIPES),
    MarkKind("block", "#e69f00", "#c98a00"),
    MarkKind("agent", "#0072b2", "#56b4e9", Shape.DISC),
    MarkKind("push that moved its block", "#1d1d1f", "#ececf0", Shape.WEDGE),
    MarkKind("push that failed", "#d55e00", "#ff8c3a", Shape.DIAMOND),
)
"""Colours from Okabe and Ito (2008)."""
_WEDGE = 0.44
"""Length of a push mark."""
_TURNS = {Action.UP: Rotation.UP, Action.DOWN: Rotation.DOWN, Action.LEFT: Rotation.LEFT, Action.RIGHT: Rotation.RIGHT}
_MOVED = (PushOutcome.moved, PushOutcome.delivered)


def canvas(side: int) -> Canvas:
    """Return the frame of a board."""
    return Canvas(side, side, KINDS)


def draw(snapshot: Snapshot, pushes: Iterable[Push]) -> Drawing:
    """Draw a board: a block shows its id, and its side is its weight.

    Args:
        snapshot: the positions of agents and blocks.
        pushes: the attempts of the step that led to the snapshot; each is marked in front of the agents that pushed.
    """
    marks = {f"block_{block.id}": mark_block(block.id, block.weight, block.row, block.col) for block in snapshot.blocks}
    for agent, cell in enumerate(snapshot.agents):
        marks[f"agent_{agent}"] = mark_agent(agent, cell)
    for push in pushes:
        down, right = DISPLACEMENT[push.direction]
        moved = push.outcome in _MOVED
        for agent in push.agents:
            row, col = snapshot.agents[agent]
            marks[f"push of {agent}"] = Mark(
                _PUSH if moved else _FAILED,
                col + 0.5 + 0.5 * right - _WEDGE / 2,
                row + 0.5 + 0.5 * down - _WEDGE / 2,
                _WEDGE,
                _WEDGE,
                title=f"agent_{agent} pushes block_{push.block}: {push.outcome.name}",
                turn=_TURNS[push.direction],
            )
    return Drawing(ground(snapshot.side), marks)


def image(snapshot: Snapshot, pushes: Iterable[Push] = ()) -> npt.NDArray[np.uint8]:
    """Paint the drawing of `draw`, uint8 `(height, width, 3)`."""
    from quorum_base.painting.board import board_image  # noqa: PLC0415 (imaging libraries take long to import)

    return board_image(canvas(snapshot.side), draw(snapshot, pushes))


def ground(side: int) -> bytes:
    """Draw the ground of a board, with the goal in the last column."""
    return (bytes([PAPER]) * (side - 1) + bytes([_GOAL])) * side


def mark_block(identity: int, weight: int, row: int, col: int) -> Mark:
    """Mark a block: it shows its id, and its side is its weight."""
    return Mark(_BLOCK, col, row, weight, weight, label=f"b{identity}", title=f"block_{identity}, weight {weight}")


def mark_agent(agent: int, cell: Cell) -> Mark:
    """Mark an agent."""
    row, col = cell
    return Mark(_AGENT, col, row, label=str(agent), title=f"agent_{agent}", agent=agent)


LEGEND = (
    "Rows are numbered along both sides, columns above and below, as in actions. A blue disc is the agent with its "
    "number; an orange square is a block with its id (b3 is block 3), as wide and high as its weight; the hatched "
    "column is the goal."
)
"""Legend of the picture."""


def depict(seen: ShownObservation) -> Depiction:
    """Draw an observation: the blocks, and the agents that the prompt shows.

    The observer is not marked, so the picture of a step is the same for the whole team.

    Args:
        seen: the observation.
    """
    marks = {f"block_{b.id}": mark_block(b.id, b.weight, b.row, b.col) for b in seen.blocks}
    marks |= {agent_name(agent): mark_agent(agent, seen.agents[agent]) for agent in seen.shown_agents()}
    return Depiction(canvas(seen.side), Drawing(ground(seen.side), marks), lines=(_words(seen),), legend=LEGEND)


def _words(seen: ShownObservation) -> str:
    left = f"Step {seen.step} of {seen.max_steps}. Blocks left: {len(seen.blocks)}."
    hidden = len(seen.agents) - len(seen.shown_agents())
    return f"{left} Agents that are not shown: {hidden}." if hidden else left
