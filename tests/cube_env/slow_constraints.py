"""The constraints of all tasks in plain Python, from the concepts; slow, for the differential test."""

from __future__ import annotations

from collections.abc import Sequence

from cube_env import Face, Snapshot, blocked, delivered, is_aligned_with_block, required_force
from cube_env.constants import PUSH_DIRECTION

Numbers = tuple[int, int, int, int, int, bool]


def slow_constraints(
    snapshot: Snapshot, blocks: int, joint: Sequence[int], pushing: Sequence[int]
) -> dict[tuple[int, Face], Numbers]:
    found: dict[tuple[int, Face], Numbers] = {}
    team = range(len(joint))
    for block in range(blocks):
        for face in Face:
            if delivered(snapshot, block):
                found[block, face] = 0, 0, 0, 0, 0, False
                continue
            aligned = [is_aligned_with_block(snapshot, i, block, face) for i in team]
            acts = [joint[i] == PUSH_DIRECTION[face] for i in team]
            found[block, face] = (
                required_force(snapshot, block, face),
                sum(aligned),
                sum(acts[i] and (aligned[i] or pushing[i] == block) for i in team),
                len(joint),
                sum(acts[i] and aligned[i] for i in team),
                not blocked(snapshot, block, face),
            )
    return found
