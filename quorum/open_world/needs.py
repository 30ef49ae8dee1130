"""Plans for an open-world agent's next need: life, food, tools, unseen land, shelter."""

from __future__ import annotations

from math import fsum

from crafter_env import (
    MAKE,
    PLACE,
    Action,
    Cell,
    Collect,
    Craft,
    Direction,
    Item,
    Material,
    Move,
    Navigate,
    Noop,
    Place,
    Placeable,
    Resource,
    Sleep,
    Target,
    Tool,
    primitive_of,
)
from maeil.plans import Plan, Task
from quorum.open_world.scene import DAY, DUSK, RESOURCE, STEPS, WALKABLE, Scene, Trip, is_sheltered

SOURCE = {Item[resource.value]: material for material, resource in RESOURCE.items()}
PATIENCE = 12
"""Attempts of the simulated speaker while too few agents are present."""
LADDER = (Tool.wood_pickaxe, Tool.stone_pickaxe, Tool.stone_sword, Tool.iron_pickaxe)
"""Tools in the order in which an agent makes them; the sword only if there are monsters."""
TABLE_WOOD = PLACE[Action.place_table].amount
FURNACE_STONE = PLACE[Action.place_furnace].amount
SPARE_STEPS = 400
"""Minimum steps left in an open episode to make better tools than the first."""
FARTHEST = 200
"""Maximum path cost to a place known from messages."""
FAR = 25
"""Distance to a station, in steps, beyond which the agent builds another."""
RICH = 45.0
"""Points of a `do` that justify a detour of `DETOUR` steps compared with one worth nothing."""
DETOUR = 6.0
DRINK_STEPS, FOOD_STEPS, ENERGY_STEPS = 21, 26, 31
"""Steps per unit of decrease of each need."""
THIRSTY, HUNGRY, TIRED = 4, 4, 3
"""Levels below which an agent looks after each need."""
PECKISH = 5
"""The same level for the evening, when the agent prepares for the night."""
REACH_OF_MONSTERS = {"zombie": 2, "skeleton": 4}
"""Distance in steps within which the agent fights a monster."""
MEAL = 10
"""Distance in steps within which the agent follows a cow."""


def rest(steps: int = 1, rationale: str = "there is nothing to do") -> Plan:
    """Return a plan that waits."""
    return Plan((Noop(steps=steps),), None, rationale)


def survive(scene: Scene) -> Plan | None:
    """Return a plan that looks after life and needs; None if nothing is urgent."""
    seen = scene.seen
    for monster in scene.monsters:
        if scene.comes_to(monster, REACH_OF_MONSTERS[monster.kind]):
            action = Collect(resource=Resource(monster.kind), target=monster.id, steps=8)
            return Plan((action,), Task("fight", f"{monster.kind}_{monster.id}"), "it attacks me")
    if is_sheltered(scene) and seen.daylight < DUSK:
        return None
    for need, enough, steps in (("drink", THIRSTY, DRINK_STEPS), ("food", HUNGRY, FOOD_STEPS)):
        level = seen.needs[need]
        if level < (PECKISH if scene.is_evening else enough) and scene.left_steps > level * steps:
            plan = fetch(scene, Material.water, times=9 - level) if need == "drink" else eat(scene)
            if plan is not None:
                return plan
    tired = seen.needs["energy"] < TIRED and seen.daylight > DAY and not scene.monsters
    if (tired or seen.needs["energy"] == 0) and scene.left_steps > (seen.needs["energy"] + 2) * ENERGY_STEPS:
        return Plan((Sleep(),), Task("sleep", "here"), "I am tired, and it is safe to sleep")
    return None


def eat(scene: Scene) -> Plan | None:
    """Return a plan to eat the nearest cow or ripe plant in view."""
    for entity in scene.seen.entities:
        if entity.kind in ("cow", "ripe_plant") and scene.comes_to(entity, MEAL):
            action = Collect(resource=Resource.food, target=entity.id, steps=8)
            return Plan((action,), Task("eat", f"{entity.kind}_{entity.id}"), "I am hungry")
    return None


