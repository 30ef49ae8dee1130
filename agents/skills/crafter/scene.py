"""What the rule-based minds for the open world share: how one agent reads its map, and what it needs next.

All of it knows the typed observation of one agent alone.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

from crafter_env import (
    COLLECT,
    MAKE,
    MATERIAL_CHARACTERS,
    PLACE,
    VIEW,
    Action,
    Cell,
    Collect,
    Craft,
    CrafterObservation,
    Direction,
    Item,
    Material,
    Move,
    Navigate,
    Noop,
    Place,
    Placeable,
    Resource,
    SeenEntity,
    Sleep,
    Target,
    Tool,
)
from maeil.actions import SymbolicAction
from maeil.plans import Plan, Task

STEPS: dict[Direction, Cell] = {
    Direction.up: (0, -1),
    Direction.down: (0, 1),
    Direction.left: (-1, 0),
    Direction.right: (1, 0),
}
WALKABLE = frozenset({Material.grass, Material.path, Material.sand})
RESOURCE = {Material[name]: Resource[COLLECT[Material[name]].item.name] for name in ("tree", "stone", "coal", "iron")}
RESOURCE |= {Material.diamond: Resource.diamond, Material.water: Resource.drink}
SOURCE = {Item[resource.value]: material for material, resource in RESOURCE.items()}
LADDER = (Tool.wood_pickaxe, Tool.stone_pickaxe, Tool.stone_sword, Tool.iron_pickaxe)
"""What an agent makes, in this order; a sword only where there are monsters."""
TABLE_WOOD = PLACE[Action.place_table].amount
FURNACE_STONE = PLACE[Action.place_furnace].amount

DIG = 3
"""Cost of a step into a cell that has to be dug first; a free one costs 1."""
SPARE_STEPS = 400
"""Steps left at which an open episode still leaves time for better tools than the first."""
FAR = 25
"""Steps to a station beyond which another is built."""
RICH = 45.0
"""Points of a `do` that is worth `DETOUR` steps more than one that brings nothing."""
DETOUR = 6.0
DRINK_STEPS, FOOD_STEPS, ENERGY_STEPS = 21, 26, 31
"""Steps in which each need falls by 1."""
THIRSTY, HUNGRY, TIRED = 4, 4, 3
"""Needs below which an agent looks after them."""
EVENING = range(110, 160)
"""Steps of a day in which it provides for the night: eats and drinks when it is only `PECKISH`."""
PECKISH = 5
DAY_STEPS = 300
DAY, DUSK = 0.85, 0.65
"""Daylight in which it is safe to sleep, and below which monsters are to be reckoned with."""
STAGE = 5
"""Steps that an agent in danger walks before it looks around again."""
REACH_OF_MONSTERS = {"zombie": 2, "skeleton": 4}
"""Steps within which a monster is fought."""
MEAL = 10
"""Steps within which a cow is followed."""

_MATERIALS = {**MATERIAL_CHARACTERS, "?": Material.none}


def distance(a: Cell, b: Cell) -> int:
    """L1 distance of two cells."""
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


@dataclass(frozen=True, slots=True)
class Trip:
    """A way to a cell, and the first cell on it that has to be dug, if any."""

    cell: Cell
    cost: int
    before: Cell
    """Where to walk to: the last free cell before the one to dig, or the end of this stage of the way."""
    dig: Cell | None
    way: tuple[Cell, ...]
    """All cells from the agent's own to the last."""
    is_stage: bool = False
    """Whether the way goes on from there: in danger an agent looks around after a few steps."""


