"""The simulated speaker in the open world: it climbs the technology tree using only its observations and messages.

Alone, it waits for nobody. In conversation, it reports its position, inventory, sights and work, avoids what others
work on, calls as many agents as a cell or a tool takes, and comes when it is called. It obeys its leader or reports
what prevents it. It remembers what its prompt shows. As a LLaMAC critic, it plans for all requested agents from each
agent's own knowledge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import orjson

from crafter_env import (
    COLLECT,
    MAKE,
    Cell,
    Collect,
    Craft,
    CrafterObservation,
    Direction,
    Item,
    Material,
    Move,
    Navigate,
    Noop,
    Place,
    Share,
    Sleep,
    Tool,
    agent_name,
    primitive_of,
    read_shown,
)
from maeil.actions import Vocabulary
from maeil.messages import Ask, Draft, MessageKind
from maeil.mind import Act, Resume, Thought, View
from maeil.plans import Plan, Task
from quorum.agents.prompting.answers import plan_value
from quorum.agents.skills.chooser import Chooser
from quorum.agents.skills.speaker import LEADING, ROOT, TREE, JointPlanRequest, Prospect, Speaker, overheard
from quorum.open_world.briefing import read_team
from quorum.open_world.gathering import Caller, follow, hindrance
from quorum.open_world.hearsay import Assignment, Hearsay, listen, write_assignment, write_refusal, write_report
from quorum.open_world.needs import PATIENCE, TABLE_WOOD, explore, fetch, harvest, hide, rest, survive, work
from quorum.open_world.scene import RESOURCE, Scene, distance

SOUGHT = (Material.tree, Material.water, Material.coal, Material.iron, Material.diamond)
"""Natural resources, in the order in which an agent needs them."""
LOOKED_FOR = 2
"""Maximum number of materials in a need: the first ones without a known place."""


def asked(view: View) -> list[Material]:
    """Return the materials that the agent's recipients look for."""
    names = dict.fromkeys(name for wanted in view.wanted.values() for name in wanted)
    return [Material[name] for name in names if name in Material.__members__]


def offered_and_needed(view: View) -> Mapping[str, Mapping[str, Any]]:
    """Offer the materials the agent has seen, and request those without a known place."""
    assert isinstance(view.observation, CrafterObservation)
    scene = Scene(view.observation, listen(view).places)
    seen = tuple(m.name for m in SOUGHT if set(scene.known(m)) - set(scene.heard(m)))
    wanted = tuple(material.name for material in SOUGHT if not scene.known(material))[:LOOKED_FOR]
    report = write_report(scene.id_of(scene.cell), scene.seen.inventory, sights(scene))
    return {
        "offers": {"text": report, "tasks": seen, "free": view.plan is None and scene.seen.alive},
        "needs": {"text": f"I look for {' and '.join(wanted)}." if wanted else "", "tasks": wanted},
    }


REPORTED = {
    Material.diamond: 3,
    Material.iron: 3,
    Material.coal: 3,
    Material.table: 1,
    Material.furnace: 1,
    Material.water: 1,
}
"""Number of nearest cells per material in a report."""
COLLECTED = (Material.tree, Material.stone, Material.coal, Material.iron, Material.diamond)
"""Materials that a teammate may collect."""
URGENT = frozenset({"fight", "eat", "sleep", "hide"})
"""Kinds of tasks that a call does not interrupt."""
HOPE = 3
"""Attempts at a joint cell by an agent that has called nobody."""


