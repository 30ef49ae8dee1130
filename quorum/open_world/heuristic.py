"""The greedy heuristic for the open world: climb the technology tree, gather for joint tasks, look after the needs.

Like CUBE's, it commands the team: its minds share their knowledge and send no messages. That knowledge comes from the
agents' typed observations: each agent's own map, inventory and needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from crafter_env import CrafterObservation, Direction, Item, Material, Tool
from maeil.mind import View
from maeil.plans import Plan, Task
from quorum.agents.skills.contract import CommandedMind
from quorum.open_world.gathering import VALUE, Gathering, approach, cells_of, make_room, station
from quorum.open_world.needs import (
    FOOD_STEPS,
    HUNGRY,
    SOURCE,
    ambition,
    explore,
    fetch,
    harvest,
    hide,
    make,
    missing_inputs,
    rest,
    survive,
)
from quorum.open_world.scene import STEPS, Scene, distance

TABLE_DISTANCE = 40
"""Maximum distance to a table, in cells, for the team to gather there."""
_EAT = Task("eat", "cow")
_HEADINGS = (Direction.right, Direction.left, Direction.down, Direction.up)


class ClimbingTeam:
    """Commands all agents of a team.

    Args:
        agents: number of agents.
    """

    def __init__(self, agents: int) -> None:
        self.minds = tuple(CommandedMind(self._decide) for _ in range(agents))
        self._scenes: dict[int, Scene] = {}
        self._gatherings: list[Gathering] = []
        self._hopeless: set[tuple[int, int]] = set()
        self._cows: dict[int, tuple[int, int]] = {}
        self._headings = {agent: agent for agent in range(agents)}

    def _decide(self, view: View) -> Plan:
        assert isinstance(view.observation, CrafterObservation)
        return self.plan(view.agent, view.observation)

    def plan(self, agent: int, observation: CrafterObservation) -> Plan:
        """Return the next plan of an agent."""
        if not observation.alive:
            self._scenes.pop(agent, None)
            return rest(rationale="I am dead")
        scene = self._scenes[agent] = Scene(observation)
        self._close(observation.step)
        return (
            survive(scene)
            or hide(scene)
            or self._graze(scene)
            or self._gather(agent, scene)
            or self._work(agent, scene)
            or self._explore(agent, scene)
        )

    def _graze(self, scene: Scene) -> Plan | None:
        """Remember where cows are; if hungry, go to the nearest remembered one."""
        self._cows = {cow: cell for cow, cell in self._cows.items() if not scene.in_view(cell)}
        self._cows |= {entity.id: entity.cell for entity in scene.seen.entities if entity.kind == "cow"}
        food = scene.seen.needs["food"]
        if food >= HUNGRY or scene.left_steps <= food * FOOD_STEPS or not self._cows:
            return None
        return approach(scene, min(self._cows.values(), key=lambda cell: (distance(cell, scene.cell), cell)), _EAT)

    def _close(self, step: int) -> None:
        """End the gatherings that are over; do not call another one at a cell where one failed."""
        for gathering in [found for found in self._gatherings if found.is_over(self._scenes, step)]:
            self._gatherings.remove(gathering)
            if all(
                self._scenes[m].material(gathering.cell) is gathering.what
                for m in gathering.members & self._scenes.keys()
            ):
                self._hopeless.add(gathering.cell)

    def _gather(self, agent: int, scene: Scene) -> Plan | None:
        found = next((gathering for gathering in self._gatherings if agent in gathering.members), None)
        return found.plan(agent, scene) if found is not None else None

    def _work(self, agent: int, scene: Scene) -> Plan | None:
        tool = ambition(scene)
        if tool is None:
            return harvest(scene) or self._collect_together(agent, scene, VALUE)
        lacking = missing_inputs(scene, tool)
        if not lacking:
            return self._make_together(agent, scene, tool) or make(scene, tool)
        sources = [SOURCE[item] for item in lacking]
        for material in sources:
            if scene.needed(material) == 1 and (plan := fetch(scene, material)) is not None:
                return plan
        return self._collect_together(agent, scene, [m for m in sources if scene.needed(m) > 1])

    def _make_together(self, agent: int, scene: Scene, tool: Tool) -> Plan | None:
        """Call the agents that lack the tool, and others up to the quorum, to the table; None if one is enough."""
        quorum = scene.seen.cooperation.craft_agents
        table = station(scene, tool, TABLE_DISTANCE)
        if quorum == 1 or table is None:
            return None
        free = self._free(agent, table)
        lacking = [other for other in free if not self._scenes[other].held(Item[tool.value])]
        others = lacking if len(lacking) >= quorum - 1 else free[: quorum - 1]
        if len(others) < quorum - 1:
            return None
        return self._begin(agent, scene, Gathering(tool, table, frozenset({agent, *others}), scene.seen.step))

    def _collect_together(self, agent: int, scene: Scene, materials: Sequence[Material]) -> Plan | None:
        """Call the quorum of capable agents to the nearest cell of some materials, or to a stone that blocks it."""
        for material in materials:
            quorum = scene.needed(material)
            if not scene.can_collect(material) or quorum > len(self._scenes):
                continue
            cells, what = cells_of(scene, material, quorum, self._hopeless), material
            if not cells and (ores := scene.known(material)) and scene.can_collect(Material.stone):
                quorum, what = scene.needed(Material.stone), Material.stone
                stone = make_room(scene, ores, quorum, self._hopeless)
                cells = [stone] if stone is not None else []
            if cells:
                able = [other for other in self._free(agent, cells[0]) if self._scenes[other].can_collect(what)]
                members = frozenset({agent, *able[: quorum - 1]})
                if len(members) == quorum:
                    return self._begin(agent, scene, Gathering(what, cells[0], members, scene.seen.step))
        return None

    def _begin(self, agent: int, scene: Scene, gathering: Gathering) -> Plan:
        self._gatherings.append(gathering)
        return gathering.plan(agent, scene)

    def _free(self, agent: int, cell: tuple[int, int]) -> list[int]:
        """Return the other living agents that are in no gathering, nearest to the cell first."""
        busy = {member for gathering in self._gatherings for member in gathering.members}
        free = [other for other in self._scenes if other != agent and other not in busy]
        return sorted(free, key=lambda other: (distance(self._scenes[other].cell, cell), other))

    def _explore(self, agent: int, scene: Scene) -> Plan:
        """Explore: each agent in its own direction, or all in the same one if the level requires cooperation."""
        if self._gatherings:
            return approach(scene, self._gatherings[0].cell, Task("explore", "team"))
        together = scene.seen.cooperation.agents[Item.iron.name] > 2
        key = 0 if together else agent
        for turn in range(len(STEPS)):
            heading = _HEADINGS[(self._headings[key] + turn) % len(_HEADINGS)]
            plan = explore(scene, heading)
            if plan is not None:
                self._headings[key] += turn
                return plan
        return rest()
