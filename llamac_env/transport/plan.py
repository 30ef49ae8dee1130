"""Joint plans: what every agent does in each step, and what comes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llamac_env.transport.board import Board, BoxMove

JointMove = Mapping[int, BoxMove]
"""Moves by agent; agents without one do nothing."""

JointPlan = tuple[JointMove, ...]
"""A joint move for each step."""


class Broken(ValueError):
    """A plan of which something fails."""


def replay(board: Board, plan: Sequence[JointMove]) -> Board:
    """Carry out a plan.

    Returns:
        The board after its last step.

    Raises:
        Broken: a move is refused or fails, or boxes collide; the message names the step.
    """
    for number, joint in enumerate(plan):
        step = board.after(joint)
        if step.failed or step.collisions:
            raise Broken(f"step {number}: {dict(step.failed)} fail, collisions at {step.collisions}")
        board = step.board
    return board


def achieves(board: Board, plan: Sequence[JointMove]) -> bool:
    """Whether a plan places every box with its last step and not before, and nothing in it fails."""
    try:
        return not replay(board, plan).boxes and (not plan or bool(replay(board, plan[:-1]).boxes))
    except Broken:
        return False
