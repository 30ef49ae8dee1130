"""The joint plans of LLaMAC's simulated critics in the open world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.crafter import RESOURCE, Scene, explore, fetch, harvest, rest, survive
from agents.crafter_shelter import hide
from agents.llm.simulated.crafter_work import PATIENCE, work
from agents.llm.simulated.roles import Brief
from crafter_env import Cell, Collect, CrafterObservation, Direction, Place
from maeil.plans import Plan


def joint_plan(seen: Sequence[CrafterObservation], brief: Brief) -> dict[int, Plan]:
    """Make a joint plan: `agents.llm.simulated.roles.Proposer`.

    Each agent looks after its life, then works on its next tool. What takes several is collected by the nearest who can
    and know the place, all of whom are free; where they are too few, each collects alone, or explores: the exploiter's
    agents in a direction of their own, the explorer's in another one every 50 steps.

    Args:
        seen: what each agent of the team sees.
        brief: what is asked.
    """
    scenes = {agent: Scene(seen[agent]) for agent in brief.asked if seen[agent].alive}
    plans: dict[int, Plan] = {}
    taken = {a.get("target", a.get("object")) for plan in brief.running.values() for a in plan["actions"]}
    for agent, scene in scenes.items():
        if agent in plans:
            continue
        first = survive(scene) or hide(scene) or work(scene)
        free = {other: scenes[other] for other in scenes if other not in plans}
        team = _team(agent, first, free)
        if team is not None:
            plans |= team
            continue
        heading = list(Direction)[(agent + (brief.role == "explorer") * (1 + seen[agent].step // 50)) % len(Direction)]
        alone = first if first is not None and not _takes_several(scene, first) else harvest(scene)
        if alone is None or _targets(alone) & taken:
            alone = _anywhere(scene, heading)
        taken |= _targets(alone)
        plans[agent] = alone
    for agent in brief.drawn_at_random():
        if agent in scenes:
            plans[agent] = _anywhere(scenes[agent], list(Direction)[brief.rng.integers(len(Direction))])
    return plans


def _anywhere(scene: Scene, heading: Direction) -> Plan:
    """Explore, rather in a direction; rest where there is nothing to see."""
    ways = (heading, *Direction)
    return next((plan for way in ways if (plan := explore(scene, way)) is not None), rest())


def _takes_several(scene: Scene, plan: Plan) -> Cell | None:
    """The cell of a plan that takes several agents to collect."""
    for action in plan.actions:
        if isinstance(action, Collect) and action.target is not None:
            cell = scene.cell_of(action.target)
            if scene.material(cell) in RESOURCE and scene.needed(scene.material(cell)) > 1:
                return cell
    return None


def _team(agent: int, plan: Plan | None, free: Mapping[int, Scene]) -> dict[int, Plan] | None:
    """Plans for as many free agents as the target of a plan takes; None when there are too few, or it takes one."""
    scene = free[agent]
    cell = _takes_several(scene, plan) if plan is not None else None
    if cell is None:
        return None
    material, identity = scene.material(cell), scene.id_of(cell)
    team: dict[int, Plan] = {}
    for other, theirs in sorted(free.items(), key=lambda entry: (entry[0] != agent, _far(entry[1], cell), entry[0])):
        if len(team) == scene.needed(material):
            break
        if theirs.material(cell) is material and theirs.can_collect(material):
            avoid = frozenset(theirs.id_of(known) for known in theirs.known(material) if known != cell)
            found = fetch(theirs, material, avoid=avoid, patience=PATIENCE)
            if found is not None and (identity in _targets(found) or other == agent):
                team[other] = found
    return team if len(team) == scene.needed(material) else None


def _targets(plan: Plan) -> set[object]:
    """What only one agent should see to: cells that are collected, kinds of things that are placed."""
    cells = {action.target for action in plan.actions if isinstance(action, Collect)}
    return cells | {action.object.value for action in plan.actions if isinstance(action, Place)}


def _far(scene: Scene, cell: Cell) -> int:
    return abs(scene.cell[0] - cell[0]) + abs(scene.cell[1] - cell[1])
