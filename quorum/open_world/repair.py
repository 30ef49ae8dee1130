"""Repair in the open world: the published heuristic for agents that collect a cell together.

Source: COOP2-Repair (arXiv 2603.00349 v2) and its public code for MA-Crafter. For each plan, the heuristic computes
when its agent acts on the cell, as though nothing were in the way. A cell is collected if its quorum of capable agents
acts on it at the same time, within two steps, from at most one cell farther away than the world's rules allow. All
targets of a kind share a cooldown.

Choices made here: an agent is capable if it holds the tool now, regardless of what its plan makes or receives on the
way. Participation, and tools that take several agents to make, are judged as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crafter_env import COLLECT, Cell, Collect, Craft, Material, Move, Navigate, Noop, Target
from maeil.actions import SymbolicAction
from maeil.judging import Advice, Moment, PlanRules, Violation
from maeil.plans import Plan, Task
from maeil.tasks import Constraint
from maeil.world import World
from quorum.open_world.scene import RESOURCE, STEPS, Scene, distance, scenes_of

SPATIAL_TOLERANCE, TEMPORAL_TOLERANCE = 1, 2
"""Tolerances in cells and steps within which agents still count as together (published)."""

TRIES = 8
"""Attempts of an advised plan after its last team member should have arrived."""

_MOST_TRIES = 64
_MATERIAL = {resource: material for material, resource in RESOURCE.items() if material is not Material.water}


class CrafterRepair(PlanRules):
    """The repair rules for the open world."""

    cooldown = 20

    def task_of(self, world: World, agent: int, plan: Plan) -> Task | None:
        """Return the first cell that a plan collects, or the first tool that it makes."""
        for action in plan.actions:
            match action:
                case Craft(item=tool):
                    return Task("craft", tool.value)
                case Collect(resource=resource, target=identity) if resource in _MATERIAL:
                    found = identity if identity is not None else _nearest(world, agent, _MATERIAL[resource])
                    return Task("collect", f"{_MATERIAL[resource].name}_{found}") if found is not None else None
        return None

    def cooldown_key(self, task: Task) -> str:
        """Return the kind of the target: all trees share a cooldown."""
        return f"{task.kind}:{task.target.rpartition('_')[0] if task.kind == 'collect' else task.target}"

    def predict(self, moment: Moment) -> Sequence[Violation]:
        """Return the cells that will not be collected, and the tools that will not be made."""
        scenes = _scenes(moment.world)
        found: list[Violation] = []
        for task, agents in moment.groups.items():
            members = [agent for agent in agents if agent in scenes]
            if members:
                counts = _craft(scenes, members) if task.kind == "craft" else _collect(moment, scenes, task, members)
                found += [
                    Violation(task, constraint, agents, count, needed)
                    for constraint, (count, needed) in counts.items()
                    if count < needed
                ]
        return found

    def advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        """Return plans of the nearest capable agents for the first failing cell that can be staffed."""
        scenes = _scenes(moment.world)
        for task in dict.fromkeys(failure.task for failure in failures if failure.task.kind == "collect"):
            material, identity = _cell_of(task)
            able = [agent for agent, scene in scenes.items() if scene.can_collect(material)]
            needed = max((scene.needed(material) for scene in scenes.values()), default=1)
            if len(able) < needed:
                continue
            cell = scenes[able[0]].cell_of(identity)
            team = sorted(able, key=lambda agent: (distance(scenes[agent].cell, cell), agent))[:needed]
            last = distance(scenes[team[-1]].cell, cell)
            plans = {
                agent: _gather(material, identity, task, last - distance(scenes[agent].cell, cell))
                for agent in sorted(team)
            }
            return Advice(task, plans)
        return None


def rules(_world: World) -> CrafterRepair:
    """Return the rules, which read the world that they are shown."""
    return CrafterRepair()


@dataclass(frozen=True, slots=True)
class _Try:
    """When an agent acts on a cell, in steps from now, and its distance at that time."""

    begin: int
    end: int
    away: int


def _scenes(world: World) -> dict[int, Scene]:
    return scenes_of(map(world.observe, range(len(world.agents))))


def _nearest(world: World, agent: int, material: Material) -> int | None:
    scene = _scenes(world).get(agent)
    cell = scene.nearest(material) if scene is not None else None
    return scene.id_of(cell) if scene is not None and cell is not None else None


def _cell_of(task: Task) -> tuple[Material, int]:
    name, _, identity = task.target.rpartition("_")
    return Material[name], int(identity)


def _collect(
    moment: Moment, scenes: Mapping[int, Scene], task: Task, members: Sequence[int]
) -> Mapping[Constraint, tuple[int, int]]:
    """Return, for each constraint of a cell, how many agents satisfy it and how many must."""
    material, identity = _cell_of(task)
    scene = scenes[members[0]]
    needed, reach = scene.needed(material), scene.seen.cooperation.radius
    cell = scene.cell_of(identity)
    found = {agent: _try(scenes[agent], moment.plans[agent].rest, cell, reach) for agent in members}
    tries = {agent: one for agent, one in found.items() if one is not None}
    late = TEMPORAL_TOLERANCE
    cohorts = (
        [agent for agent, a in tries.items() if a.begin - late <= t <= a.end + late]
        for t in sorted(one.begin for one in tries.values())
    )
    cohort = max(cohorts, key=len, default=[])
    able = sum(scenes[agent].can_collect(material) for agent in cohort)
    return {
        Constraint.SPATIAL: (sum(tries[agent].away <= reach + SPATIAL_TOLERANCE for agent in cohort), needed),
        Constraint.TEMPORAL: (len(cohort), needed),
        Constraint.PARTICIPATION: (len(members), needed),
        Constraint.DEPENDENCY: (needed if COLLECT[material].tool is None else able, needed),
    }


def _craft(scenes: Mapping[int, Scene], members: Sequence[int]) -> Mapping[Constraint, tuple[int, int]]:
    """Return the planned and required agents of a joint tool, as published for tasks without an adapter."""
    needed = scenes[members[0]].seen.cooperation.craft_agents
    return {
        Constraint.TEMPORAL: (len(members), needed),
        Constraint.PARTICIPATION: (len(members), needed),
    }


def _try(scene: Scene, actions: Sequence[SymbolicAction], goal: Cell, reach: int) -> _Try | None:
    """Simulate a plan up to its first collection, as though nothing were in the way."""
    cell, time = scene.cell, 0
    for action in actions:
        match action:
            case Navigate(target=target, id=identity) if target.value in Material.__members__ or target is Target.cell:
                end = scene.cell_of(identity)
                steps = max(distance(cell, end) - (target is not Target.cell), 0)
                cell, time = (end if steps else cell), time + steps
            case Move(direction=direction, steps=steps):
                right, down = STEPS[direction]
                cell, time = (cell[0] + right * steps, cell[1] + down * steps), time + steps
            case Noop(steps=steps):
                time += steps
            case Collect(resource=resource, steps=steps) if resource in _MATERIAL:
                walk = max(min(distance(cell, goal) - reach, reach), 0)
                return _Try(time + walk, time + walk + steps - 1, distance(cell, goal))
            case _:
                time += 1
    return None


def _gather(material: Material, identity: int, task: Task, wait: int) -> Plan:
    """Return a team member's plan: go there, and try until the last member must have arrived."""
    tries = min(wait + TRIES, _MOST_TRIES)
    collect = Collect(resource=RESOURCE[material], target=identity, steps=tries)
    return Plan((Navigate(target=Target(material.name), id=identity), collect), task, "advised by the repair")