class Scene:
    """What one agent knows, as a map that ways can be found on.

    Args:
        observation: of an agent with a body.
    """

    def __init__(self, observation: CrafterObservation) -> None:
        assert observation.cell is not None
        self.seen = observation
        self.cell: Cell = observation.cell
        self._rows = observation.map.rows
        self._left, self._top = observation.map.left, observation.map.top
        self._taken = {entity.cell for entity in observation.entities} | {t.cell for t in observation.teammates}

    @property
    def monsters(self) -> list[SeenEntity]:
        """The monsters in view, nearest first."""
        return [entity for entity in self.seen.entities if entity.kind in ("zombie", "skeleton")]

    @property
    def in_danger(self) -> bool:
        """Whether monsters are in view, or it is dark enough for them to come."""
        return self.seen.cooperation.mobs and (bool(self.monsters) or self.seen.daylight < DUSK)

    @property
    def is_evening(self) -> bool:
        """Whether it is time to provide for a night with monsters."""
        return self.seen.cooperation.mobs and self.seen.step % DAY_STEPS in EVENING

    @property
    def left_steps(self) -> int:
        """Steps to the end of the episode."""
        return self.seen.max_steps - self.seen.step

    def id_of(self, cell: Cell) -> int:
        """The id of a cell."""
        return cell[0] * self.seen.size[1] + cell[1] + 1

    def cell_of(self, identity: int) -> Cell:
        """The cell with an id."""
        return divmod(identity - 1, self.seen.size[1])

    def held(self, item: Item) -> int:
        """Units of an item in the bag."""
        return self.seen.inventory.get(item.name, 0)

    def material(self, cell: Cell) -> Material:
        """What is known of a cell: grass under agents; `none` where nothing was seen, and off the map."""
        x, y = cell[0] - self._left, cell[1] - self._top
        if not (0 <= y < len(self._rows) and 0 <= x < len(self._rows[0])):
            return Material.none
        return _MATERIALS.get(self._rows[y][x], Material.grass)

    def known(self, material: Material) -> list[Cell]:
        """The known cells of a material, row by row."""
        characters = [character for character, found in _MATERIALS.items() if found is material]
        return [
            (self._left + x, self._top + y)
            for y, row in enumerate(self._rows)
            for x, character in enumerate(row)
            if character in characters
        ]

    def on_map(self, cell: Cell) -> bool:
        """Whether a cell is on the map."""
        return 0 <= cell[0] < self.seen.size[0] and 0 <= cell[1] < self.seen.size[1]

    def in_view(self, cell: Cell) -> bool:
        """Whether the agent sees a cell now."""
        return abs(cell[0] - self.cell[0]) <= VIEW[0] // 2 and abs(cell[1] - self.cell[1]) <= VIEW[1] // 2

    def needed(self, material: Material) -> int:
        """Agents that a cell of a material takes."""
        return self.seen.cooperation.agents.get(COLLECT[material].item.name, 1) if material in COLLECT else 1

    def can_collect(self, material: Material) -> bool:
        """Whether this agent holds the tool for a material."""
        tool = COLLECT[material].tool
        return tool is None or self.held(tool) > 0

    def would_collect(self, place: Cell, cell: Cell) -> bool:
        """Whether an agent at a place can act on a cell: beside it, or by a `do` that takes it as the nearest."""
        apart = distance(place, cell)
        if apart == 1 or self.seen.cooperation.area:
            return True
        for size in range(1, apart + 1):
            for dy in range(-size, size + 1):
                for dx in sorted({abs(dy) - size, size - abs(dy)}):
                    other = place[0] + dx, place[1] + dy
                    if other == cell:
                        return True
                    if self.material(other) in RESOURCE:
                        return False
        return False

    def _digs(self, material: Material) -> bool:
        return material in _DIGGABLE and self.needed(material) == 1 and self.can_collect(material)

    def search(self, wanted: Callable[[Cell], float | None], limit: int = 80) -> Trip | None:
        """Find the cell with the smallest cost of the way plus its own handicap.

        Args:
            wanted: gives the handicap of a cell that one can stand on, at least 0; None when it is no goal.
            limit: largest cost of a way.
        """
        cost = {self.cell: 0}
        previous: dict[Cell, Cell] = {}
        queue = [(0, self.cell)]
        best: tuple[float, Cell] | None = None
        while queue:
            spent, cell = heapq.heappop(queue)
            if spent > cost[cell]:
                continue
            if best is not None and spent >= best[0]:
                break
            handicap = wanted(cell)
            if handicap is not None and (best is None or spent + handicap < best[0]):
                best = spent + handicap, cell
            for dx, dy in STEPS.values():
                beside = cell[0] + dx, cell[1] + dy
                material = self.material(beside)
                if material in WALKABLE and beside not in self._taken:
                    price = spent + 1
                elif self._digs(material):
                    price = spent + DIG
                else:
                    continue
                if price <= limit and price < cost.get(beside, limit + 1):
                    cost[beside] = price
                    previous[beside] = cell
                    heapq.heappush(queue, (price, beside))
        return self._trip(best[1], cost[best[1]], previous) if best is not None else None

    def _trip(self, end: Cell, cost: int, previous: dict[Cell, Cell]) -> Trip:
        way = [end]
        while way[-1] != self.cell:
            way.append(previous[way[-1]])
        way.reverse()
        stage = way[: STAGE + 1] if self.in_danger else way
        for before, cell in pairwise(stage):
            if self.material(cell) not in WALKABLE:
                return Trip(end, cost, before, cell, tuple(way))
        return Trip(end, cost, stage[-1], None, tuple(way), is_stage=len(stage) < len(way))

    def beside(self, cell: Cell) -> list[Cell]:
        """The four neighbours of a cell."""
        return [(cell[0] + dx, cell[1] + dy) for dx, dy in STEPS.values()]

    def go(self, cell: Cell) -> list[SymbolicAction]:
        """Walk to a cell; nothing when there already."""
        return [] if cell == self.cell else [Navigate(target=Target.cell, id=self.id_of(cell))]

    def comes_to(self, entity: SeenEntity, steps: int) -> bool:
        """Whether an agent can walk beside a creature in so many steps."""
        trip = self.search(lambda cell: 0 if distance(cell, entity.cell) == 1 else None, steps)
        return trip is not None and all(self.material(cell) in WALKABLE for cell in trip.way)

    def advance(self, trip: Trip) -> list[SymbolicAction] | None:
        """Walk the first stage of a way, or up to what has to be dug, and dig it; None when all is one free stage."""
        if trip.dig is None:
            return self.go(trip.before) if trip.is_stage else None
        resource = RESOURCE[self.material(trip.dig)]
        return [*self.go(trip.before), Collect(resource=resource, target=self.id_of(trip.dig))]


