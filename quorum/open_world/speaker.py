"""The simulated speaker in the open world: it climbs the technology tree by what it sees and hears, and nothing else.

Alone it waits for nobody. In talk it says where it is, what it holds and has seen, and what it works on; it leaves to
others what they work on, calls as many as a cell or a tool takes, comes when it is called, and obeys its leader or
reports what stands in the way. It remembers what its prompt shows. As a critic of LLaMAC it plans for all agents that
it is asked about, by what each of them knows.
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
"""What the land has, in the order in which an agent needs it."""
LOOKED_FOR = 2
"""Materials that a need names, at most: the first of which no place is known."""


def asked(view: View) -> list[Material]:
    """Return the materials that those look for whom the agent writes to."""
    names = dict.fromkeys(name for wanted in view.wanted.values() for name in wanted)
    return [Material[name] for name in names if name in Material.__members__]


def offered_and_needed(view: View) -> Mapping[str, Mapping[str, Any]]:
    """Offer what the agent has seen, and ask for what it knows no place of."""
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
"""Cells of each material, the nearest, that a report names."""
COLLECTED = (Material.tree, Material.stone, Material.coal, Material.iron, Material.diamond)
"""Materials that another may go for."""
URGENT = frozenset({"fight", "eat", "sleep", "hide"})
"""Kinds of tasks that are not given up for a call."""
HOPE = 3
"""Times that one who has called nobody tries what takes several."""


class CrafterSpeaker(Speaker[CrafterObservation]):
    """Climbs the technology tree by what its prompt shows."""

    observation = CrafterObservation
    vocabulary = Vocabulary(Noop, Move, Collect, Craft, Sleep, Place, Share, Navigate)
    needs = frozenset({"noop", "move", "collect", "craft", "place", "navigate", "sleep"})

    def __init__(self, facts: Mapping[str, Any] | None = None, agents: int = 0) -> None:
        self._facts, self._agents = facts or {}, agents

    def for_facts(self, facts: Mapping[str, Any], team: Sequence[str]) -> CrafterSpeaker:
        """Return the speaker that knows what the rules say of the configuration."""
        return CrafterSpeaker(facts, sum(name == agent_name(index) for index, name in enumerate(team)))

    def read_observation(self, text: str) -> CrafterObservation:
        """Read the observation of a prompt.

        Raises:
            ValueError: the rules of the prompt lack the facts that it leaves out.
        """
        return read_shown(orjson.loads(text), self._given_facts(), self._agents)

    def answer(self, view: View, chooser: Chooser) -> Thought:
        """Answer a turn; a coordinator without a body gives orders to all."""
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
        """Return what another has said that it does, and the nearest known cells of each material around it."""
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
        """Take cells that others are expected to collect for claimed, where these have said nothing else."""
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
            raise ValueError('the rules have no block <facts>; {% include "facts.jinja" %} writes it')
        return self._facts


def _expected_claim(mate: int, task: Task | None, t: int) -> Assignment | None:
    """The claim that another would have made who collects a cell; None for anything else."""
    if task is None or task.kind != "collect":
        return None
    kind, _, identity = task.target.rpartition("_")
    if kind not in Material.__members__ or not identity.isdecimal():
        return None
    return Assignment(frozenset({mate}), task, int(identity), HOPE, t)


def _speak(view: View, scene: Scene, heard: Hearsay) -> tuple[Draft, ...]:
    """Report, and say who is to do what; what is said counts for the speaker, too."""
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
    """Give orders to all whom the turn lets its holder write to, with a report behind them."""
    speaks = orders or view.turn.role == ROOT or any(m.kind is MessageKind.DIRECTIVE for m in view.unread)
    return (_draft(view, MessageKind.DIRECTIVE, orders, report),) if speaks else ()


def _draft(view: View, kind: MessageKind, given: Sequence[Assignment], report: str) -> Draft:
    """Say who does what, with a report behind it: its own part is a claim, and those of others are asked."""
    text = " ".join([*map(write_assignment, given), *([report] if report else [])])
    own = next((assignment.task for assignment in given if view.agent in assignment.agents), None)
    asks = [Ask(agent, one.task) for one in given for agent in sorted(one.agents - {view.agent})]
    return Draft(view.turn.recipients, text, kind, own, tuple(ask for ask in asks if ask.agent < len(view.names)))


def _passed(view: View, heard: Hearsay) -> list[Assignment]:
    """What the leader's own leader has just said that is for others, too."""
    return [found for found in heard.assignments if found.t == view.t and found.agents - {view.agent}]


def sights(scene: Scene, wanted: Sequence[Material] = (), *, heard_of: bool = False) -> list[str]:
    """Return the places worth naming, the nearest of each kind.

    Args:
        scene: what the agent has seen itself.
        wanted: kinds that are asked for, as well as the usual ones.
        heard_of: whether those that it has heard of are named as well.
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
    """What the speaker is going to do that is new to others: a call, or its own part."""
    if heard.of(view.agent) is not None:
        return None
    new = Caller(view, scene, heard).call() or own_part(view, scene, heard)
    if new is not None:
        heard.add(new)
    return new


def own_part(view: View, scene: Scene, heard: Hearsay) -> Assignment | None:
    """The cell that it is going to collect alone."""
    plan = survive(scene) or hide(scene) or work(scene, avoid=heard.taken(view.agent), patience=HOPE)
    if plan is None or plan.task is None or plan.task.kind != "collect":
        return None
    target = next((a.target for a in reversed(plan.actions) if isinstance(a, Collect) and a.target is not None), None)
    if target is None or not plan.task.target.endswith(f"_{target}"):
        return None
    return Assignment(frozenset({view.agent}), plan.task, target, HOPE, view.t)


def _orders(view: View, scene: Scene, heard: Hearsay) -> list[Assignment]:
    """What the leader orders: a call, and another tree for everybody else who lacks wood for the first tool."""
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
    """What one without a body orders: what each of them would, knowing the map and what all have said they hold."""
    orders: list[Assignment] = []
    for mate in observation.teammates:
        agent = view.names.index(mate.agent)
        place = replace(observation, agent=mate.agent, cell=mate.cell, inventory=heard.bags.get(agent, {}))
        orders += _orders(replace(view, agent=agent), Scene(place, heard.places), heard)
    return orders


def _lacks_wood(agent: int, scene: Scene, heard: Hearsay) -> bool:
    """Whether an agent, by what it has said, holds too little wood for the first tool and the table that this takes."""
    table = 0 if scene.known(Material.table) else TABLE_WOOD
    wood = dict(MAKE[Tool.wood_pickaxe.primitive].uses)[Item.wood] + table
    held = heard.bags.get(agent, {})
    return not heard.holds(agent, "wood_pickaxe") and held.get(Item.wood.name, 0) < wood


def _decide(view: View, scene: Scene, heard: Hearsay, chooser: Chooser) -> Plan | Resume:
    """Go on with what is under way, unless a call or an order is for something else."""
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
