"""Drawings of the board, complete and as one participant sees it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from cube_env.constants import DISPLACEMENT, PushOutcome
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
_MOVED = (PushOutcome.moved, PushOutcome.delivered)


def canvas(side: int) -> Canvas:
    """Return the frame of a board."""
    return Canvas(side, side, KINDS)


def draw(board: Snapshot | ShownObservation, agents: Iterable[int], pushes: Iterable[Push] = ()) -> Drawing:
    """Draw a board: a block shows its id, and its side is its weight.

    Args:
        board: the positions of agents and blocks.
        agents: the agents to draw.
        pushes: the attempts of the step that led to the board; each is marked in front of the agents that pushed.
    """
    marks = {
        f"block_{b.id}": Mark(
            _BLOCK, b.col, b.row, b.weight, b.weight, label=f"b{b.id}", title=f"block_{b.id}, weight {b.weight}"
        )
        for b in board.blocks
    }
    for agent in agents:
        row, col = board.agents[agent]
        name = agent_name(agent)
        marks[name] = Mark(_AGENT, col, row, label=str(agent), title=name, agent=agent)
    for push in pushes:
        down, right = DISPLACEMENT[push.direction]
        moved = push.outcome in _MOVED
        for agent in push.agents:
            row, col = board.agents[agent]
            marks[f"push of {agent}"] = Mark(
                _PUSH if moved else _FAILED,
                col + 0.5 + 0.5 * right - _WEDGE / 2,
                row + 0.5 + 0.5 * down - _WEDGE / 2,
                _WEDGE,
                _WEDGE,
                title=f"agent_{agent} pushes block_{push.block}: {push.outcome.name}",
                turn=Rotation[push.direction.name],
            )
    return Drawing((bytes([PAPER]) * (board.side - 1) + bytes([_GOAL])) * board.side, marks)


def image(snapshot: Snapshot, pushes: Iterable[Push] = ()) -> npt.NDArray[np.uint8]:
    """Paint the drawing of `draw`, uint8 `(height, width, 3)`."""
    from quorum_base.painting.board import board_image  # noqa: PLC0415 (imaging libraries take long to import)

    return board_image(canvas(snapshot.side), draw(snapshot, range(len(snapshot.agents)), pushes))


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
    agents = seen.shown_agents()
    words = f"Step {seen.step} of {seen.max_steps}. Blocks left: {len(seen.blocks)}."
    if hidden := len(seen.agents) - len(agents):
        words += f" Agents that are not shown: {hidden}."
    return Depiction(canvas(seen.side), draw(seen, agents), lines=(words,), legend=LEGEND)