_DIGGABLE = frozenset({Material.stone, Material.tree, Material.coal, Material.iron, Material.diamond})


def rest(steps: int = 1, rationale: str = "there is nothing to do") -> Plan:
    """A plan that waits."""
    return Plan((Noop(steps=steps),), None, rationale)


def survive(scene: Scene) -> Plan | None:
    """A plan that looks after life and needs, when one is wanting."""
    seen = scene.seen
    for monster in scene.monsters:
        if scene.comes_to(monster, REACH_OF_MONSTERS[monster.kind]):
            action = Collect(resource=Resource(monster.kind), target=monster.id, steps=8)
            return Plan((action,), Task("fight", f"{monster.kind}_{monster.id}"), "it attacks me")
    if is_sheltered(scene) and seen.daylight < DUSK:
        return None
    if (
        seen.needs["drink"] < (PECKISH if scene.is_evening else THIRSTY)
        and scene.left_steps > seen.needs["drink"] * DRINK_STEPS
    ):
        plan = fetch(scene, Material.water, times=9 - seen.needs["drink"])
        if plan is not None:
            return plan
    if (
        seen.needs["food"] < (PECKISH if scene.is_evening else HUNGRY)
        and scene.left_steps > seen.needs["food"] * FOOD_STEPS
    ):
        plan = eat(scene)
        if plan is not None:
            return plan
    tired = seen.needs["energy"] < TIRED and seen.daylight > DAY and not scene.monsters
    if (tired or seen.needs["energy"] == 0) and scene.left_steps > (seen.needs["energy"] + 2) * ENERGY_STEPS:
        return Plan((Sleep(),), Task("sleep", "here"), "I am tired, and it is safe to sleep")
    return None


