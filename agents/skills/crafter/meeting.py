"""How simulated speakers of the open world come together: whom to call to what, and the plan of one who was called."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from crafter_env import COLLECT, Cell, Collect, Craft, Item, Material, Navigate, Target, Tool
from maeil.mind import View
from maeil.plans import Plan, PlanStatus, Task
from quorum.agents.skills.crafter.gathering import places, reachable, station
from quorum.agents.skills.crafter.hearsay import Hearsay
from quorum.agents.skills.crafter.needs import SOURCE, ambition, missing_inputs, stations_of
from quorum.agents.skills.crafter.scene import DIGGABLE, RESOURCE, WALKABLE, Scene, distance
from quorum.agents.skills.crafter.words import Assignment

CANDIDATES = 8
"""Cells of a material, nearest first, that a call is weighed for."""
COMPANY = 12
"""Cells to a target within which others come along though they are not needed: all who take part get the yield."""
SLACK = 10
"""Steps that those who wait allow for."""
LONGEST = 64
"""Times to try, at most."""
STATION_DISTANCE = 40
"""Cells to a station at which tools are made together."""
VALUE = (Material.diamond, Material.iron, Material.coal, Material.stone)
"""What brings points, best first."""


class Caller:
    """Decides what an agent calls others to.

    Args:
        view: of the agent.
        scene: what it knows of the map.
        heard: what it knows of others.
    """

    def __init__(self, view: View, scene: Scene, heard: Hearsay) -> None:
        self._view = view
        self._scene = scene
        self._heard = heard
        joint = {agent for said in heard.assignments if said.is_joint for agent in said.agents}
        self._free = [other for other in heard.cells if other != view.agent and other not in joint]

    def call(self) -> Assignment | None:
        """What it would do together with others next; None when nothing, or when too few could come."""
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
        """Weigh points for all who take part against the way of the last who comes."""
        scene = self._scene
        ground, failed = reachable(scene), _failed(self._view)
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
        """Those who are needed, the nearest, and those who are near anyway."""
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


def _failed(view: View) -> set[Task | None]:
    return {plan.task for plan in view.outcomes if plan.status in (PlanStatus.FAILED, PlanStatus.TIMED_OUT)}


def _has_room(scene: Scene, cell: Cell, ground: Collection[Cell], needed: int) -> bool:
    """Whether so many agents find a place from which they can act on a cell, as far as one knows.

    Places that it does not know count as free, and so do those that can be dug by one agent.
    """
    radius = scene.seen.cooperation.radius
    spots = {place for place in places(scene, cell, radius, around=False) if place in ground}
    is_hearsay = cell in scene.heard(scene.material(cell))
    for dx in range(-radius, radius + 1):
        for dy in range(-radius, radius + 1):
            place = cell[0] + dx, cell[1] + dy
            material = scene.material(place)
            digs = material in DIGGABLE and scene.needed(material) == 1 and scene.can_collect(material)
            hopeful = material is Material.none or (is_hearsay and material in WALKABLE)
            if 0 < distance(place, cell) <= radius and scene.on_map(place) and (digs or hopeful):
                spots.add(place)
    return len(spots) >= needed


def follow(scene: Scene, said: Assignment) -> Plan | None:
    """The plan of an agent for what it is to do; None when it cannot do it, as far as it knows."""
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
    """Why an agent cannot do what it is to do, as far as it knows; empty when it can."""
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
    """The first part of a way on which something has to be dug, or in danger; None when it is walked in one go."""
    trip = scene.search(lambda place: 0 if distance(place, cell) == 1 else None)
    actions = scene.advance(trip) if trip is not None else None
    return Plan(tuple(actions)) if actions else None


def _why(said: Assignment) -> str:
    return "we do it together" if said.is_joint else "it is my part of the work"
