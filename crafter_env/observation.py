"""The typed symbolic observation of an agent for planning, and its text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from crafter_env.constants import COLLECT, NEED_MAX, NEEDS, VIEW, WALKABLE, Cell, Item, Material
from crafter_env.layout import MATERIAL_CHARACTERS

OPEN = "open"
"""The goal of an episode that ends only at its step limit."""
UNSEEN = "?"
"""Character of an unseen cell, in `SeenMap`."""


ORE = ("coal", "iron", "diamond")
"""Ore that a prompt names by id whenever it is in view, because it may be behind stone, where no task is."""
_USUAL: Mapping[str, object] = {"alive": True, "sleeping": False, "agents_not_shown": 0}
"""Facts that a prompt leaves out because they are obvious."""


@dataclass(frozen=True, slots=True)
class SeenMap:
    """A drawing of what an agent has seen, in the characters of `Layout`; `?` is unseen, digits are agents in view."""

    left: int
    """Column of the first character in each row."""
    top: int
    """Row of the first line."""
    rows: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SeenEntity:
    """A creature in view."""

    id: int
    kind: str
    cell: Cell
    health: int


@dataclass(frozen=True, slots=True)
class Teammate:
    """Another agent in view."""

    agent: str
    """Its name."""
    cell: Cell
    sleeping: bool


@dataclass(frozen=True, slots=True)
class LastSeen:
    """Where another agent, now out of view, was last seen."""

    agent: str
    """Its name."""
    cell: Cell
    step: int
    """Step of the sighting."""


@dataclass(frozen=True, slots=True)
class TargetHint:
    """A seen and reachable cell: a task, a source of water, or a station."""

    id: int
    kind: str
    """Its material."""
    cell: Cell
    distance: int
    """Steps to where the agent can act on it."""
    ready: bool
    """Whether this agent holds the required tool."""


@dataclass(frozen=True, slots=True)
class Frontier:
    """The nearest cell in a direction from which an unseen cell can be seen."""

    id: int
    direction: str
    cell: Cell
    distance: int


@dataclass(frozen=True, slots=True)
class Cooperation:
    """The cooperation that the level requires of the team."""

    agents: Mapping[str, int]
    """Number of capable agents that each resource requires."""
    points: Mapping[str, float]
    """Points per unit of each resource, for each agent that collects it."""
    craft_agents: int
    """Number of agents that must make the same tool at once."""
    radius: int
    """Cells within which a `do` reaches."""
    area: bool
    """Whether a `do` acts on everything within the radius instead of on one cell."""
    share_radius: int | None
    """Cells within which items can be shared; None: any distance, and -1: never."""
    iron_needs_table: bool
    """Whether iron tools need a table in addition to the furnace."""
    mobs: bool
    """Whether there are monsters and plants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrafterObservation:
    """What one agent knows of the world.

    Cells are (x, y): x counts columns to the right, y rows downward. The id of a cell never changes.
    """

    step: int
    max_steps: int
    goal: str
    """The achievement that ends the episode; `open`: score as many points as possible."""
    score: float
    """Points of the team."""
    size: Cell
    """Columns and rows of the map."""
    daylight: float
    """0 at midnight, 1 at noon; monsters come out in the dark."""
    agent: str = ""
    """Name of the observing agent; empty for an outside observer."""
    alive: bool = True
    sleeping: bool = False
    cell: Cell | None = None
    """Cell of the agent; None for an outside observer."""
    facing: Cell = (0, 0)
    """The direction that the agent faces; (0, 0) without a body."""
    needs: Mapping[str, int] = field(default_factory=dict)
    """Health, food, drink and energy, 0 to 9."""
    inventory: Mapping[str, int] = field(default_factory=dict)
    """Items that the agent holds."""
    cooperation: Cooperation
    known_only: bool
    """Whether plans may name only cells that this agent has seen."""
    map: SeenMap
    visible: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Ids of the cells in view, by material; walkable cells are left out."""
    entities: tuple[SeenEntity, ...] = ()
    teammates: tuple[Teammate, ...] = ()
    """Teammates in view, nearest first."""
    last_seen: tuple[LastSeen, ...] = ()
    """Teammates seen earlier, nearest first."""
    agents_not_shown: int = 0
    """Number of known teammates that are not listed; see `env.text.max_agents`."""
    tasks: tuple[TargetHint, ...] = ()
    """The nearest known and reachable trees, stones, coals, irons and diamonds."""
    supplies: tuple[TargetHint, ...] = ()
    """The nearest known and reachable water, tables and furnaces."""
    frontiers: tuple[Frontier, ...] = ()
    """Cells from which to see more of the map."""

    def shown(self) -> dict[str, Any]:
        """Return the content of the prompt, each fact once; `crafter_env.read_shown` restores the observation.

        The content leaves out: configuration values for the whole episode, which the rules of a prompt state; the
            agent's own name, which its turn gives; whatever follows from the rest (whether the tool for a cell is held,
            the cell of an id, the ids of what the map draws, except for ore in view that no task names); whatever no
            action uses (facing, creature health); and empty, full or default values.
        """
        named = {hint.id for hint in self.tasks}
        ore = {kind: [each for each in self.visible.get(kind, ()) if each not in named] for kind in ORE}
        you = {
            "alive": self.alive,
            "sleeping": self.sleeping,
            "cell": self.cell,
            "vitals": {need: units for need, units in self.needs.items() if units < NEED_MAX},
            "inventory": self.inventory,
            "map": asdict(self.map),
            "visible": {kind: ids for kind, ids in ore.items() if ids},
            "creatures": creatures_by_kind(self.entities),
            "teammates": {mate.agent: mate.cell for mate in self.teammates},
            "asleep": [mate.agent for mate in self.teammates if mate.sleeping],
            "last_seen": {mate.agent: [*mate.cell, mate.step] for mate in self.last_seen},
            "agents_not_shown": self.agents_not_shown,
            "tasks": _steps(self.tasks),
            "supplies": _steps(self.supplies),
            "frontiers": {edge.direction: {str(edge.id): edge.distance} for edge in self.frontiers},
        }
        return {"now": self.now, "you": _told(you)}

    @property
    def now(self) -> dict[str, float]:
        """The prompt's facts about the moment, the same for all agents."""
        return {"step": self.step, "score": self.score, "daylight": self.daylight}

    def text(self) -> str:
        """The content of the prompt as JSON."""
        return json.dumps(self.shown())


