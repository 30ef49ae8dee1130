"""How the rule-based minds for CUBE write plans in the world's vocabulary, and distances to blocks."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from cube_env import (
    Cell,
    Direction,
    Entity,
    Face,
    Idle,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    SymbolicBlock,
    SymbolicObservation,
    Wait,
)
from maeil.actions import SymbolicAction
from maeil.plans import Plan, PlanStatus, Task

SIDES = 6
"""Default timeout of an action that names none, in sides of the grid."""

PATIENCE = 20
"""Steps to wait for the rest of a team; also the negotiator's default."""

TRIES = 3
"""Steps after which an attempt gives up on a block that does not move."""


STEP: Mapping[Direction, Cell] = dict(zip(Direction, ((-1, 0), (1, 0), (0, -1), (0, 1)), strict=True))
"""Change of row and column by a step."""

IN_VAIN = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)
"""Statuses of unsuccessful plans."""

BLOCK = re.compile(r"block_(\d+)\b")


@dataclass(frozen=True, slots=True)
class Wording:
    """One of the two vocabularies: that of the CUBE paper, or that of EmCoop, which has no action for a meeting.

    Attributes:
        meets: whether agents can wait for each other at a face.
    """

    meets: bool

    @staticmethod
    def of(names: Collection[str]) -> Wording:
        """Return the wording for a vocabulary, given the names of its actions."""
        return CUBE if "rendezvous" in names else EMCOOP

    @property
    def words(self) -> frozenset[str]:
        """Names of the actions in its plans."""
        return frozenset({"move_to_block", "rendezvous", "push_block"} if self.meets else {"navigate", "push"})

    def approach(self, block: SymbolicBlock) -> SymbolicAction:
        """Go to the left face of a block."""
        if self.meets:
            return MoveToBlock(block=block.id, face=Face.left)
        return Navigate(entity=Entity.block, id=block.id)

    def wait(self, steps: int) -> SymbolicAction:
        """Do nothing."""
        return Idle(steps=steps) if self.meets else Wait(steps=steps)

    def push(self, block: int, steps: int) -> SymbolicAction:
        """Push a block."""
        return PushBlock(block=block, steps=steps) if self.meets else PushTowards(block=block, steps=steps)

    def delivery(
        self, block: SymbolicBlock, rationale: str, patience: int | None = None, count: int | None = None
    ) -> Plan:
        """Write the plan of one agent of a team that pushes a block to the goal: go to its left face, meet, push.

        Without an action for a meeting, the agent pushes in vain until the others are there.

        Args:
            block: the block.
            rationale: the reason for this block.
            patience: steps to wait for the others; None: the world's default.
            count: number of agents to meet, including itself; None: the block's weight.
        """
        pushing: tuple[SymbolicAction, ...]
        if self.meets:
            meeting = Rendezvous(block=block.id, face=Face.left, count=count or block.weight, timeout=patience)
            pushing = (meeting, PushBlock(block=block.id, steps=block.distance))
        else:
            side = block.col + block.weight + block.distance
            waiting = patience if patience is not None else SIDES * side
            pushing = (PushTowards(block=block.id, steps=block.distance + waiting),)
        return Plan((self.approach(block), *pushing), delivery_of(block), rationale)

    def attempt(self, block: SymbolicBlock, rationale: str) -> Plan:
        """Write the plan of an agent that relies on no one: go to the left face, push, give up if nothing moves."""
        first, rest = self.try_push(block), block.distance - 1
        if self.meets:
            pushing: tuple[SymbolicAction, ...] = (first, PushBlock(block=block.id, steps=rest)) if rest else (first,)
        else:
            # The first push uses all its steps, so it may go all the way.
            pushing = (first, PushTowards(block=block.id, steps=rest)) if rest >= TRIES else (first,)
        return Plan((self.approach(block), *pushing), delivery_of(block), rationale)

    def try_push(self, block: SymbolicBlock) -> SymbolicAction:
        """Push, and give up after a few steps without movement; this distinguishes an attempt from a delivery."""
        if self.meets:
            return PushBlock(block=block.id, steps=1, timeout=TRIES)
        return PushTowards(block=block.id, steps=TRIES)


def delivery_of(block: SymbolicBlock) -> Task:
    """Return the task of pushing a block to the goal, as plans name it."""
    return Task("deliver", f"block_{block.id}")


CUBE, EMCOOP = Wording(meets=True), Wording(meets=False)


def way(cell: tuple[int, int], block: SymbolicBlock) -> int:
    """Return the Manhattan distance from a cell to the nearest cell of a block's left face."""
    row, col = cell
    nearest = min(max(row, block.row), block.row + block.weight - 1)
    return abs(row - nearest) + abs(col - (block.col - 1))


def manhattan(one: Cell, other: Cell) -> int:
    """Return the Manhattan distance of two cells."""
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def clear(observation: SymbolicObservation) -> list[SymbolicBlock]:
    """Return the blocks with a clear way to the goal."""
    return [block for block in observation.blocks if not block.ahead]


def seen(observation: SymbolicObservation) -> dict[int, int]:
    """Return the agents at the left face of a block with a clear way, and that block."""
    at = {cell: agent for agent, cell in enumerate(observation.agents)}
    return {at[cell]: block.id for block in clear(observation) for cell in block.faces.left.taken}


def block_of(task: Task | None) -> int | None:
    """Return the block id in the target of a task, `block_3` or `block_3/left`; None if it names no block."""
    found = BLOCK.match(task.target) if task is not None else None
    return int(found[1]) if found else None
