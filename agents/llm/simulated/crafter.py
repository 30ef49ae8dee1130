"""The simulated speaker in the open world: it reads the observation in the prompt, and climbs the technology tree.

As a critic of LLaMAC it does so for all agents that it is asked about, by what each of them knows (`propose`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import orjson
from pydantic import TypeAdapter

from agents.crafter import (
    RESOURCE,
    SOURCE,
    Scene,
    ambition,
    explore,
    fetch,
    harvest,
    make,
    missing_inputs,
    rest,
    survive,
)
from agents.crafter_shelter import hide
from agents.llm.simulated.roles import Brief
from agents.llm.simulated.talk import announce
from agents.llm.simulated.vocabulary import require
from crafter_env import Cell, Collect, CrafterObservation, Direction, Material, Place
from maeil.messages import Draft
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan

NEEDS = frozenset({"noop", "move", "collect", "craft", "place", "navigate", "sleep"})
"""The actions that its plans are made of."""
PATIENCE = 12
"""Times that it tries while too few agents are there."""
_CALL = re.compile(r"\b(?:tree|stone|coal|iron|diamond)_(\d+)\b")
_observation = TypeAdapter(CrafterObservation)


def read_observation(text: str) -> CrafterObservation:
    """Read the observation of a prompt.

    Raises:
        ValueError: it is none of the open world.
    """
    return _observation.validate_json(text)


def check(vocabulary: frozenset[str]) -> None:
    """Refuse a vocabulary that the rules make no plans of: `agents.llm.simulated.vocabulary.require`."""
    require(NEEDS, vocabulary, "crafter")


def answer(view: View, vocabulary: frozenset[str], poor: float, rng: np.random.Generator) -> Thought:
    """Answer a turn.

    It says where it works when that takes several agents, follows the last such call that it knows the place of, and
    resumes its plan when interrupted. A coordinator without a body has nothing to say.

    Args:
        view: what the prompt tells; nothing else is known.
        vocabulary: names of the actions that a plan may have.
        poor: probability that a choice is made at random.
        rng: for the choices of this answer.

    Raises:
        BadRequest: the rules make plans of actions that the vocabulary does not have.
    """
    check(vocabulary)
    observation = view.observation
    assert isinstance(observation, CrafterObservation)
    if observation.cell is None:
        return Thought()
    plan = _plan(view, Scene(observation), poor, rng)
    messages: tuple[Draft, ...] = ()
    if view.turn.recipients and view.plan is None and observation.alive:
        messages = announce(view, plan, "I have nothing to do.")
    if Act.PLAN not in view.turn.acts:
        return Thought(messages=messages)
    return Thought(plan if view.plan is None else Resume.RESUME, messages)


def propose(brief: Brief) -> dict[int, Plan]:
    """Make a joint plan: `agents.llm.simulated.roles.Proposer`.

    Each agent looks after its life, then works on its next tool. What takes several is collected by the nearest who can
    and know the place, all of whom are free; where they are too few, each collects alone, or explores: the exploiter's
    agents in a direction of their own, the explorer's in another one every 50 steps.
    """
    seen = [_observation.validate_json(orjson.dumps(one)) for one in brief.state]
    scenes = {agent: Scene(seen[agent]) for agent in brief.asked if seen[agent].alive}
    plans: dict[int, Plan] = {}
    taken = {a.get("target", a.get("object")) for plan in brief.running.values() for a in plan["actions"]}
    for agent, scene in scenes.items():
        if agent in plans:
            continue
        first = survive(scene) or hide(scene) or _work(scene)
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
    for agent, scene in scenes.items():
        if brief.rng.random() < brief.poor:
            plans[agent] = _anywhere(scene, list(Direction)[brief.rng.integers(len(Direction))])
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


def _plan(view: View, scene: Scene, poor: float, rng: np.random.Generator) -> Plan:
    if not scene.seen.alive:
        return rest(rationale="I am dead")
    ways = list(Direction)
    heading = ways[(view.agent + view.t // 50) % len(ways)]
    if rng.random() < poor:
        heading = ways[rng.integers(len(ways))]
        return explore(scene, heading) or rest()
    return (
        survive(scene)
        or hide(scene)
        or _join(view, scene)
        or _work(scene)
        or explore(scene, heading)
        or next((plan for way in ways if (plan := explore(scene, way)) is not None), rest())
    )


def _join(view: View, scene: Scene) -> Plan | None:
    """Go to the place of the last message that names one which takes several agents, where this agent can be of use."""
    for message in reversed((*view.memory, *view.unread)):
        found = _CALL.search(message.content)
        if found is None or message.sender == view.agent:
            continue
        cell = scene.cell_of(int(found[1]))
        material = scene.material(cell)
        if material in RESOURCE and scene.needed(material) > 1 and scene.can_collect(material):
            others = frozenset(scene.id_of(other) for other in scene.known(material) if other != cell)
            return fetch(scene, material, avoid=others, patience=PATIENCE)
    return None


def _work(scene: Scene) -> Plan | None:
    """Make the next tool, or fetch what it takes; without one to make, collect what brings points."""
    tool = ambition(scene)
    if tool is None:
        plans = [fetch(scene, material, patience=PATIENCE) for material in _worth(scene)]
        return next((plan for plan in plans if plan is not None), None) or harvest(scene)
    lacking = missing_inputs(scene, tool)
    if not lacking:
        return make(scene, tool, PATIENCE)
    plans = [fetch(scene, SOURCE[item], patience=PATIENCE) for item in lacking]
    return next((plan for plan in plans if plan is not None), None)


def _worth(scene: Scene) -> list[Material]:
    """What it would call others for, when teammates are in view."""
    if not scene.seen.teammates:
        return []
    wanted = (Material.diamond, Material.iron, Material.coal)
    return [
        material
        for material in wanted
        if scene.can_collect(material) and scene.needed(material) <= len(scene.seen.teammates) + 1
    ]