def fetch(
    scene: Scene, material: Material, *, times: int = 1, avoid: frozenset[int] = frozenset(), patience: int = 3
) -> Plan | None:
    """Return a plan to collect from the nearest known cell of a material, digging if needed; None if none is reachable.

    Args:
        scene: the agent's knowledge.
        material: the material of the cell.
        times: number of collections, for water.
        avoid: ids of cells to leave alone.
        patience: attempts while too few agents are present.
    """

    def adjacent(cell: Cell) -> Cell | None:
        for neighbour in scene.neighbours(cell):
            if scene.material(neighbour) is material and scene.id_of(neighbour) not in avoid:
                return neighbour
        return None

    trip = scene.search(lambda cell: 0 if adjacent(cell) else None)
    if trip is None and scene.heard(material):
        trip = scene.search(lambda cell: 0 if adjacent(cell) else None, FARTHEST, hopeful=True)
    if trip is None:
        return None
    task = Task("collect", material.name)
    if (start := scene.advance(trip)) is not None:
        return Plan(tuple(start), task, f"I am on my way to {material.name}")
    target = adjacent(trip.cell)
    assert target is not None
    identity = scene.id_of(target)
    collect = Collect(resource=RESOURCE[material], target=identity, steps=patience)
    return Plan(
        (*scene.go(trip.cell), *([collect] * times)),
        Task("collect", f"{material.name}_{identity}"),
        f"the nearest {material.name} that I know is {trip.cost} steps away",
    )


