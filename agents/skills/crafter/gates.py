"""The gates of the open world: quorums with tools that meet, a ledger that never goes negative, one group a target.

LLaMAC (arXiv 2311.13884) names the two gates; the rules and their meanings are those of docs/llamac.md. What the
critics know is the union of what the agents know; no rule reads the world behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from crafter_env import (
    COLLECT,
    Cell,
    Collect,
    CrafterObservation,
    Item,
    Material,
    Move,
    Navigate,
    Noop,
    Resource,
    Share,
    Sleep,
    Target,
)
from maeil.actions import SymbolicAction
from maeil.mind import Observation
from maeil.tasks import Constraint
from quorum.agents.coordination.joint import Fault, Joint, Rejection, Rule, Sight, called
from quorum.agents.skills.crafter.gathering import places
from quorum.agents.skills.crafter.ledger import (
    STEPS,
    Ledger,
    Visit,
    keep,
    target_of,
    way,
)
from quorum.agents.skills.crafter.scene import Scene, distance, is_sheltered

_CONFLICT = Fault.CONFLICT
FULL = 9
"""A need that lacks nothing."""
_NEED_OF: Mapping[Resource, str] = {Resource.drink: "drink", Resource.food: "food"}
_CREATURES = (Target.agent, Target.cow, Target.plant, Target.zombie, Target.skeleton)


class CrafterGates:
    """Fulfils `quorum.agents.skills.Gates` for the open world."""

    rules: Mapping[str, Rule] = {
        "V-ORDER": Rule(_CONFLICT, Constraint.DEPENDENCY, "tools and stations come before what takes them"),
        "V-STOCK": Rule(_CONFLICT, Constraint.DEPENDENCY, "no bag goes below zero, shares counted"),
        "V-ONCE": Rule(_CONFLICT, Constraint.PARTICIPATION, "one group for each target, one station of a kind"),
        "V-QUORUM": Rule(_CONFLICT, Constraint.PARTICIPATION, "as many agents with the tool as a target takes"),
        "V-RANGE": Rule(_CONFLICT, Constraint.SPATIAL, "each member of a group has a free cell in reach of the target"),
        "V-MEET": Rule(_CONFLICT, Constraint.TEMPORAL, "the tries of a group's members overlap"),
        "C-AVAIL": Rule(
            Fault.UNAVAILABLE,
            Constraint.SPATIAL,
            "the agent lives, and nothing that it has seen shuts its first goal off",
        ),
        "C-STOCK": Rule(Fault.UNAVAILABLE, Constraint.DEPENDENCY, "it holds inputs and tools when it uses them"),
        "C-PROG": Rule(Fault.FRUITLESS, Constraint.DEPENDENCY, "a way, a missing thing, unseen land or a need falls"),
    }

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Carry the joint plan out on paper; judge what got stuck, and who collects where."""
        scenes = _scenes(dict(enumerate(sight.agents)))
        ledger = keep(scenes, joint.all)
        broken = [
            Rejection("V-STOCK" if stuck.is_stock else "V-ORDER", (stuck.agent,), stuck.text)
            for stuck in ledger.stuck
            if stuck.agent in joint.plans
        ]
        return [*broken, *_twice(ledger, joint, scenes), *_meetings(ledger, joint, scenes)]

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Judge an agent's plan by its own map, bag and needs, and what others were told to give it."""
        seen, plan = _observed(observation), joint.plans[agent]
        if not seen.alive:
            idle = all(isinstance(action, Noop) for action in plan.actions)
            return None if idle else Rejection("C-AVAIL", (agent,), "the agent is dead")
        scene = Scene(seen)
        goal = next((goal for action in plan.actions if (goal := _goal(scene, action)) is not None), None)
        if goal is not None and way(scene, *goal) is None:
            return Rejection("C-AVAIL", (agent,), f"the agent knows no way to {list(goal[0])}")
        gifts = Counter[Item]()
        for other, theirs in joint.plans.items():
            for action in theirs.actions if other != agent else ():
                if isinstance(action, Share) and action.agent == agent:
                    gifts[action.item.item] += action.quantity
        lacking = keep({agent: scene}, {agent: plan}, {agent: gifts}).stuck
        if lacking:
            return Rejection("C-STOCK", (agent,), lacking[0].text)
        if not any(_is_progress(scene, action) for action in plan.actions):
            return Rejection("C-PROG", (agent,), "the plan brings the agent and the team nothing")
        return None


def _observed(observation: Observation) -> CrafterObservation:
    assert isinstance(observation, CrafterObservation)
    return observation


def _scenes(observations: Mapping[int, Observation]) -> dict[int, Scene]:
    """What each living agent knows."""
    seen = {agent: _observed(observation) for agent, observation in observations.items()}
    return {agent: Scene(observation) for agent, observation in seen.items() if observation.alive}


