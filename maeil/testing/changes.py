"""The check of a world that can be changed from outside: `maeil.world.Changeable`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from maeil.testing import answers
from maeil.testing.contract import Contract
from maeil.testing.frames import Record, frame
from maeil.world import Changeable, World

_NO_PART = "no such part"


def check_changes(contract: Contract, world: World, changes: Sequence[Mapping[str, Any]], seed: int) -> None:
    """Check what holds of changes; a world that cannot be changed passes where no examples are given.

    Args:
        contract: takes the rules.
        world: it is reset.
        changes: examples, each possible after a step of idling.
        seed: of the board.

    Raises:
        BrokenContract: a rule does not hold.
    """
    contract.place = f"world {world.name!r}, seed {seed}"
    if not isinstance(world, Changeable):
        contract.require(not changes, "a world for which there are changes has change()", f"{len(changes)} changes")
        return
    _begin(world, seed)
    before = _seen(contract, world)
    world.change({})
    contract.compare(before, _seen(contract, world), "change() of nothing changes nothing")
    refused = False
    try:
        world.change({_NO_PART: 0})
    except ValueError as error:
        refused = _NO_PART in str(error)
    contract.require(refused, "change() refuses what it does not know with a ValueError that names it", _NO_PART)
    contract.compare(before, _seen(contract, world), "a change that is refused changes nothing")
    for change in changes:
        contract.place = f"world {world.name!r}, seed {seed}, change {contract.json(change, 'a change')}"
        found = []
        for _ in range(2):
            _begin(world, seed)
            world.change(change)
            found.append(_seen(contract, world))
        contract.compare(found[0], found[1], "the same change in the same state gives the same state")
        world.change(change)
        contract.compare(found[0], _seen(contract, world), "change() to what is so already changes nothing")
        _idle(world)


def _begin(world: World, seed: int) -> None:
    world.reset(seed)
    _idle(world)


def _idle(world: World) -> None:
    """Take a step in which all agents idle."""
    controllers = [world.start_action(agent, world.idle) for agent in range(len(world.agents))]
    for controller in controllers:
        controller.status()
    joint = [controller.act() for controller in controllers]
    world.constraints(joint)
    world.step(joint)
    for controller in controllers:
        controller.status()
        controller.close()


def _seen(contract: Contract, world: World) -> Record:
    """Return all that can be seen of the world as it is."""
    seen = [
        (
            "global_observation()",
            answers.check_observation(contract, "global_observation()", world.global_observation()),
        )
    ]
    for agent in range(len(world.agents)):
        what = f"observe({agent})"
        seen.append((what, answers.check_observation(contract, what, world.observe(agent))))
    return seen + frame(contract, world, 1)