def _told(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value
        for key, value in values.items()
        if value not in ("", (), [], {}, None) and not (key in _USUAL and value == _USUAL[key])
    }


def creatures_by_kind(entities: Iterable[SeenEntity]) -> dict[str, dict[str, Cell]]:
    """Return the cell of each creature, by kind and id."""
    found: dict[str, dict[str, Cell]] = {}
    for entity in entities:
        found.setdefault(entity.kind, {})[str(entity.id)] = entity.cell
    return found


def _steps(hints: Iterable[TargetHint]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for hint in hints:
        found.setdefault(hint.kind, {})[str(hint.id)] = hint.distance
    return found


_Placed = TypeVar("_Placed", SeenEntity, Teammate, LastSeen)


def read_shown(data: Mapping[str, Any], facts: Mapping[str, Any], agents: int) -> CrafterObservation:
    """Build an observation from the content of a prompt; missing values are (0, 0) for facing and 0 for health.

    Args:
        data: the result of `CrafterObservation.shown`. It does not name its agent, so the name is empty.
        facts: the facts of `CrafterWorld.prompt_facts` that the rules of a prompt state.
        agents: number of agents in the team.

    Raises:
        KeyError, TypeError, ValueError: the data is not in the format of a prompt.
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
        alive=alive,
        sleeping=you.get("sleeping", False),
        cell=cell,
        needs={need.name: NEED_MAX for need in NEEDS} | you.get("vitals", {}) if cell is not None else {},
        inventory=inventory,
        cooperation=asked_of(facts, agents),
        known_only=facts["known_only"],
        map=drawn,
        visible=visible_cells(drawn, cell, size) if alive and cell is not None else {},
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


def asked_of(facts: Mapping[str, Any], agents: int) -> Cooperation:
    """Return the level's requirements for a team of this size; facts are those of a sufficiently large team."""
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


def visible_cells(drawn: SeenMap, cell: Cell, size: Cell) -> dict[str, tuple[int, ...]]:
    """Return the ids of the unwalkable cells in view, by material, row by row, as drawn on the map."""
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
    """Sort for an observation: nearest first, ties by number; without a body, by number."""
    x, y = cell or (0, 0)

    def key(one: _Placed) -> tuple[int, int, str]:
        distance = abs(one.cell[0] - x) + abs(one.cell[1] - y) if cell is not None else 0
        return (distance, *number(one))

    return tuple(sorted(found, key=key))


def _number_in(name: str) -> tuple[int, str]:
    """Sort key that orders names by their numbers: `agent_2` before `agent_10`."""
    return len(name), name


def _is_ready(kind: str, inventory: Mapping[str, int]) -> bool:
    material = Material[kind]
    tool: Item | None = COLLECT[material].tool if material in COLLECT else None
    return tool is None or inventory.get(tool.name, 0) > 0


def _cell(cell: Any) -> tuple[int, int]:
    x, y = cell
    return int(x), int(y)
