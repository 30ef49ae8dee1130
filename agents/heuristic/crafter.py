"""The greedy rule for the open world: climb the technology tree, gather in numbers where it takes several, survive.

As CUBE's, it commands the team: its minds share what it knows, and send no messages. What it knows is what the agents'
typed observations have told, each agent's own map and bag.
"""

from __future__ import annotations

from dataclasses import dataclass

from agents.crafter import (
    LADDER,
    PATIENCE,
    RESOURCE,
    SOURCE,
    STEPS,
    Scene,
    Way,
    crafting_trip,
    explore,
    fetch,
    make,
    missing_inputs,
    rest,
    stations_of,
    survive,
)
from crafter_env import COLLECT, Cell, Collect, Craft, CrafterObservation, Item, Material, Move, Navigate, Resource, Target, Tool
from maeil.mind import Thought, View
from maeil.plans import Plan, PlanStatus, Task

SCORING = (Material.diamond, Material.iron, Material.coal, Material.stone, Material.tree)
GATHER_STEPS = 80
"""Steps after which a gathering that has come to nothing is given up."""
SPARE_STEPS = 400
"""Steps left at which an open episode still leaves time for the iron pickaxe."""
RICH = 45.0
"""Points of a `do` that is worth a detour of `DETOUR` steps more than one without any."""
DETOUR = 6.0


@dataclass(slots=True)
class Gathering:
    """A cell or a station where several agents must act at once.

    Attributes:
        what: a resource to collect, or a tool to make.
        cell: where; of a craft a cell beside the station.
        members: who takes part.
        begun: environment step.
    """

    what: Material | Tool
    cell: Cell
    members: frozenset[int]
    begun: int


class ClimbingTeam:
    """Gives orders to all agents of a team.

    Args:
        agents: number of agents.
    """

    def __init__(self, agents: int) -> None:
        self.minds = tuple(ClimbingMind(self) for _ in range(agents))
        self._scenes: dict[int, Scene] = {}
        self._gathering: Gathering | None = None
        self._heading: dict[int, int] = {agent: agent for agent in range(agents)}
        self._failed: dict[int, set[int]] = {agent: set() for agent in range(agents)}

    def plan(self, agent: int, observation: CrafterObservation, *, failed: Plan | None = None) -> Plan:
        """Give an agent its next plan."""
        if not observation.alive:
            self._scenes.pop(agent, None)
            return rest(rationale="I am dead")
        scene = self._scenes[agent] = Scene(observation)
        plan = survive(scene) or self._work(agent, scene) or self._explore(agent, scene)
        return plan

    def _work(self, agent: int, scene: Scene) -> Plan | None:
        tool = self._ambition(scene)
        if tool is None:
            return harvest(scene)
        lacking = missing_inputs(scene, tool)
        if not lacking:
            return make(scene, tool)
        plans = [fetch(scene, SOURCE[item]) for item in lacking]
        found = [plan for plan in plans if plan is not None]
        return found[0] if found else None

    def _ambition(self, scene: Scene) -> Tool | None:
        """The next tool to make; None when it is better to collect what brings points."""
        for tool in LADDER:
            if not scene.held(Item[tool.value]):
                open_end = not scene.seen.goal and tool is not Tool.wood_pickaxe
                return None if open_end and scene.left_steps < SPARE_STEPS else tool
        return None

    def _explore(self, agent: int, scene: Scene) -> Plan:
        for turn in range(len(STEPS)):
            heading = list(_HEADINGS)[(self._heading[agent] + turn) % len(STEPS)]
            plan = explore(scene, heading)
            if plan is not None:
                self._heading[agent] += turn
                return plan
        self._heading[agent] += 1
        return rest()


_HEADINGS = (Way.right, Way.left, Way.down, Way.up)


def harvest(scene: Scene) -> Plan | None:
    """A plan that collects what brings most points for the steps that it takes."""
    area = scene.seen.cooperation.area
    points = {hint.kind: hint.score for hint in scene.seen.tasks}

    def gains(cell: Cell) -> list[tuple[float, Cell]]:
        found = []
        for beside in scene.beside(cell):
            material = scene.material(beside)
            if material in SCORING and scene.needed(material) == 1 and scene.can_collect(material):
                found.append((points.get(material.name, 1.0), beside))
        return sorted(found, reverse=True)

    def handicap(cell: Cell) -> float | None:
        found = gains(cell)
        if not found:
            return None
        total = sum(score for score, _ in found) if area else found[0][0]
        return max(0.0, DETOUR * (1 - total / RICH))

    trip = scene.search(handicap)
    if trip is None:
        return None
    if trip.dig is not None:
        return Plan(tuple(scene.dig(trip)), Task("collect", "points"), "I dig my way to more")
    _, target = gains(trip.cell)[0]
    material = scene.material(target)
    collect = Collect(resource=RESOURCE[material], target=scene.id_of(target))
    return Plan((*scene.go(trip.cell), collect), Task("collect", f"{material.name}_{scene.id_of(target)}"), "it is the best nearby")


class ClimbingMind:
    """The mind of one agent of the team."""

    def __init__(self, team: ClimbingTeam) -> None:
        self._team = team

    async def think(self, view: View) -> Thought:
        """Ask the team for the next plan."""
        assert isinstance(view.observation, CrafterObservation)
        return Thought(self._team.plan(view.agent, view.observation))