def explore(scene: Scene, heading: Direction) -> Plan | None:
    """Return a plan to see unseen land, preferably in a direction; None if none is reachable."""
    dx, dy = STEPS[heading]

    def handicap(cell: Cell) -> float | None:
        if not any(
            scene.on_map(neighbour) and scene.material(neighbour) is Material.none
            for neighbour in scene.neighbours(cell)
        ):
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
    """Return the path to the nearest cell surrounded by all stations."""

    def wanted(cell: Cell) -> float | None:
        around = [(cell[0] + dx, cell[1] + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        near = {scene.material(neighbour) for neighbour in around}
        return 0 if min(cell) > 0 and near.issuperset(stations) else None

    trip = scene.search(wanted, limit)
    if trip is None and all(scene.heard(station) for station in stations):
        trip = scene.search(wanted, limit, hopeful=True)
    return trip


def stations_of(scene: Scene, tool: Tool) -> tuple[Material, ...]:
    """Return the stations that a tool takes in this world."""
    stations = MAKE[primitive_of(tool)].stations
    if len(stations) > 1 and not scene.seen.cooperation.iron_needs_table:
        return (Material.furnace,)
    return stations


def missing_inputs(scene: Scene, tool: Tool) -> dict[Item, int]:
    """Return the units an agent lacks for a tool, including those for stations that are not nearby."""
    wanted = dict(MAKE[primitive_of(tool)].uses)
    stations = stations_of(scene, tool)
    if crafting_trip(scene, stations) is None:
        if Material.furnace in stations:
            wanted[Item.stone] = wanted.get(Item.stone, 0) + FURNACE_STONE
        if Material.table in stations and crafting_trip(scene, (Material.table,)) is None:
            wanted[Item.wood] = wanted.get(Item.wood, 0) + TABLE_WOOD
    return {item: units - scene.held(item) for item, units in wanted.items() if units > scene.held(item)}


def ambition(scene: Scene) -> Tool | None:
    """Return the next tool to make; None if collecting points is better."""
    for tool in LADDER:
        is_idle = tool is Tool.stone_sword and not scene.seen.cooperation.mobs
        if not scene.held(Item[tool.value]) and not is_idle:
            is_extra = scene.seen.goal == "open" and tool is not Tool.wood_pickaxe
            return None if is_extra and scene.left_steps < SPARE_STEPS else tool
    return None


def make(scene: Scene, tool: Tool, patience: int = 3) -> Plan:
    """Return a plan to make a tool from the inventory, placing stations that are not nearby."""
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
    """Return a plan to collect alone the target with the most points for its path cost.

    Args:
        scene: the agent's knowledge.
        avoid: ids of cells left to others.
    """
    points = {SOURCE[Item[name]].name: score for name, score in scene.seen.cooperation.points.items()}

    def gains(cell: Cell) -> list[tuple[float, Cell]]:
        found = []
        for neighbour in scene.neighbours(cell):
            material = scene.material(neighbour)
            if scene.digs(material) and scene.id_of(neighbour) not in avoid:
                found.append((points.get(material.name, 1.0), neighbour))
        return sorted(found, reverse=True)

    def handicap(cell: Cell) -> float | None:
        found = gains(cell)
        if not found:
            return None
        total = fsum(score for score, _ in found) if scene.seen.cooperation.area else found[0][0]
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


def work(scene: Scene, *, avoid: frozenset[int] = frozenset(), patience: int = PATIENCE) -> Plan | None:
    """Return the simulated speaker's work: its next tool or the inputs for it; without one, collecting points.

    Args:
        scene: the agent's knowledge.
        avoid: ids of cells left to others.
        patience: attempts while too few agents are present.
    """
    tool = ambition(scene)
    if tool is None:
        plans = [fetch(scene, material, avoid=avoid, patience=patience) for material in _worth(scene)]
        return next((plan for plan in plans if plan is not None), None) or harvest(scene, avoid)
    lacking = missing_inputs(scene, tool)
    if not lacking:
        return make(scene, tool, patience)
    plans = [fetch(scene, SOURCE[item], avoid=avoid, patience=patience) for item in lacking]
    return next((plan for plan in plans if plan is not None), None)


def _worth(scene: Scene) -> list[Material]:
    """Return joint materials, best first, for which enough teammates are in view."""
    company = range(2, len(scene.seen.teammates) + 2)
    wanted = (Material.diamond, Material.iron, Material.coal)
    return [material for material in wanted if scene.can_collect(material) and scene.needed(material) in company]


DARK = 0.6
"""Daylight below which an agent stays in its shelter."""
FAINT = 3
"""Health at or below which it hides from monsters at any time."""
WELL = 6
"""Health at which it leaves the shelter again."""
WAY = 30
"""Maximum path cost to a shelter."""
TASK = Task("hide", "shelter")


def hide(scene: Scene) -> Plan | None:
    """Return a plan to enter a shelter, or stay in it, in the dark or at low health; None if not needed."""
    seen = scene.seen
    needs_shelter = seen.daylight < DARK or seen.needs["health"] <= FAINT
    if not seen.cooperation.mobs:
        return None
    if is_sheltered(scene):
        starves = min(seen.needs["food"], seen.needs["drink"]) == 0
        if needs_shelter or (seen.needs["health"] < WELL and not starves):
            action = Sleep() if seen.needs["energy"] < 9 else Noop(steps=5)
            return Plan((action,), TASK, "I am safe here until it is light")
        return None
    return _dig_in(scene) if needs_shelter else None


def _dig_in(scene: Scene) -> Plan | None:
    """Dig two cells into rock, step back by one, which turns the agent to the entrance, and close it."""
    if not scene.held(Item.wood_pickaxe) or scene.needed(Material.stone) > 1:
        return None

    def shelter(cell: Cell) -> tuple[Cell, Cell] | None:
        for dx, dy in STEPS.values():
            first, second = (cell[0] + dx, cell[1] + dy), (cell[0] + 2 * dx, cell[1] + 2 * dy)
            walls = {*scene.neighbours(first), *scene.neighbours(second)} - {cell, first, second}
            if scene.material(first) is scene.material(second) is Material.stone and all(
                _is_wall(scene, w) for w in walls
            ):
                return first, second
        return None

    trip = scene.search(lambda cell: 0 if scene.material(cell) in WALKABLE and shelter(cell) else None, WAY)
    if trip is None:
        return None
    if (start := scene.advance(trip)) is not None:
        return Plan(tuple(start), TASK, "I look for shelter")
    found = shelter(trip.cell)
    assert found is not None
    first, second = map(scene.id_of, found)
    actions = (
        *scene.go(trip.cell),
        Collect(resource=Resource.stone, target=first),
        Navigate(target=Target.cell, id=first),
        Collect(resource=Resource.stone, target=second),
        Navigate(target=Target.cell, id=second),
        Navigate(target=Target.cell, id=first),
        Place(object=Placeable.stone),
    )
    return Plan(actions, TASK, "I dig in for the night")


def _is_wall(scene: Scene, cell: Cell) -> bool:
    return scene.material(cell) not in WALKABLE and (
        scene.material(cell) is not Material.none or not scene.on_map(cell)
    )
