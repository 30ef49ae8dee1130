"""What came of an agent's action, typed."""

from __future__ import annotations

from dataclasses import dataclass

from crafter_env.constants import FAILURES, Action, Cell, Entity, Item, Material, Result
from crafter_env.kernels.arrays import GAINED, ITEMS, OUTCOME, IntArray


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an agent's action in the last step. None where there is nothing to say; see `Result`."""

    result: Result
    action: Action
    """What it did; a sleeper does `sleep`, whatever it was told."""
    target: Material | Entity | None
    """What it met."""
    cell: Cell | None
    """Where."""
    required: int | None
    """Agents needed; of an input the units needed; of a share the cells allowed."""
    present: int | None
    """Agents that aimed at the same; of an input the units held; of a share the cells between."""
    capable: int | None
    """Of the agents present, those with the tool."""
    item: Item | None
    amount: int | None
    """Units of the item; damage of a hit."""
    other: int | None
    """The recipient of a share, or the leader of a craft."""
    gained: dict[Item, int]
    """Units of each item that its `do` brought, before the cap."""

    @property
    def failed(self) -> bool:
        """Whether the action changed nothing, though it was meant to; see `FAILURES`."""
        return self.result in FAILURES


def read_outcome(row: IntArray) -> Outcome:
    """The outcome in an agent's row of `World.agents`."""
    result, did, target, x, y, required, present, capable, item, amount, other = row[OUTCOME:].tolist()
    gains = row[GAINED : GAINED + ITEMS].tolist()
    return Outcome(
        Result(result),
        Action(did),
        _target(target),
        None if target < 0 else (x, y),
        _given(required),
        _given(present),
        _given(capable),
        None if item < 0 else Item(item),
        _given(amount),
        _given(other),
        {Item(i): units for i, units in enumerate(gains) if units},
    )


def _target(number: int) -> Material | Entity | None:
    if number < 0:
        return None
    return Material(number) if number < Entity.player else Entity(number)


def _given(number: int) -> int | None:
    return None if number < 0 else number
