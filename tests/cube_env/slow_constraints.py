"""The constraints of all tasks in plain Python, from the concepts; slow, for the differential test."""

from __future__ import annotations

from collections.abc import Sequence

from cube_env import Face, Snapshot, blocked, delivered, is_aligned_with_block, required_force
from cube_env.constants import PUSH_DIRECTION

Numbers = tuple[int, int, int, int, int, bool, tuple[int, int, int]]
Task = tuple[int, Face]


def slow_constraints(
    snapshot: Snapshot, blocks: int, joint: Sequence[int], pushing: Sequence[int], served: Sequence[Task | None]
) -> dict[Task, Numbers]:
    found: dict[Task, Numbers] = {}
    team = range(len(joint))
    for block in range(blocks):
        for face in Face:
            if delivered(snapshot, block):
                found[block, face] = 0, 0, 0, 0, 0, False, (0, 0, 0)
                continue
            aligned = [is_aligned_with_block(snapshot, i, block, face) for i in team]
            acts = [joint[i] == PUSH_DIRECTION[face] for i in team]
            works = [acts[i] and (aligned[i] or pushing[i] == block) for i in team]
            weight = next(b.weight for b in snapshot.blocks if b.id == block)
            found[block, face] = (
                required_force(snapshot, block, face),
                sum(aligned),
                sum(works),
                sum(works[i] or served[i] == (block, face) for i in team),
                sum(acts[i] and aligned[i] for i in team),
                not blocked(snapshot, block, face),
                (weight, _near(snapshot, block, face), weight),
            )
    return found


def _near(snapshot: Snapshot, block: int, face: Face) -> int:
    """Agents at most one cell away from a face cell: from the formula, cell by cell."""
    bodies = {(b.row + i, b.col + j): b.id for b in snapshot.blocks for i in range(b.weight) for j in range(b.weight)}
    back_row, back_col = {Face.left: (0, -1), Face.right: (0, 1), Face.up: (-1, 0), Face.down: (1, 0)}[face]
    cells = {(r + back_row, c + back_col) for (r, c), owner in bodies.items() if owner == block}
    faces = [(r, c) for r, c in cells if (r, c) not in bodies and 0 <= r < snapshot.side and 0 <= c < snapshot.side]
    return sum(any(abs(r - row) + abs(c - col) <= 1 for row, col in faces) for r, c in snapshot.agents)