class CrafterSpeaker(Speaker[CrafterObservation]):
    """Climbs the technology tree using the information in its prompt."""

    observation = CrafterObservation
    vocabulary = Vocabulary(Noop, Move, Collect, Craft, Sleep, Place, Share, Navigate)
    needs = frozenset({"noop", "move", "collect", "craft", "place", "navigate", "sleep"})

    def __init__(self, facts: Mapping[str, Any] | None = None, agents: int = 0) -> None:
        self._facts, self._agents = facts or {}, agents

    def for_facts(self, facts: Mapping[str, Any], team: Sequence[str]) -> CrafterSpeaker:
        """Return the speaker configured with the facts of the rules."""
        return CrafterSpeaker(facts, sum(name == agent_name(index) for index, name in enumerate(team)))

    def read_observation(self, text: str) -> CrafterObservation:
        """Parse the observation in a prompt.

        Raises:
            ValueError: the rules in the prompt lack the facts that the observation omits.
        """
        return read_shown(orjson.loads(text), self._given_facts(), self._agents)

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn; a coordinator without a body gives orders to all agents."""
        observation = self.seen(view)
        heard = listen(view)
        if observation.cell is None:
            return Thought(messages=_direct(view, _orders_of_coordinator(view, observation, heard), ""))
        scene = Scene(observation, heard.places, chooser.judge)
        messages = _speak(view, scene, heard) if view.turn.recipients and observation.alive else ()
        if Act.PLAN not in view.turn.acts:
            return Thought(messages=messages)
        return Thought(_decide(view, scene, heard, chooser), messages)

    def prospects(self, view: View, mate: int) -> list[Prospect]:
        """Return a teammate's announced task, and the known cell of each material nearest to it."""
        observation = self.seen(view)
        if observation.cell is None:
            return []
        heard = listen(view)
        said, place, scene = heard.of(mate), heard.cells.get(mate), Scene(observation, heard.places)
        found = [Prospect(said.task, 0, len(said.agents), said=True)] if said is not None else []
        if place is not None:
            for material in COLLECTED:
                cells = scene.known(material)
                if cells:
                    steps, cell = min((distance(cell, place), cell) for cell in cells)
                    found.append(Prospect(Task("collect", f"{material.name}_{scene.id_of(cell)}"), steps))
        return found

    def anticipate(self, view: View, expected: Mapping[int, Task | None], chooser: Chooser) -> Thought:
        """Treat cells that others are expected to collect as claimed, unless those others announced something else."""
        heard = listen(view)
        claims = tuple(
            overheard(mate, view, write_assignment(claim))
            for mate, task in sorted(expected.items())
            if heard.of(mate) is None and (claim := _expected_claim(mate, task, view.t)) is not None
        )
        return self.answer(replace(view, unread=(*view.unread, *claims)), chooser)

    def propose(self, request: JointPlanRequest) -> dict[int, Plan]:
        """Make a joint plan."""
        return joint_plan(read_team(request.state, self._given_facts()), request)

    def _given_facts(self) -> Mapping[str, Any]:
        if not self._facts:
            raise ValueError('the rules have no block <facts>: add it with {% include "facts.jinja" %}')
        return self._facts


def _expected_claim(mate: int, task: Task | None, t: int) -> Assignment | None:
    """Return the claim of an agent that collects a cell; None for other tasks."""
    if task is None or task.kind != "collect":
        return None
    kind, _, identity = task.target.rpartition("_")
    if kind not in Material.__members__ or not identity.isdecimal():
        return None
    return Assignment(frozenset({mate}), task, int(identity), HOPE, t)


def _speak(view: View, scene: Scene, heard: Hearsay) -> tuple[Draft, ...]:
    """Report, and state assignments, which also bind the speaker."""
    places = sights(scene, asked(view), heard_of=view.turn.role in TREE)
    report = write_report(scene.id_of(scene.cell), scene.seen.inventory, places)
    recipients = view.turn.recipients
    if Act.SPEAK not in view.turn.acts:
        said = heard.of(view.agent)
        objection = hindrance(scene, said) if said is not None else ""
        text = f"{write_refusal(said.task, objection)} {report}" if said is not None and objection else report
        return (Draft(recipients, text, MessageKind.ACK, asks=()),) if view.unread else ()
    if view.turn.role in LEADING:
        passed = _passed(view, heard) if view.turn.role in TREE else []
        return _direct(view, [*passed, *_orders(view, scene, heard)], report)
    if view.plan is not None:
        return ()
    if view.turn.role:
        return (Draft(recipients, report, MessageKind.REQUEST, asks=()),)
    new = _claim(view, scene, heard)
    return (_draft(view, MessageKind.PROPOSE, [new] if new is not None else [], report),)


def _direct(view: View, orders: Sequence[Assignment], report: str) -> tuple[Draft, ...]:
    """Give orders to all recipients of the turn, followed by a report."""
    speaks = orders or view.turn.role == ROOT or any(m.kind is MessageKind.DIRECTIVE for m in view.unread)
    return (_draft(view, MessageKind.DIRECTIVE, orders, report),) if speaks else ()


