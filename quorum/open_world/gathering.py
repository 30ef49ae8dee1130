"""How open-world agents gather: places around a cell, whom to call, and the plans of those called."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from crafter_env import COLLECT, Cell, Collect, Craft, Item, Material, Navigate, Target, Tool
from maeil.mind import View
from maeil.plans import Plan, PlanStatus, Task
from quorum.open_world.hearsay import Assignment, Hearsay
from quorum.open_world.needs import SOURCE, ambition, missing_inputs, rest, stations_of
from quorum.open_world.scene import RESOURCE, WALKABLE, Scene, around, distance

LIFETIME = 80
"""Steps after which a failed gathering is abandoned."""
TRIES = 8
"""Attempts before looking around again."""
OPENING = 4
"""Distance from an ore, in cells, within which stones are cleared to make room."""


@dataclass(slots=True)
class Gathering:
    """A cell on which several agents must act at once.

    Attributes:
        what: the material of the cell, or a tool to make at the station there.
        cell: the cell.
        members: the agents that take part.
        start: environment step.
        spots: each member's assigned place.
        arrived: members standing at their place.
    """

    what: Material | Tool
    cell: Cell
    members: frozenset[int]
    start: int
    spots: dict[int, Cell] = field(default_factory=dict)
    arrived: set[int] = field(default_factory=set)

    @property
    def task(self) -> Task:
        """The task of the members' plans."""
        if isinstance(self.what, Tool):
            return Task("craft", self.what.value)
        return Task("collect", self.what.name)

    def is_over(self, scenes: Mapping[int, Scene], step: int) -> bool:
        """Return whether the cell is gone, all members have the tool, a member is dead, or `LIFETIME` has passed."""
        if step - self.start > LIFETIME or not self.members <= scenes.keys():
            return True
        known = [scenes[member] for member in self.members]
        if isinstance(self.what, Tool):
            return all(scene.held(Item[self.what.value]) for scene in known)
        return any(scene.material(self.cell) not in (self.what, Material.none) for scene in known)

    def plan(self, agent: int, scene: Scene) -> Plan:
        """Return a member's next plan: go to its spot, then act; crafting waits until all have arrived."""
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
        """Return the nearest free place around the cell that no other member has taken."""
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
    """Return the known cells from which a cell can be acted on: within a radius, or in the surrounding 3 x 3."""
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
    """Return the cells that an agent can reach without digging, within `limit` steps."""
    found = edge = {scene.cell}
    for _ in range(limit):
        nearby = {cell for inner in edge for cell in scene.neighbours(inner)}
        edge = {cell for cell in nearby - found if scene.material(cell) in WALKABLE}
        found = found | edge
        if not edge:
            break
    return found


def cells_of(scene: Scene, material: Material, room: int, avoid: set[Cell]) -> list[Cell]:
    """Return the reachable known cells of a material with enough places around them, nearest first."""
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
    """Return the stone nearest to an ore that `room` agents can dig together, to make room at the ore."""
    stones = cells_of(scene, Material.stone, room, avoid)
    near = [
        (distance(stone, ore), distance(scene.cell, stone), stone)
        for stone in stones
        for ore in ores
        if distance(stone, ore) <= OPENING
    ]
    return min(near)[2] if near else None


def station(scene: Scene, tool: Tool, limit: int) -> Cell | None:
    """Return the known station for making a tool together: the table, or the furnace if no table is needed."""
    wanted = stations_of(scene, tool)
    for cell in sorted(scene.known(wanted[0]), key=lambda cell: distance(scene.cell, cell)):
        others = [(cell[0] + dx, cell[1] + dy) for dx in (-2, -1, 0, 1, 2) for dy in (-2, -1, 0, 1, 2)]
        materials = {scene.material(other) for other in others}
        if distance(scene.cell, cell) <= limit and materials.issuperset(wanted):
            return cell
    return None


def approach(scene: Scene, goal: Cell, task: Task) -> Plan:
    """Return a plan to get as close to a cell as the agent knows a path to."""
    trip = scene.search(lambda cell: 3.0 * distance(cell, goal))
    if trip is None or (trip.cell == scene.cell and trip.dig is None):
        return rest(rationale="I wait for the others")
    return Plan(tuple(scene.advance(trip) or scene.go(trip.cell)), task, "I go to where the others need me")


CANDIDATES = 8
"""Number of nearest cells per material considered for a call."""
COMPANY = 12
"""Distance to a target, in cells, within which extra agents join: every participant gets the yield."""
SLACK = 10
"""Extra steps that waiting agents allow for."""
LONGEST = 64
"""Maximum number of attempts."""
STATION_DISTANCE = 40
"""Maximum distance to a station, in cells, for making tools together."""
VALUE = (Material.diamond, Material.iron, Material.coal, Material.stone)
"""Materials that score points, best first."""


