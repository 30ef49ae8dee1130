"""What the rule-based minds for CUBE share: how far a block is, and the plan that delivers it."""

from __future__ import annotations

from cube_env import Face, MoveToBlock, PushBlock, Rendezvous, SymbolicBlock
from maeil.plans import Plan, Task


def way(cell: tuple[int, int], block: SymbolicBlock) -> int:
    """Manhattan distance from a cell to the nearest cell of a block's left face."""
    row, col = cell
    nearest = min(max(row, block.row), block.row + block.weight - 1)
    return abs(row - nearest) + abs(col - (block.col - 1))


def delivery(block: SymbolicBlock, rationale: str, patience: int | None = None, count: int | None = None) -> Plan:
    """The plan of one agent of a team that pushes a block to the goal: go to its left face, meet the others, push.

    Args:
        block: the block.
        rationale: why this one.
        patience: steps to wait for the others; None: as long as the world's default.
        count: agents to wait for, oneself among them; None: as many as the block weighs.
    """
    return Plan(
        (
            MoveToBlock(block=block.id, face=Face.left),
            Rendezvous(block=block.id, face=Face.left, count=count or block.weight, timeout=patience),
            PushBlock(block=block.id, steps=block.distance),
        ),
        Task("deliver", f"block_{block.id}"),
        rationale,
    )