def _draft(view: View, kind: MessageKind, given: Sequence[Assignment], report: str) -> Draft:
    """State assignments, followed by a report: the agent claims its own part and asks the others for their parts."""
    text = " ".join([*map(write_assignment, given), *([report] if report else [])])
    own = next((assignment.task for assignment in given if view.agent in assignment.agents), None)
    asks = [Ask(agent, one.task) for one in given for agent in sorted(one.agents - {view.agent})]
    return Draft(view.turn.recipients, text, kind, own, tuple(ask for ask in asks if ask.agent < len(view.names)))


def _passed(view: View, heard: Hearsay) -> list[Assignment]:
    """Return the orders just received from the agent's own leader that concern other agents too."""
    return [found for found in heard.assignments if found.t == view.t and found.agents - {view.agent}]


def sights(scene: Scene, wanted: Sequence[Material] = (), *, heard_of: bool = False) -> list[str]:
    """Return the places worth reporting, the nearest of each material.

    Args:
        scene: the agent's knowledge.
        wanted: materials requested in addition to the usual ones.
        heard_of: whether to include places known only from messages.
    """
    return [
        f"{material.name}_{scene.id_of(cell)}"
        for material, most in (dict.fromkeys(wanted, 1) | REPORTED).items()
        for cell in sorted(
            set(scene.known(material)) - (set() if heard_of else set(scene.heard(material))),
            key=lambda cell: (distance(cell, scene.cell), cell),
        )[:most]
    ]


def _claim(view: View, scene: Scene, heard: Hearsay) -> Assignment | None:
    """Return the speaker's new commitment: a call, or its own part."""
    if heard.of(view.agent) is not None:
        return None
    new = Caller(view, scene, heard).call() or own_part(view, scene, heard)
    if new is not None:
        heard.add(new)
    return new


def own_part(view: View, scene: Scene, heard: Hearsay) -> Assignment | None:
    """Return the cell that the agent will collect alone."""
    plan = survive(scene) or hide(scene) or work(scene, avoid=heard.taken(view.agent), patience=HOPE)
    if plan is None or plan.task is None or plan.task.kind != "collect":
        return None
    target = next((a.target for a in reversed(plan.actions) if isinstance(a, Collect) and a.target is not None), None)
    if target is None or not plan.task.target.endswith(f"_{target}"):
        return None
    return Assignment(frozenset({view.agent}), plan.task, target, HOPE, view.t)


def _orders(view: View, scene: Scene, heard: Hearsay) -> list[Assignment]:
    """Return the leader's orders: a call, and a separate tree for each agent that lacks wood for the first tool."""
    orders = []
    mine = heard.of(view.agent)
    if mine is None or not mine.is_joint:
        new = Caller(view, scene, heard).call()
        if new is not None:
            heard.add(new)
            orders.append(new)
    for agent, cell in sorted(heard.cells.items()):
        if agent in view.turn.recipients and heard.of(agent) is None and _lacks_wood(agent, scene, heard):
            taken = {found.cell for found in heard.assignments}
            trees = [tree for tree in scene.known(Material.tree) if scene.id_of(tree) not in taken]
            tree = min(trees, key=lambda tree: (distance(tree, cell), tree), default=None)
            if tree is not None:
                identity = scene.id_of(tree)
                task = Task("collect", f"{Material.tree.name}_{identity}")
                if (agent, task) not in heard.refused:
                    orders.append(Assignment(frozenset({agent}), task, identity, HOPE, view.t))
                    heard.add(orders[-1])
    return orders


def _orders_of_coordinator(view: View, observation: CrafterObservation, heard: Hearsay) -> list[Assignment]:
    """Return the orders of a coordinator without a body: those each agent would give with the map and all reports."""
    orders: list[Assignment] = []
    for mate in observation.teammates:
        agent = view.names.index(mate.agent)
        place = replace(observation, agent=mate.agent, cell=mate.cell, inventory=heard.bags.get(agent, {}))
        orders += _orders(replace(view, agent=agent), Scene(place, heard.places), heard)
    return orders


def _lacks_wood(agent: int, scene: Scene, heard: Hearsay) -> bool:
    """Return whether an agent reports too little wood for the first tool and, if needed, its table."""
    table = 0 if scene.known(Material.table) else TABLE_WOOD
    wood = dict(MAKE[primitive_of(Tool.wood_pickaxe)].uses)[Item.wood] + table
    held = heard.bags.get(agent, {})
    return not heard.holds(agent, "wood_pickaxe") and held.get(Item.wood.name, 0) < wood


