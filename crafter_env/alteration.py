"""Changes to an open world from outside, in the middle of an episode.

`{"agents": {"agent_0": {"cell": [3, 4], "needs": {"health": 5}, "inventory": {"wood": 2}}}, "cells": {"7,5": "table"}}`
moves an agent, sets its needs and inventory, and sets the material of a cell. All changes apply at once.

Creatures, sleep, achievements and daylight cannot be changed: the first three result from past events, and daylight
from the step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from crafter_env.constants import CHUNK, NEED_MAX, NEEDS, WALKABLE, Cell, Item, Material
from crafter_env.kernels import arrays
from crafter_env.state import CrafterState
from quorum_base.environments.arguments import parts, whole_pair
from quorum_base.environments.errors import WorldError

_MATERIALS = {material.name: material for material in Material if material is not Material.none}
_COUNTED = {Material.grass: arrays.GRASS, Material.path: arrays.PATHS}


def altered(state: CrafterState, changes: Mapping[str, Any], item_cap: int) -> CrafterState:
    """Return a copy of the state with the changes applied, at the same step.

    Args:
        state: state of an episode; it is not modified.
        changes: JSON, see the module docstring.
        item_cap: maximum amount of an item that an agent can hold.

    Raises:
        WorldError: the changes are malformed or the resulting state is impossible; the message names the place.
    """
    parts("", changes, ("agents", "cells"))
    now = state.copy()
    agents = parts("agents", changes.get("agents", {}))
    moved: dict[int, Cell] = {}
    for name, values in agents.items():
        agent, place = _agent(state, name), f"agents.{name}"
        parts(place, values, ("cell", "needs", "inventory"))
        if "cell" in values and (cell := _cell(f"{place}.cell", values["cell"], state)) != _stands(state, agent):
            moved[agent] = cell
        _hold(now, agent, f"{place}.needs", values.get("needs", {}), items=NEEDS, most=NEED_MAX)
        bag = tuple(item for item in Item if item not in NEEDS)
        _hold(now, agent, f"{place}.inventory", values.get("inventory", {}), items=bag, most=item_cap)
    for agent in moved:
        now.world.occupants[_stands(state, agent)] = 0
    for name, material in parts("cells", changes.get("cells", {})).items():
        _turn(now, f"cells.{name}", _cell_of(name, state), material)
    for agent, cell in moved.items():
        _put(now, agent, cell)
    return now


def same(one: CrafterState, other: CrafterState) -> bool:
    """Whether two states of one world are equal."""
    used = int(one.world.counters[arrays.SLOTS])
    pairs: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = list(zip(one.world, other.world, strict=True))
    return all(
        np.array_equal(here[:used], there[:used]) if here is one.world.objects else np.array_equal(here, there)
        for here, there in pairs
    )


def _agent(state: CrafterState, name: str) -> int:
    names = [f"agent_{i}" for i in range(len(state.positions))]
    if name not in names:
        raise WorldError(f"agents.{name}: no such agent; the agents are {names[0]} to {names[-1]}")
    agent = names.index(name)
    if not state.alive[agent]:
        raise WorldError(f"agents.{name}: the agent is dead and cannot be revived")
    return agent


def _hold(state: CrafterState, agent: int, place: str, named: object, *, items: tuple[Item, ...], most: int) -> None:
    for name, amount in parts(place, named).items():
        item = next((item for item in items if item.name == name), None)
        if item is None:
            raise WorldError(f"{place}.{name}: not one of {', '.join(item.name for item in items)}")
        least = 1 if item is Item.health else 0
        if type(amount) is not int or not least <= amount <= most:
            raise WorldError(f"{place}.{name}: {amount!r} is not an integer from {least} to {most}")
        if item is Item.health and amount != state.inventory[agent, item]:
            # The agent was neither hurt nor healed: a change of health wakes nobody up and earns no reward.
            body = state.world.agents[agent]
            body[arrays.LAST_HEALTH] = body[arrays.REWARDED_HEALTH] = amount
        state.inventory[agent, item] = amount


def _turn(state: CrafterState, place: str, cell: Cell, name: object) -> None:
    """Change the material of a cell and the counts of its chunk, as `kernels.grid.set_material` does."""
    if not isinstance(name, str) or name not in _MATERIALS:
        raise WorldError(f"{place}: {name!r} is not one of {', '.join(_MATERIALS)}")
    material, before = _MATERIALS[name], state.material_at(cell)
    if material is before:
        return
    if state.world.occupants[cell]:
        raise WorldError(f"{place}: {_on(state, cell)} is on this cell: choose another cell")
    counts = state.world.chunks[_chunk(state, cell)]
    for kind, column in _COUNTED.items():
        counts[column] += int(material is kind) - int(before is kind)
    state.materials[cell] = material


def _put(state: CrafterState, agent: int, cell: Cell) -> None:
    """Put an agent on a free cell, and into its chunk, as `kernels.grid.move_object` does."""
    w, place = state.world, f"agents.agent_{agent}.cell"
    if (material := state.material_at(cell)) not in WALKABLE:
        raise WorldError(f"{place}: ({cell[0]}, {cell[1]}) is {material.name}: choose a cell that agents can walk on")
    if w.occupants[cell]:
        raise WorldError(f"{place}: {_on(state, cell)} is on ({cell[0]}, {cell[1]}): choose a free cell")
    before, after = _chunk(state, _stands(state, agent)), _chunk(state, cell)
    w.occupants[cell] = agent + 1
    w.objects[agent, arrays.X], w.objects[agent, arrays.Y] = cell
    if before == after:
        return
    if not w.chunks[after, arrays.VISITED]:
        w.chunks[after, arrays.VISITED] = 1
        w.chunks[w.counters[arrays.VISITED_CHUNKS], arrays.VISITED_AT] = after
        w.counters[arrays.VISITED_CHUNKS] += 1
    w.counters[arrays.SEQUENCES] += 1
    w.objects[agent, arrays.SEQUENCE] = w.counters[arrays.SEQUENCES]


def _stands(state: CrafterState, agent: int) -> Cell:
    x, y = state.positions[agent].tolist()
    return x, y


def _chunk(state: CrafterState, cell: Cell) -> int:
    return (cell[0] // CHUNK) * arrays.chunk_rows(state.size[1]) + cell[1] // CHUNK


def _on(state: CrafterState, cell: Cell) -> str:
    """Name the agent or entity on a cell."""
    slot = int(state.world.occupants[cell]) - 1
    return f"agent_{slot}" if slot < len(state.positions) else f"a {state.entity_at(cell).name.replace('_', ' ')}"


def _cell_of(name: str, state: CrafterState) -> Cell:
    x, comma, y = name.partition(",")
    if not comma or not all(part.isascii() and part.isdecimal() and len(part) <= len("1024") for part in (x, y)):
        raise WorldError(f"cells.{name}: not a cell: write 7,5 for column 7 of row 5")
    return _cell(f"cells.{name}", [int(x), int(y)], state)


def _cell(place: str, cell: object, state: CrafterState) -> Cell:
    (x, y), (width, height) = whole_pair(place, cell, "[column, row]"), state.size
    if not (0 <= x < width and 0 <= y < height):
        raise WorldError(f"{place}: ({x}, {y}) is off the map of {width} x {height} cells")
    return x, y