def is_sheltered(scene: Scene) -> bool:
    """Whether nothing can come near: the agent's own cell and at most two more are shut in."""
    found, edge = {scene.cell}, [scene.cell]
    while edge and len(found) <= 3:
        cell = edge.pop()
        for beside in scene.beside(cell):
            if scene.material(beside) is Material.none and scene.on_map(beside):
                return False
            if scene.material(beside) in WALKABLE and beside not in found:
                found.add(beside)
                edge.append(beside)
    return len(found) <= 3


def eat(scene: Scene) -> Plan | None:
    """A plan that eats the nearest cow or ripe plant in view."""
    for entity in scene.seen.entities:
        if entity.kind in ("cow", "ripe_plant") and scene.comes_to(entity, MEAL):
            action = Collect(resource=Resource.food, target=entity.id, steps=8)
            return Plan((action,), Task("eat", f"{entity.kind}_{entity.id}"), "I am hungry")
    return None


def fetch(
    scene: Scene, material: Material, *, times: int = 1, avoid: frozenset[int] = frozenset(), patience: int = 3
) -> Plan | None:
    """A plan that collects from the nearest known cell of a material, digging its way; None when none can be reached.

    Args:
        scene: what the agent knows.
        material: of the cell.
        times: to collect from it, for water.
        avoid: ids of cells to leave alone.
        patience: times to try while too few agents are there.
    """

    def neighbour(cell: Cell) -> Cell | None:
        for beside in scene.beside(cell):
            if scene.material(beside) is material and scene.id_of(beside) not in avoid:
                return beside
        return None

    trip = scene.search(lambda cell: 0 if neighbour(cell) else None)
    if trip is None:
        return None
    task = Task("collect", material.name)
    if (start := scene.advance(trip)) is not None:
        return Plan(tuple(start), task, f"I am on my way to {material.name}")
    target = neighbour(trip.cell)
    assert target is not None
    identity = scene.id_of(target)
    collect = Collect(resource=RESOURCE[material], target=identity, steps=patience)
    return Plan(
        (*scene.go(trip.cell), *([collect] * times)),
        Task("collect", f"{material.name}_{identity}"),
        f"the nearest {material.name} that I know is {trip.cost} steps away",
    )


def explore(scene: Scene, heading: Direction) -> Plan | None:
    """A plan that goes to where something unseen can be seen, rather in a direction; None when there is nothing."""
    dx, dy = STEPS[heading]

    def handicap(cell: Cell) -> float | None:
        if not any(scene.on_map(beside) and scene.material(beside) is Material.none for beside in scene.beside(cell)):
            return None
        ahead = (cell[0] - scene.cell[0]) * dx + (cell[1] - scene.cell[1]) * dy
        return max(0.0, 20 - 2.0 * ahead)

    trip = scene.search(handicap)
    if trip is None:
        return None
    task = Task("explore", heading.value)
    actions = scene.advance(trip)
    if actions is None:
        actions = scene.go(trip.cell) or [Move(direction=heading, steps=1)]
    return Plan(tuple(actions), task, f"I look for what we need, {heading.value}")


