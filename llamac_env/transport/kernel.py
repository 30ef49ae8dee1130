"""The step of grid transportation on arrays, as a kernel, bit-identical to `Board.after`."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from llamac_env.jit import compiled_borrowing
from llamac_env.transport.arrays import HALF, SLOTS, CountArray, IntArray
from llamac_env.transport.grid import PLACES

FlagArray = npt.NDArray[np.bool_]

_NO_SOURCE: Final = -1


@compiled_borrowing
def step_boards(  # noqa: PLR0917 (Numba takes loose arrays faster than a tuple of them)
    actions: IntArray,
    begins: FlagArray,
    slots: IntArray,
    hard: bool,
    strict: bool,
    states: CountArray,
    moved: FlagArray,
    placed: IntArray,
    collided: FlagArray,
    sources: IntArray,
    named: IntArray,
) -> None:
    """Advance B boards, each by its own joint action, which refers to the state before the step.

    Args:
        actions: (B, n): primitives.
        begins: (B,): boards that have just started an episode; they take no step.
        slots: (n, 5, 2): see `arrays.Geometry`.
        hard: Whether boxes are on corners.
        strict: Whether a corner must be empty before the step (`start_empty`).
        states: (B, R, C, 10): see `arrays`; written.
        moved: (B, n): whether an agent's move was made; written, like the following.
        placed: (B,): boxes placed in this step.
        collided: (B,): whether two boxes are on one corner.
        sources: (n,): scratch.
        named: (5,): scratch.
    """
    # Read all sources before the first box moves: a step is simultaneous (`Board.after`).
    for b in range(actions.shape[0]):
        moved[b, :] = False
        placed[b] = 0
        collided[b] = False
        if begins[b]:
            continue
        named[:] = 0
        for agent in range(actions.shape[1]):
            sources[agent] = _source(states[b], slots[agent], actions[b, agent], hard, strict)
            if sources[agent] != _NO_SOURCE:
                named[(actions[b, agent] - 1) // SLOTS] += 1
        for agent in range(actions.shape[1]):
            colour, slot = (actions[b, agent] - 1) // SLOTS, (actions[b, agent] - 1) % SLOTS
            # Hard boards have one box of each colour; if two agents name it, neither moves it.
            if sources[agent] == _NO_SOURCE or (hard and named[colour] > 1):
                continue
            moved[b, agent] = True
            states[b, slots[agent, sources[agent], 0], slots[agent, sources[agent], 1], colour] -= 1
            row, col = slots[agent, slot, 0], slots[agent, slot, 1]
            if slot == PLACES:
                states[b, row, col, HALF + colour] -= 1
                placed[b] += 1
            else:
                states[b, row, col, colour] += 1
        # Read collisions from the finished state: two boxes may pass through one corner in one step, but must not both
        # stay.
        if hard:
            for agent in range(actions.shape[1]):
                slot = (actions[b, agent] - 1) % SLOTS
                if moved[b, agent] and slot != PLACES:
                    collided[b] |= _boxes_at(states[b], slots[agent, slot, 0], slots[agent, slot, 1]) > 1


@compiled_borrowing
def _source(state: CountArray, slots: IntArray, action: int, hard: bool, strict: bool) -> int:
    """Return the slot an agent's box comes from; -1 if the move is impossible in this state, or not a move."""
    if action == 0:
        return _NO_SOURCE
    colour, slot = (action - 1) // SLOTS, (action - 1) % SLOTS
    row, col = slots[slot, 0], slots[slot, 1]
    if row < 0:
        return _NO_SOURCE
    if slot == PLACES:
        if state[row, col, HALF + colour] == 0:
            return _NO_SOURCE
    elif hard and (state[row, col, colour] > 0 or (strict and _boxes_at(state, row, col) > 0)):
        return _NO_SOURCE
    if not hard:
        return PLACES if state[slots[PLACES, 0], slots[PLACES, 1], colour] > 0 else _NO_SOURCE
    # A hard board has one box of each colour, so the first corner that holds it is the only one.
    for corner in range(PLACES):
        if state[slots[corner, 0], slots[corner, 1], colour] > 0:
            return corner
    return _NO_SOURCE


@compiled_borrowing
def _boxes_at(state: CountArray, row: int, col: int) -> int:
    boxes = 0
    for colour in range(HALF):
        boxes += state[row, col, colour]
    return boxes
