"""Checks of external changes, for worlds that support them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maeil.testing.answers import Contract, look
from maeil.testing.steps import idle
from maeil.world import Changeable, World

_NO_PART = "no such part"


def check_changes(contract: Contract, world: World, changes: Sequence[Mapping[str, Any]], seed: int) -> None:
    """Check the rules of external changes. A world that cannot be changed passes if there are no examples.

    Args:
        contract: reports violations.
        world: the world; it is reset.
        changes: examples, each possible after one idle step.
        seed: seed of the board.

    Raises:
        BrokenContract: the world breaks a rule.
    """
    contract.place = f"world {world.name!r}, seed {seed}"
    if not isinstance(world, Changeable):
        contract.require(not changes, "a world with example changes has change()", f"{len(changes)} changes")
        return
    _begin(contract, world, seed)
    before = look(contract, world, 1)
    world.change({})
    contract.compare(before, look(contract, world, 1), "change() without entries changes nothing")
    refused = False
    try:
        world.change({_NO_PART: 0})
    except ValueError as error:
        refused = _NO_PART in str(error)
    contract.require(refused, "change() refuses an unknown key with a ValueError that names it", _NO_PART)
    contract.compare(before, look(contract, world, 1), "a refused change changes nothing")
    for change in changes:
        contract.place = f"world {world.name!r}, seed {seed}, change {contract.json(change, 'a change')}"
        found = []
        for _ in range(2):
            _begin(contract, world, seed)
            world.change(change)
            found.append(look(contract, world, 1))
        contract.compare(found[0], found[1], "the same change in the same state gives the same state")
        world.change(change)
        contract.compare(found[0], look(contract, world, 1), "change() to the current state changes nothing")
        idle(contract, world)


def _begin(contract: Contract, world: World, seed: int) -> None:
    world.reset(seed)
    idle(contract, world)