def _decide(view: View, scene: Scene, heard: Hearsay, chooser: Chooser) -> Plan | Resume:
    """Resume the current plan, unless a call or an order asks for something else."""
    if view.plan is None:
        return _plan(view, scene, heard, chooser)
    said, task = heard.of(view.agent), view.plan.task
    if said is None or not scene.seen.alive or task == said.task or (task is not None and task.kind in URGENT):
        return Resume.RESUME
    return survive(scene) or follow(scene, said) or Resume.RESUME


def _plan(view: View, scene: Scene, heard: Hearsay, chooser: Chooser) -> Plan:
    if not scene.seen.alive:
        return rest(rationale="I am dead")
    ways = list(Direction)
    heading = ways[(view.agent + view.t // 50) % len(ways)]
    if chooser.is_poor():
        return explore(scene, chooser.any_of(ways)) or rest()
    said = heard.of(view.agent)
    return (
        survive(scene)
        or hide(scene)
        or (follow(scene, said) if said is not None else None)
        or next((plan for short in heard.short if (plan := follow(scene, short)) is not None), None)
        or work(scene, avoid=heard.taken(view.agent), patience=HOPE)
        or explore(scene, heading)
        or next((plan for way in ways if (plan := explore(scene, way)) is not None), rest())
    )


_LASTING = frozenset(resource.value for material, resource in RESOURCE.items() if COLLECT[material].leaves is material)
"""Resources that several agents can each take from the same cell."""


def joint_plan(seen: Sequence[CrafterObservation], request: JointPlanRequest) -> dict[int, Plan]:
    """Make a joint plan; see `quorum.agents.skills.Speaker.propose`.

    Each agent looks after its life, then works on its next tool. A joint cell goes to the nearest capable free agents
    that know it. If they are too few, each agent collects alone or explores: the exploiter's agents each in a fixed
    direction, the explorer's in a direction that changes every 50 steps.

    Args:
        seen: each agent's observation.
        request: the request.
    """
    scenes = {agent: Scene(seen[agent], judge=request.chooser.judge) for agent in request.asked if seen[agent].alive}
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
        heading = request.chooser.any_of(list(Direction))
        if agent in scenes and (anywhere := _anywhere(scenes[agent], heading)) is not None:
            plans[agent] = anywhere
    return plans


def _alone(scene: Scene, plan: Plan | None, taken: Set[object], heading: Direction) -> Plan | None:
    """Return an agent's solo plan: its own, or another that needs no other agent and conflicts with no claim.

    None if there is nothing it could do.
    """
    if plan is None or _takes_several(scene, plan) or _claims(plan_value(plan)["actions"]) & taken:
        plan = harvest(scene, frozenset(one for one in taken if isinstance(one, int)))
    if plan is None or _claims(plan_value(plan)["actions"]) & taken:
        plan = _anywhere(scene, heading)
    return plan


def _anywhere(scene: Scene, heading: Direction) -> Plan | None:
    """Explore, preferably in one direction; None if no unseen land can be reached."""
    ways = (heading, *Direction)
    return next((plan for way in ways if (plan := explore(scene, way)) is not None), None)


def _takes_several(scene: Scene, plan: Plan) -> Cell | None:
    """Return the joint cell that a plan collects; None if it collects none."""
    for action in plan.actions:
        if isinstance(action, Collect) and action.target is not None:
            cell = scene.cell_of(action.target)
            if scene.material(cell) in RESOURCE and scene.needed(scene.material(cell)) > 1:
                return cell
    return None


def _team(agent: int, plan: Plan | None, free: Mapping[int, Scene]) -> dict[int, Plan] | None:
    """Return plans for as many free agents as a plan's target takes; None if too few are free or one is enough."""
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
    """Return the cells from which a plan collects."""
    return {action.target for action in plan.actions if isinstance(action, Collect)}


def _claims(actions: Sequence[Mapping[str, Any]]) -> set[object]:
    """Return the exclusive claims of actions: cells that vanish when collected, and kinds of placed objects."""
    cells = {a["target"] for a in actions if a["action"] == "collect" and a["resource"] not in _LASTING}
    return (cells | {action["object"] for action in actions if action["action"] == "place"}) - {None}
