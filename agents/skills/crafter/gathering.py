"""Gatherings of the heuristic team: several agents around one cell, so that they act on it in the same step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from crafter_env import Cell, Collect, Craft, Item, Material, Tool
from maeil.plans import Plan, Task
from quorum.agents.skills.crafter.needs import rest, stations_of
from quorum.agents.skills.crafter.scene import RESOURCE, WALKABLE, Scene, distance

LIFETIME = 80
"""Steps after which a gathering that has come to nothing is given up."""
TRIES = 8
"""Times to try before looking around again."""
OPENING = 4
"""Cells around an ore within which stones are cleared away to make room."""


@dataclass(slots=True)
class Gathering:
    """A cell on which several agents must act at once.

    Attributes:
        what: the resource of the cell, or a tool to make at the table or furnace there.
        cell: where.
        members: who takes part.
        begun: environment step.
        spots: where each member is to stand.
        arrived: members that stand there.
    """

    what: Material | Tool
    cell: Cell
    members: frozenset[int]
    begun: int
    spots: dict[int, Cell] = field(default_factory=dict)
    arrived: set[int] = field(default_factory=set)

    @property
    def task(self) -> Task:
        """What its members' plans are for."""
        if isinstance(self.what, Tool):
            return Task("craft", self.what.value)
        return Task("collect", self.what.name)

    def is_over(self, scenes: Mapping[int, Scene], step: int) -> bool:
        """Whether the cell is gone, all have the tool, a member is dead, or it has lasted too long."""
        if step - self.begun > LIFETIME or not self.members <= scenes.keys():
            return True
        known = [scenes[member] for member in self.members]
        if isinstance(self.what, Tool):
            return all(scene.held(Item[self.what.value]) for scene in known)
        return any(scene.material(self.cell) not in (self.what, Material.none) for scene in known)

    def plan(self, agent: int, scene: Scene) -> Plan:
        """The next plan of a member: to its spot, then act, crafts not before all have come."""
        if scene.material(self.cell) is Material.none:
            return approach(scene, self.cell, self.task)
        spot = self._spot(agent, scene)
        if spot is None:
            return approach(scene, self.cell, self.task)
        if spot != scene.cell:
            self.arrived.discard(agent)
            trip = scene.search(lambda cell: 0 if cell == spot else None)
            return Plan(tuple(scene.go(trip.before if trip is not None else spot)), self.task, "we gather there")
        self.arrived.add(agent)
        if isinstance(self.what, Tool):
            if self.arrived < self.members:
                return rest(rationale="I wait for the others at the table")
            return Plan((Craft(item=self.what, steps=TRIES),), self.task, "we make it together")
        collect = Collect(resource=RESOURCE[self.what], target=scene.id_of(self.cell), steps=TRIES)
        return Plan((collect,), self.task, "we collect it together")

    def _spot(self, agent: int, scene: Scene) -> Cell | None:
        """The free place around the cell that is nearest, apart from those of the other members."""
        taken = {cell for member, cell in self.spots.items() if member != agent}
        radius = 1 if isinstance(self.what, Tool) else scene.seen.cooperation.radius
        free = [
            cell for cell in places(scene, self.cell, radius, around=isinstance(self.what, Tool)) if cell not in taken
        ]
        if scene.cell in free and self.spots.get(agent) == scene.cell:
            return scene.cell
        trip = scene.search(lambda cell: 2.0 * (distance(cell, self.cell) - 1) if cell in free else None)
        if trip is None or trip.dig is not None:
            self.spots.pop(agent, None)
            return None
        self.spots[agent] = trip.cell
        return trip.cell


def places(scene: Scene, cell: Cell, radius: int, *, around: bool) -> list[Cell]:
    """The known cells from which a cell can be acted on: within a radius, or in the 3 x 3 around."""
    x, y = cell
    size = 1 if around else radius
    found = [(x + dx, y + dy) for dx in range(-size, size + 1) for dy in range(-size, size + 1) if dx or dy]
    return [
        place
        for place in found
        if (around or distance(place, cell) <= radius)
        and scene.material(place) in WALKABLE
        and (min(place) > 0 if around else scene.would_collect(place, cell))
    ]


def reachable(scene: Scene, limit: int = 60) -> set[Cell]:
    """The cells that an agent can walk to without digging, within some steps."""
    found = edge = {scene.cell}
    for _ in range(limit):
        beside = {cell for inner in edge for cell in scene.beside(inner)}
        edge = {cell for cell in beside - found if scene.material(cell) in WALKABLE}
        found = found | edge
        if not edge:
            break
    return found


def cells_of(scene: Scene, material: Material, room: int, avoid: set[Cell]) -> list[Cell]:
    """The known cells of a material that an agent can reach, nearest first, with room for so many agents."""
    free = reachable(scene)
    radius = scene.seen.cooperation.radius
    found = []
    for cell in scene.known(material):
        if cell not in avoid:
            spots = [place for place in places(scene, cell, radius, around=False) if place in free]
            if len(spots) >= room:
                found.append((distance(scene.cell, cell), cell))
    return [cell for _, cell in sorted(found)]


def make_room(scene: Scene, ores: list[Cell], room: int, avoid: set[Cell]) -> Cell | None:
    """The stone nearest to one of some ores that so many agents can dig, so that more of them find room there."""
    stones = cells_of(scene, Material.stone, room, avoid)
    near = [
        (distance(stone, ore), distance(scene.cell, stone), stone)
        for stone in stones
        for ore in ores
        if distance(stone, ore) <= OPENING
    ]
    return min(near)[2] if near else None


def station(scene: Scene, tool: Tool, limit: int) -> Cell | None:
    """The known station around which a tool can be made together: the table, where none is needed the furnace."""
    wanted = stations_of(scene, tool)
    for cell in sorted(scene.known(wanted[0]), key=lambda cell: distance(scene.cell, cell)):
        others = [(cell[0] + dx, cell[1] + dy) for dx in (-2, -1, 0, 1, 2) for dy in (-2, -1, 0, 1, 2)]
        materials = {scene.material(other) for other in others}
        if distance(scene.cell, cell) <= limit and materials.issuperset(wanted):
            return cell
    return None


def approach(scene: Scene, goal: Cell, task: Task) -> Plan:
    """A plan that goes as near to a cell as an agent knows a way to."""
    trip = scene.search(lambda cell: 3.0 * distance(cell, goal))
    if trip is None or (trip.cell == scene.cell and trip.dig is None):
        return rest(rationale="I wait for the others")
    return Plan(tuple(scene.advance(trip) or scene.go(trip.cell)), task, "I go to where the others need me")
