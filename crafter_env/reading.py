"""Reads what a prompt shows of an observation: the inverse of `CrafterObservation.shown`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from crafter_env.constants import COLLECT, Cell, Item, Material
from crafter_env.observation import (
    Cooperation,
    CrafterObservation,
    Frontier,
    LastSeen,
    SeenEntity,
    SeenMap,
    TargetHint,
    Teammate,
)

_Placed = TypeVar("_Placed", SeenEntity, Teammate, LastSeen)


def read_shown(data: Mapping[str, Any]) -> CrafterObservation:
    """Make an observation of what a prompt shows; of what was left out, the facing is (0, 0) and healths are 0.

    Raises:
        KeyError, TypeError, ValueError: a prompt shows no such thing.
    """
    shown: Mapping[str, Any] = {**data["always"], **data["now"], **data["you"]}
    size = _cell(shown["size"])
    cell = _cell(shown["cell"]) if "cell" in shown else None
    inventory = dict(shown.get("inventory", {}))

    def hints(name: str) -> tuple[TargetHint, ...]:
        return tuple(
            TargetHint(int(identity), kind, divmod(int(identity) - 1, size[1]), steps, _is_ready(kind, inventory))
            for kind, found in sorted(shown.get(name, {}).items())
            for identity, steps in sorted(found.items(), key=lambda entry: (entry[1], int(entry[0])))
        )

    asleep = shown.get("asleep", ())
    drawn = shown["map"]
    creatures = (
        SeenEntity(int(identity), kind, _cell(place), 0)
        for kind, found in shown.get("creatures", {}).items()
        for identity, place in found.items()
    )
    mates = (Teammate(name, _cell(place), name in asleep) for name, place in shown.get("teammates", {}).items())
    missed = (LastSeen(name, (x, y), step) for name, (x, y, step) in shown.get("last_seen", {}).items())
    return CrafterObservation(
        step=shown["step"],
        max_steps=shown["max_steps"],
        goal=shown["goal"],
        score=shown["score"],
        size=size,
        daylight=shown["daylight"],
        agent=shown.get("agent", ""),
        alive=shown.get("alive", True),
        sleeping=shown.get("sleeping", False),
        cell=cell,
        facing=(0, 0),
        needs=dict(shown.get("needs", {})),
        inventory=inventory,
        cooperation=Cooperation(**shown["cooperation"]),
        known_only=shown.get("known_only", False),
        map=SeenMap(drawn["left"], drawn["top"], tuple(drawn["rows"])),
        visible={kind: tuple(ids) for kind, ids in shown.get("visible", {}).items()},
        entities=_by_distance(cell, creatures, lambda creature: (creature.id, "")),
        teammates=_by_distance(cell, mates, lambda mate: _number_in(mate.agent)),
        last_seen=_by_distance(cell, missed, lambda mate: _number_in(mate.agent)),
        agents_not_shown=shown.get("agents_not_shown", 0),
        tasks=hints("tasks"),
        supplies=hints("supplies"),
        frontiers=tuple(
            Frontier(int(identity), direction, divmod(int(identity) - 1, size[1]), steps)
            for direction, found in shown.get("frontiers", {}).items()
            for identity, steps in found.items()
        ),
    )


def _by_distance(
    cell: Cell | None, found: Iterable[_Placed], number: Callable[[_Placed], tuple[int, str]]
) -> tuple[_Placed, ...]:
    """As an observation lists them: nearest first, equals by number; for one without a body by number."""
    x, y = cell or (0, 0)

    def key(one: _Placed) -> tuple[int, int, str]:
        distance = abs(one.cell[0] - x) + abs(one.cell[1] - y) if cell is not None else 0
        return (distance, *number(one))

    return tuple(sorted(found, key=key))


def _number_in(name: str) -> tuple[int, str]:
    """Orders names as the numbers in them: `agent_2` before `agent_10`."""
    return len(name), name


def _is_ready(kind: str, inventory: Mapping[str, int]) -> bool:
    material = Material[kind]
    tool: Item | None = COLLECT[material].tool if material in COLLECT else None
    return tool is None or inventory.get(tool.name, 0) > 0


def _cell(cell: Any) -> tuple[int, int]:
    x, y = cell
    return int(x), int(y)
