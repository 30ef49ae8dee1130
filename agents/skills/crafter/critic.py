"""The joint plans of LLaMAC's simulated critics in the open world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

from crafter_env import COLLECT, Cell, Collect, CrafterObservation, Direction
from maeil.plans import Plan
from quorum.agents.prompting.answers import plan_value
from quorum.agents.skills.crafter.needs import PATIENCE, explore, fetch, harvest, hide, survive, work
from quorum.agents.skills.crafter.scene import RESOURCE, Scene, distance
from quorum.agents.skills.speaker import JointPlanRequest

_LASTING = frozenset(resource.value for material, resource in RESOURCE.items() if COLLECT[material].leaves is material)
"""What several agents can take from one cell, each for itself."""


def joint_plan(seen: Sequence[CrafterObservation], request: JointPlanRequest) -> dict[int, Plan]:
    """Make a joint plan: `quorum.agents.skills.Speaker.propose`.

    Each agent looks after its life, then works on its next tool. What takes several is collected by the nearest who can
    and know the place, all of whom are free; where they are too few, each collects alone, or explores: the exploiter's
    agents in a direction of their own, the explorer's in another one every 50 steps.

    Args:
        seen: what each agent of the team sees.
        request: what is asked.
    """
    scenes = {agent: Scene(seen[agent]) for agent in request.asked if seen[agent].alive}
    plans: dict[int, Plan] = {}
    taken = {one for plan in request.running.values() for one in _claims(plan["actions"])}
    for agent, scene in scenes.items():
        if agent in plans:
            continue
        first = survive(scene) or hide(scene) or work(scene)
        free = {other: scenes[other] for other in scenes if other not in plans}
        found = _team(agent, first, free)
        if found is None:
            ahead = 1 + seen[agent].step // 50 if request.role == "explorer" else 0
            alone = _alone(scene, first, taken, list(Direction)[(agent + ahead) % len(Direction)])
            found = {agent: alone} if alone is not None else {}
        plans |= found
        taken |= {one for plan in found.values() for one in _claims(plan_value(plan)["actions"])}
    for agent in request.drawn_at_random():
        heading = list(Direction)[request.rng.integers(len(Direction))]
        if agent in scenes and (anywhere := _anywhere(scenes[agent], heading)) is not None:
            plans[agent] = anywhere
    return plans


def _alone(scene: Scene, plan: Plan | None, taken: Set[object], heading: Direction) -> Plan | None:
    """What an agent does for itself: its plan, or what else takes nobody else and nothing from anybody, on the way too.

    None when there is nothing that it could do.
    """
    if plan is None or _takes_several(scene, plan) or _claims(plan_value(plan)["actions"]) & taken:
        plan = harvest(scene, frozenset(one for one in taken if isinstance(one, int)))
    if plan is None or _claims(plan_value(plan)["actions"]) & taken:
        plan = _anywhere(scene, heading)
    return plan


def _anywhere(scene: Scene, heading: Direction) -> Plan | None:
    """Explore, rather in a direction; None where there is nothing to see."""
    ways = (heading, *Direction)
    return next((plan for way in ways if (plan := explore(scene, way)) is not None), None)


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
    nearest = sorted(free.items(), key=lambda entry: (entry[0] != agent, distance(entry[1].cell, cell), entry[0]))
    for other, its_scene in nearest:
        if len(team) == scene.needed(material):
            break
        if its_scene.material(cell) is material and its_scene.can_collect(material):
            avoid = frozenset(its_scene.id_of(known) for known in its_scene.known(material) if known != cell)
            found = fetch(its_scene, material, avoid=avoid, patience=PATIENCE)
            if found is not None and (identity in _targets(found) or other == agent):
                team[other] = found
    return team if len(team) == scene.needed(material) else None


def _targets(plan: Plan) -> set[int | None]:
    """The cells that a plan collects from."""
    return {action.target for action in plan.actions if isinstance(action, Collect)}


def _claims(actions: Sequence[Mapping[str, Any]]) -> set[object]:
    """What only one agent sees to: what is gone when it is collected, kinds of things that are placed."""
    cells = {a["target"] for a in actions if a["action"] == "collect" and a["resource"] not in _LASTING}
    return (cells | {action["object"] for action in actions if action["action"] == "place"}) - {None}