class Caller:
    """Decides what an agent calls others to do.

    Args:
        view: the agent's view.
        scene: its knowledge of the map.
        heard: its knowledge of the others.
    """

    def __init__(self, view: View, scene: Scene, heard: Hearsay) -> None:
        self._view = view
        self._scene = scene
        self._heard = heard
        joint = {agent for said in heard.assignments if said.is_joint for agent in said.agents}
        self._free = [other for other in heard.cells if other != view.agent and other not in joint]

    def call(self) -> Assignment | None:
        """Return the next joint task to call for; None if there is none or too few agents could come."""
        tool = ambition(self._scene)
        if tool is None:
            return self._to_collect(VALUE)
        lacking = missing_inputs(self._scene, tool)
        return self._to_collect([SOURCE[item] for item in lacking]) if lacking else self._to_craft(tool)

    def _to_craft(self, tool: Tool) -> Assignment | None:
        quorum = self._scene.seen.cooperation.craft_agents
        table = station(self._scene, tool, STATION_DISTANCE)
        if quorum == 1 or table is None:
            return None
        task = Task("craft", tool.value)
        able = self._nearest(self._free, task, table)
        wanting = [other for other in able if not self._heard.holds(other, tool.value)]
        others = wanting if len(wanting) >= quorum - 1 else able[: quorum - 1]
        return self._assignment(others, task, table) if len(others) >= quorum - 1 else None

    def _to_collect(self, materials: Sequence[Material]) -> Assignment | None:
        """Weigh the points of all participants against the travel time of the last to arrive."""
        scene = self._scene
        ground = reachable(scene)
        failed = {plan.task for plan in self._view.outcomes if plan.status in (PlanStatus.FAILED, PlanStatus.TIMED_OUT)}
        best: tuple[float, Assignment] | None = None
        for material in materials:
            needed, recipe = scene.needed(material), COLLECT[material]
            if needed == 1 or not scene.can_collect(material):
                continue
            able = [other for other in self._free if recipe.tool is None or self._heard.holds(other, recipe.tool.name)]
            for cell in sorted(scene.known(material), key=lambda cell: distance(cell, scene.cell))[:CANDIDATES]:
                task = Task("collect", f"{material.name}_{scene.id_of(cell)}")
                others = self._company(able, task, cell, needed)
                if len(others) < needed - 1 or task in failed or not _has_room(scene, cell, ground, needed):
                    continue
                said = self._assignment(others, task, cell)
                points = scene.seen.cooperation.points[recipe.item.name] * len(said.agents)
                value = points / (said.steps + distance(scene.cell, cell))
                if best is None or value > best[0]:
                    best = value, said
        return best[1] if best is not None else None

    def _company(self, able: Sequence[int], task: Task, cell: Cell, needed: int) -> list[int]:
        """Return the nearest required agents, plus all others within `COMPANY`."""
        nearest = self._nearest(able, task, cell)
        cells = self._heard.cells
        return nearest[: needed - 1] + [o for o in nearest[needed - 1 :] if distance(cells[o], cell) <= COMPANY]

    def _nearest(self, agents: Sequence[int], task: Task, cell: Cell) -> list[int]:
        willing = [other for other in agents if (other, task) not in self._heard.refused]
        return sorted(willing, key=lambda other: (distance(self._heard.cells[other], cell), other))

    def _assignment(self, others: Sequence[int], task: Task, cell: Cell) -> Assignment:
        scene = self._scene
        farthest = max(distance(place, cell) for place in (scene.cell, *(self._heard.cells[o] for o in others)))
        group = frozenset({self._view.agent, *others})
        return Assignment(group, task, scene.id_of(cell), min(farthest + SLACK, LONGEST), self._view.t)


def _has_room(scene: Scene, cell: Cell, ground: Collection[Cell], needed: int) -> bool:
    """Return whether `needed` agents can act on a cell at once, as far as the agent knows.

    Unknown places count as free, and so do places that one agent can dig.
    """
    radius = scene.seen.cooperation.radius
    spots = {place for place in places(scene, cell, radius, around=False) if place in ground}
    is_hearsay = cell in scene.heard(scene.material(cell))
    for place in filter(scene.on_map, around(cell, radius)):
        material = scene.material(place)
        if scene.digs(material) or material is Material.none or (is_hearsay and material in WALKABLE):
            spots.add(place)
    return len(spots) >= needed


def follow(scene: Scene, said: Assignment) -> Plan | None:
    """Return an agent's plan for its assignment; None if it knows it cannot do it."""
    if hindrance(scene, said):
        return None
    cell = scene.cell_of(said.cell)
    if said.task.kind == "craft":
        tool = Tool(said.task.target)
        target = Target.table if Material.table in stations_of(scene, tool) else Target.furnace
        return Plan((Navigate(target=target, id=said.cell), Craft(item=tool, steps=said.steps)), said.task, _why(said))
    material = Material[said.task.target.rpartition("_")[0]]
    start = _stage(scene, cell)
    if start is not None:
        return replace(start, task=said.task, rationale=_why(said))
    collect = Collect(resource=RESOURCE[material], target=said.cell, steps=said.steps)
    return Plan((Navigate(target=Target[material.name], id=said.cell), collect), said.task, _why(said))


def hindrance(scene: Scene, said: Assignment) -> str:
    """Return why an agent cannot do its assignment, as far as it knows; empty if it can."""
    if said.task.kind == "craft":
        tool = Item[said.task.target]
        quorum = scene.seen.cooperation.craft_agents
        return f"I hold a {tool.name}" if scene.held(tool) and len(said.agents) > quorum else ""
    cell, material = scene.cell_of(said.cell), Material[said.task.target.rpartition("_")[0]]
    found, tool_needed = scene.material(cell), COLLECT[material].tool
    if tool_needed is not None and not scene.held(tool_needed):
        return f"I hold no {tool_needed.name}"
    if scene.seen.known_only and found is Material.none:
        return "I have not seen that cell"
    return "" if found in (material, Material.none) else f"there is {found.name}"


def _stage(scene: Scene, cell: Cell) -> Plan | None:
    """Return the first stage of a path with digging or danger; None if the path can be walked in one go."""
    trip = scene.search(lambda place: 0 if distance(place, cell) == 1 else None)
    actions = scene.advance(trip) if trip is not None else None
    return Plan(tuple(actions)) if actions else None


def _why(said: Assignment) -> str:
    return "we do it together" if said.is_joint else "it is my part of the work"
