"""Reads what a prompt shows of an observation: the inverse of `CrafterObservation.shown`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from crafter_env.constants import COLLECT, NEED_MAX, NEEDS, VIEW, WALKABLE, Cell, Item, Material
from crafter_env.layout import MATERIAL_CHARACTERS
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


def read_shown(data: Mapping[str, Any], facts: Mapping[str, Any], agents: int) -> CrafterObservation:
    """Make an observation of what a prompt shows; of what was left out, the facing is (0, 0) and healths are 0.

    Args:
        data: what `CrafterObservation.shown` returns. It does not say whose it is, so the name is empty.
        facts: those of `CrafterWorld.prompt_facts` that the rules of a prompt tell.
        agents: of the team.

    Raises:
        KeyError, TypeError, ValueError: a prompt shows no such thing.
    """
    now, you = data["now"], data["you"]
    size = _cell(facts["size"])
    cell = _cell(you["cell"]) if "cell" in you else None
    alive = you.get("alive", True)
    inventory = dict(you.get("inventory", {}))

    def hints(name: str) -> tuple[TargetHint, ...]:
        return tuple(
            TargetHint(int(identity), kind, divmod(int(identity) - 1, size[1]), steps, _is_ready(kind, inventory))
            for kind, found in sorted(you.get(name, {}).items())
            for identity, steps in sorted(found.items(), key=lambda entry: (entry[1], int(entry[0])))
        )

    asleep = you.get("asleep", ())
    drawn = SeenMap(you["map"]["left"], you["map"]["top"], tuple(you["map"]["rows"]))
    creatures = (
        SeenEntity(int(identity), kind, _cell(place), 0)
        for kind, found in you.get("creatures", {}).items()
        for identity, place in found.items()
    )
    mates = (Teammate(name, _cell(place), name in asleep) for name, place in you.get("teammates", {}).items())
    missed = (LastSeen(name, (x, y), step) for name, (x, y, step) in you.get("last_seen", {}).items())
    return CrafterObservation(
        step=now["step"],
        max_steps=facts["max_steps"],
        goal=facts["goal"],
        score=now["score"],
        size=size,
        daylight=now["daylight"],
        agent="",
        alive=alive,
        sleeping=you.get("sleeping", False),
        cell=cell,
        facing=(0, 0),
        needs={need.name: NEED_MAX for need in NEEDS} | you.get("needs", {}) if cell is not None else {},
        inventory=inventory,
        cooperation=_cooperation(facts, agents),
        known_only=facts["known_only"],
        map=drawn,
        visible=_visible(drawn, cell, size) if alive and cell is not None else {},
        entities=_by_distance(cell, creatures, lambda creature: (creature.id, "")),
        teammates=_by_distance(cell, mates, lambda mate: _number_in(mate.agent)),
        last_seen=_by_distance(cell, missed, lambda mate: _number_in(mate.agent)),
        agents_not_shown=you.get("agents_not_shown", 0),
        tasks=hints("tasks"),
        supplies=hints("supplies"),
        frontiers=tuple(
            Frontier(int(identity), direction, divmod(int(identity) - 1, size[1]), steps)
            for direction, found in you.get("frontiers", {}).items()
            for identity, steps in found.items()
        ),
    )


def _cooperation(facts: Mapping[str, Any], agents: int) -> Cooperation:
    """What the level asks of a team of this size: facts are those of a team that is large enough."""
    wanted = facts["agents"]
    return Cooperation(
        agents={item: min(agents, several) for item, several in wanted.items()},
        points={item: points * min(agents, wanted[item]) / wanted[item] for item, points in facts["points"].items()},
        craft_agents=min(agents, facts["craft_agents"]),
        radius=facts["radius"],
        area=facts["area"],
        share_radius=facts["share_radius"] if facts["sharing"] else -1,
        iron_needs_table=facts["iron_needs_table"],
        mobs=facts["mobs"],
    )


def _visible(drawn: SeenMap, cell: Cell, size: Cell) -> dict[str, tuple[int, ...]]:
    """The ids of the cells in view that cannot be walked on, by material, row by row, as the map draws them."""
    found: dict[str, list[int]] = {}
    for v in range(cell[1] - VIEW[1] // 2, cell[1] + VIEW[1] // 2 + 1):
        for u in range(cell[0] - VIEW[0] // 2, cell[0] + VIEW[0] // 2 + 1):
            if 0 <= u < size[0] and 0 <= v < size[1]:
                material = MATERIAL_CHARACTERS.get(drawn.rows[v - drawn.top][u - drawn.left])
                if material is not None and material not in WALKABLE:
                    found.setdefault(material.name, []).append(u * size[1] + v + 1)
    return {material: tuple(ids) for material, ids in sorted(found.items())}


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