def _twice(ledger: Ledger, joint: Joint, scenes: Mapping[int, Scene]) -> Iterator[Rejection]:
    """Targets that vanish for the first who collects them, and stations that several would place."""
    for cell, visits in _by_cell(ledger).items():
        material = visits[0].material
        agents = tuple(sorted({visit.agent for visit in visits}))
        vanishes = COLLECT[material].leaves is not material
        if len(agents) > 1 and vanishes and scenes[agents[0]].needed(material) == 1 and _is_new(agents, joint):
            yield Rejection("V-ONCE", agents, f"{called(agents)} all collect the {material.name} at {list(cell)}")
    for station in (Material.table, Material.furnace):
        by = tuple(sorted(set(ledger.placed.get(station, ()))))
        if len(by) > 1 and _is_new(by, joint):
            yield Rejection("V-ONCE", by, f"{called(by)} all place a {station.name}; one is enough")


def _meetings(ledger: Ledger, joint: Joint, scenes: Mapping[int, Scene]) -> Iterator[Rejection]:
    """The groups that collect what takes several agents, each up to the first rule that it breaks."""
    for cell, visits in _by_cell(ledger).items():
        group = list({visit.agent: visit for visit in visits}.values())
        agents = tuple(sorted(visit.agent for visit in group))
        material, scene = group[0].material, scenes[agents[0]]
        needed = scene.needed(material)
        if needed == 1 or not _is_new(agents, joint):
            continue
        place, able = f"the {material.name} at {list(cell)}", sum(visit.able for visit in group)
        if able < needed:
            text = f"{place} takes {needed} agents with the tool, and {able} of {called(agents)} come with it"
            yield Rejection("V-QUORUM", agents, text)
            continue
        room = _room(scenes, cell)
        cut_off = [visit.agent for visit in group if visit.arrival is None]
        if cut_off or room < len(group):
            reason = f"{called(cut_off)} know no way to it" if cut_off else f"it has room for {room} agents"
            yield Rejection("V-RANGE", tuple(cut_off) or agents, f"{place}: {reason}")
            continue
        arrivals = [visit.arrival or 0 for visit in group]
        hasty = [visit.agent for visit in group if (visit.arrival or 0) + visit.tries < max(arrivals)]
        if hasty or max(arrivals) > STEPS:
            text = f"{place}: the last comes in {max(arrivals)} steps, when {called(hasty)} have given up"
            yield Rejection("V-MEET", tuple(hasty) or agents, text)


def _room(scenes: Mapping[int, Scene], cell: Cell) -> int:
    """The places from which a cell can be acted on, as far as the team knows; what nobody has seen counts as free."""
    team = list(scenes.values())
    radius = team[0].seen.cooperation.radius
    free = {place for scene in team for place in places(scene, cell, radius, around=False)}
    if not team[0].seen.known_only:
        near = [(cell[0] + dx, cell[1] + dy) for dx in range(-radius, radius + 1) for dy in range(-radius, radius + 1)]
        free |= {
            place
            for place in near
            if 0 < distance(place, cell) <= radius
            and team[0].on_map(place)
            and all(scene.material(place) is Material.none for scene in team)
        }
    return len(free)


def _by_cell(ledger: Ledger) -> dict[Cell, list[Visit]]:
    found: dict[Cell, list[Visit]] = {}
    for visit in ledger.visits:
        found.setdefault(visit.cell, []).append(visit)
    return found


def _is_new(agents: tuple[int, ...], joint: Joint) -> bool:
    """Whether any of these agents is asked about."""
    return any(agent in joint.plans for agent in agents)


def _goal(scene: Scene, action: SymbolicAction) -> tuple[Cell, int] | None:
    """The cell that an action goes to, and how near it has to come; None when it goes to none that is fixed."""
    match action:
        case Navigate(target=target, id=identity) if target not in _CREATURES:
            cell = scene.cell_of(identity)
            return cell, 0 if target is Target.cell else 1
        case Collect():
            target_cell = target_of(scene, action)
            return (target_cell, max(scene.seen.cooperation.radius, 1)) if target_cell is not None else None
    return None


def _is_progress(scene: Scene, action: SymbolicAction) -> bool:
    """Whether an action brings anything nearer: a target, unseen land, a missing thing, or a need."""
    seen = scene.seen
    match action:
        case Noop():
            return is_sheltered(scene) and bool(seen.cooperation.mobs)
        case Sleep():
            return seen.needs["energy"] < FULL
        case Collect(resource=resource) if resource in _NEED_OF:
            return seen.needs[_NEED_OF[resource]] < FULL
        case Navigate():
            goal = _goal(scene, action)
            return goal is None or distance(scene.cell, goal[0]) > goal[1]
        case Move(direction=direction):
            return any(frontier.direction == direction.value for frontier in seen.frontiers)
    return True