def crafting_trip(scene: Scene, stations: tuple[Material, ...], limit: int = FAR) -> Trip | None:
    """The way to the nearest cell with all stations around it."""

    def wanted(cell: Cell) -> float | None:
        around = [(cell[0] + dx, cell[1] + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        near = {scene.material(beside) for beside in around}
        return 0 if min(cell) > 0 and near.issuperset(stations) else None

    return scene.search(wanted, limit)


def stations_of(scene: Scene, tool: Tool) -> tuple[Material, ...]:
    """The stations that a tool takes in this world."""
    stations = MAKE[tool.primitive].stations
    if len(stations) > 1 and not scene.seen.cooperation.iron_needs_table:
        return (Material.furnace,)
    return stations


def missing_inputs(scene: Scene, tool: Tool) -> dict[Item, int]:
    """Units that an agent lacks to make a tool, those for stations that are not near among them."""
    wanted = dict(MAKE[tool.primitive].uses)
    stations = stations_of(scene, tool)
    if crafting_trip(scene, stations) is None:
        if Material.furnace in stations:
            wanted[Item.stone] = wanted.get(Item.stone, 0) + FURNACE_STONE
        if Material.table in stations and crafting_trip(scene, (Material.table,)) is None:
            wanted[Item.wood] = wanted.get(Item.wood, 0) + TABLE_WOOD
    return {item: units - scene.held(item) for item, units in wanted.items() if units > scene.held(item)}


def ambition(scene: Scene) -> Tool | None:
    """The next tool to make; None when it is better to collect what brings points."""
    for tool in LADDER:
        is_idle = tool is Tool.stone_sword and not scene.seen.cooperation.mobs
        if not scene.held(Item[tool.value]) and not is_idle:
            is_extra = not scene.seen.goal and tool is not Tool.wood_pickaxe
            return None if is_extra and scene.left_steps < SPARE_STEPS else tool
    return None


def make(scene: Scene, tool: Tool, patience: int = 3) -> Plan:
    """A plan that makes a tool from what the bag holds, placing the stations that are not near."""
    task = Task("craft", tool.value)
    stations = stations_of(scene, tool)
    craft = Craft(item=tool, steps=patience)
    trip = crafting_trip(scene, stations)
    if trip is not None:
        start = scene.advance(trip)
        return Plan(tuple(start or [*scene.go(trip.cell), craft]), task, f"I can make a {tool.value}")
    start = []
    if Material.table in stations:
        table = crafting_trip(scene, (Material.table,))
        if table is not None and (way := scene.advance(table)) is not None:
            return Plan(tuple(way), task, "I am on my way to the table")
        start = scene.go(table.cell) if table is not None else [Place(object=Placeable.table)]
    if Material.furnace in stations:
        start.append(Place(object=Placeable.furnace))
    return Plan(tuple(start), task, f"I need {' and '.join(station.name for station in stations)} for a {tool.value}")


def harvest(scene: Scene, avoid: frozenset[int] = frozenset()) -> Plan | None:
    """A plan that collects alone what brings most points for the steps that it takes.

    Args:
        scene: what the agent knows.
        avoid: ids of cells that it leaves to others.
    """
    points = {hint.kind: hint.score for hint in scene.seen.tasks}

    def gains(cell: Cell) -> list[tuple[float, Cell]]:
        found = []
        for beside in scene.beside(cell):
            material = scene.material(beside)
            alone = material in _DIGGABLE and scene.needed(material) == 1 and scene.can_collect(material)
            if alone and scene.id_of(beside) not in avoid:
                found.append((points.get(material.name, 1.0), beside))
        return sorted(found, reverse=True)

    def handicap(cell: Cell) -> float | None:
        found = gains(cell)
        if not found:
            return None
        total = sum(score for score, _ in found) if scene.seen.cooperation.area else found[0][0]
        return max(0.0, DETOUR * (1 - total / RICH))

    trip = scene.search(handicap)
    if trip is None:
        return None
    if (start := scene.advance(trip)) is not None:
        return Plan(tuple(start), Task("collect", "points"), "I am on my way to more")
    _, target = gains(trip.cell)[0]
    material, identity = scene.material(target), scene.id_of(target)
    return Plan(
        (*scene.go(trip.cell), Collect(resource=RESOURCE[material], target=identity)),
        Task("collect", f"{material.name}_{identity}"),
        "it brings most for the way",
    )
