"""How the rule-based minds for CUBE write plans in the actions of the world's vocabulary, and how far a block is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from cube_env import (
    Entity,
    Face,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    SymbolicBlock,
)
from maeil.actions import SymbolicAction
from maeil.plans import Plan, Task

SIDES = 6
"""Sides of the grid: the steps after which an action that names no timeout gives up."""

TRIES = 3
"""Steps after which an attempt gives up on a block that does not move."""


@dataclass(frozen=True, slots=True)
class Wording:
    """One of the two vocabularies: that of the CUBE paper, or that of EmCoop, which has no word for a meeting.

    Attributes:
        meets: whether agents can wait for each other at a face.
    """

    meets: bool

    @staticmethod
    def of(names: Collection[str]) -> Wording:
        """Return the wording of a vocabulary, given the names of its actions."""
        return CUBE if "rendezvous" in names else EMCOOP

    @property
    def words(self) -> frozenset[str]:
        """The names of the actions that its plans are made of."""
        return frozenset({"move_to_block", "rendezvous", "push_block"} if self.meets else {"navigate", "push"})

    def approach(self, block: SymbolicBlock) -> SymbolicAction:
        """Go to the left face of a block."""
        if self.meets:
            return MoveToBlock(block=block.id, face=Face.left)
        return Navigate(entity=Entity.block, id=block.id)

    def delivery(
        self, block: SymbolicBlock, rationale: str, patience: int | None = None, count: int | None = None
    ) -> Plan:
        """Write the plan of one agent of a team that pushes a block to the goal: go to its left face, meet, push.

        Without a word for a meeting it pushes in vain until the others are there.

        Args:
            block: the block.
            rationale: why this one.
            patience: steps to wait for the others; None: as long as the world's default.
            count: agents to meet, oneself among them; None: as many as the block weighs.
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
        """Write the plan of one who counts on nobody: go to the left face, push at once, give up when nothing moves."""
        first, rest = self.try_push(block), block.distance - 1
        if self.meets:
            pushing: tuple[SymbolicAction, ...] = (first, PushBlock(block=block.id, steps=rest)) if rest else (first,)
        else:
            # The first push goes on for all its steps, so it may come all the way.
            pushing = (first, PushTowards(block=block.id, steps=rest)) if rest >= TRIES else (first,)
        return Plan((self.approach(block), *pushing), delivery_of(block), rationale)

    def try_push(self, block: SymbolicBlock) -> SymbolicAction:
        """Push, and give up after a few steps in which nothing moves: what distinguishes an attempt from a delivery."""
        if self.meets:
            return PushBlock(block=block.id, steps=1, timeout=TRIES)
        return PushTowards(block=block.id, steps=TRIES)


def delivery_of(block: SymbolicBlock) -> Task:
    """Return the task of those who push a block to the goal, as their plans name it."""
    return Task("deliver", f"block_{block.id}")


CUBE, EMCOOP = Wording(meets=True), Wording(meets=False)


def way(cell: tuple[int, int], block: SymbolicBlock) -> int:
    """Manhattan distance from a cell to the nearest cell of a block's left face."""
    row, col = cell
    nearest = min(max(row, block.row), block.row + block.weight - 1)
    return abs(row - nearest) + abs(col - (block.col - 1))
