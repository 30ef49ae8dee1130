"""What came of an agent's action, typed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from crafter_env.constants import FAILURES, Action, Cell, Entity, Item, Material, Result
from crafter_env.kernels.arrays import ITEMS


class Outcome(NamedTuple):
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


def read_outcome(numbers: Sequence[int]) -> Outcome:
    """The outcome in an agent's row of `World.agents`, from column `GAINED` on."""
    gains = numbers[:ITEMS]
    result, did, target, x, y, required, present, capable, item, amount, other = numbers[ITEMS:]
    return Outcome(
        _RESULTS[result],
        _ACTIONS[did],
        None if target < 0 else _TARGETS[target],
        None if target < 0 else (x, y),
        _given(required),
        _given(present),
        _given(capable),
        None if item < 0 else _ITEMS[item],
        _given(amount),
        _given(other),
        {_ITEMS[i]: units for i, units in enumerate(gains) if units} if any(gains) else {},
    )


# To look a member up in a tuple takes a tenth of the time of asking its enumeration.
_RESULTS, _ACTIONS, _ITEMS = tuple(Result), tuple(Action), tuple(Item)
_TARGETS: tuple[Material | Entity, ...] = (*Material, *(entity for entity in Entity if entity))


def _given(number: int) -> int | None:
    return None if number < 0 else number
