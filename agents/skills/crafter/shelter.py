"""How a rule-based mind of the open world gets through the night: two cells deep in the rock, a stone behind it."""

from __future__ import annotations

from crafter_env import Cell, Collect, Item, Material, Navigate, Noop, Place, Placeable, Resource, Sleep, Target
from maeil.plans import Plan, Task
from quorum.agents.skills.crafter.scene import STEPS, WALKABLE, Scene, is_sheltered

DARK = 0.6
"""Daylight below which an agent stays in its shelter."""
FAINT = 3
"""Health at which it hides from monsters at any time."""
WELL = 6
"""Health with which it comes out again."""
WAY = 30
"""Cost of the longest way to a shelter."""
TASK = Task("hide", "shelter")


def hide(scene: Scene) -> Plan | None:
    """A plan that goes into a shelter, or stays in one, in the dark or with little health; None without need."""
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
    """Dig two cells into rock, come back by one, which turns to the entrance, and close it."""
    if not scene.held(Item.wood_pickaxe) or scene.needed(Material.stone) > 1:
        return None

    def shelter(cell: Cell) -> tuple[Cell, Cell] | None:
        for dx, dy in STEPS.values():
            first, second = (cell[0] + dx, cell[1] + dy), (cell[0] + 2 * dx, cell[1] + 2 * dy)
            walls = {*scene.beside(first), *scene.beside(second)} - {cell, first, second}
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
