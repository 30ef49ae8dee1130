"""What the rule-based minds for grid transportation share: plans of one step."""

from __future__ import annotations

from llamac_env import BoxMove, BoxName, Grid, Move, Wait, write_destination
from maeil.plans import Plan, Task


def one_step(grid: Grid, agent: int, move: BoxMove | None, rationale: str) -> Plan:
    """The plan of an agent that makes one move, or waits for a step.

    Args:
        grid: the cells.
        agent: its index.
        move: the move; None to wait.
        rationale: why.
    """
    if move is None:
        return Plan((Wait(),), None, rationale)
    box = BoxName(f"box_{move.colour}")
    return Plan((Move(box=box, to=write_destination(grid, agent, move)),), Task("place", box.value), rationale)
