"""The gates of the open world: quorums with tools that meet, stocks that never go negative, one group per target.

LLaMAC (arXiv 2311.13884) names the two gates; docs/llamac.md defines the rules. The critics use the union of the
agents' knowledge; no rule reads the underlying world. The ledger simulates a joint plan on paper: item stocks, standing
stations, and arrival times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crafter_env import (
    COLLECT,
    MAKE,
    NEEDS,
    PLACE,
    Cell,
    Collect,
    Craft,
    CrafterObservation,
    Item,
    Material,
    Move,
    Navigate,
    Noop,
    Place,
    Resource,
    Share,
    Sleep,
    Target,
    primitive_of,
)
from maeil.actions import SymbolicAction
from maeil.mind import Observation
from maeil.plans import Plan
from quorum.agents.coordination.joint import Joint, Rejection, Sight, called
from quorum.agents.skills.contract import read_rules
from quorum.open_world.gathering import places
from quorum.open_world.needs import stations_of
from quorum.open_world.scene import RESOURCE, WALKABLE, Scene, around, distance, is_sheltered, scenes_of

MATERIAL: Mapping[Resource, Material] = {resource: material for material, resource in RESOURCE.items()}
"""The resources found in cells, with their material."""
NIGHT = 100
"""Assumed duration of a sleep, in steps."""
STANDS = WALKABLE | {Material.none}
"""Materials that a plan may stand on; `none` means unseen."""
LONGEST_WALK = 64
"""Maximum number of steps of a `navigate`."""


@dataclass(frozen=True, slots=True)
class Visit:
    """A collection from a cell by an agent.

    Attributes:
        agent: its index.
        cell: the cell of the resource.
        material: the material of the cell.
        arrival: steps until the agent can act on the cell; None if it knows no way.
        tries: number of attempts.
        able: whether it holds the tool by then.
    """

    agent: int
    cell: Cell
    material: Material
    arrival: int | None
    tries: int
    able: bool


@dataclass(frozen=True, slots=True)
class Stuck:
    """An action that stays impossible after all possible actions before it.

    Attributes:
        agent: the agent of the action.
        is_stock: whether items are lacking; false: a tool or a station.
        text: what is lacking.
    """

    agent: int
    is_stock: bool
    text: str


@dataclass(slots=True)
class _Page:
    """One agent's page of the ledger."""

    scene: Scene
    actions: tuple[SymbolicAction, ...]
    cell: Cell
    bag: Counter[Item]
    goals: set[Material] = field(default_factory=set)
    """Stations that the plan goes to at cells the agent has not seen."""
    done: int = 0
    time: int | None = 0


@dataclass(slots=True)
class Ledger:
    """The simulated outcome of a joint plan.

    Attributes:
        visits: collections from cells, in the order in which they became possible.
        stuck: each agent's first action that lacks something.
        placed: the agents that place each station.
    """

    visits: list[Visit] = field(default_factory=list)
    stuck: list[Stuck] = field(default_factory=list)
    placed: dict[Material, list[int]] = field(default_factory=dict)


def keep(
    scenes: Mapping[int, Scene], plans: Mapping[int, Plan], gifts: Mapping[int, Mapping[Item, int]] | None = None
) -> Ledger:
    """Simulate the plans of living agents.

    Each agent's actions run in order. An action that lacks something waits until another agent's action provides it (a
    share, a station). Actions still waiting when no agent can continue are stuck. Travel times are exact up to an
    agent's first destination and Manhattan distances after that.

    Args:
        scenes: the knowledge of each living agent, by index.
        plans: plans by agent.
        gifts: items received from agents whose plans are not simulated.
    """
    ledger, given = Ledger(), gifts or {}
    pages = {}
    for agent, plan in sorted(plans.items()):
        if (scene := scenes.get(agent)) is not None:
            bag = _bag(scene) + Counter(given.get(agent, {}))
            pages[agent] = _Page(scene, plan.actions, scene.cell, bag)
    goes_on = True
    while goes_on:
        goes_on = False
        for agent, page in pages.items():
            while page.done < len(page.actions) and _lack(page, ledger) is None:
                _carry_out(agent, page, pages, ledger)
                page.done += 1
                goes_on = True
    for agent, page in pages.items():
        if page.done < len(page.actions):
            is_stock, text = _lack(page, ledger) or (False, "")
            ledger.stuck.append(Stuck(agent, is_stock, f"{called([agent])}: {page.actions[page.done]}: {text}"))
    return ledger


def target_of(scene: Scene, action: Collect) -> Cell | None:
    """Return the target cell of a collection; None for creatures and saplings, and if no cell is known."""
    material = MATERIAL.get(action.resource)
    if material is None:
        return None
    if action.target is not None:
        return scene.cell_of(action.target)
    return scene.nearest(material)


def way(scene: Scene, cell: Cell, reach: int) -> int | None:
    """Return the steps until a cell is in reach; None if the agent knows no way.

    If plans may name unseen cells and no way over seen cells is known, unseen cells count as free.
    """

    def arrives(place: Cell) -> float | None:
        return 0 if distance(place, cell) <= reach else None

    trip = scene.search(arrives)
    if trip is None and not scene.seen.known_only:
        trip = scene.search(arrives, 2 * sum(scene.seen.size), hopeful=True)
    return trip.cost if trip is not None else None


def _bag(scene: Scene) -> Counter[Item]:
    held = Counter({item: scene.held(item) for item in Item})
    held.update({item: scene.seen.needs[item.name] for item in NEEDS})
    return held


def _lack(page: _Page, ledger: Ledger) -> tuple[bool, str] | None:
    """Return whether the next action lacks items, and a description; None if it lacks nothing."""
    match page.actions[page.done]:
        case Collect(resource=resource) if resource in MATERIAL:
            material = MATERIAL[resource]
            tool = COLLECT[material].tool
            # Joint cells are left to the quorum rule: an agent without the tool may stand by.
            if tool is not None and not page.bag[tool] and page.scene.needed(material) == 1:
                return False, f"it has no {tool.name} by then"
        case Craft(item=tool):
            lacking = _missing(page.bag, dict(MAKE[primitive_of(tool)].uses))
            if lacking:
                return True, lacking
            for station in stations_of(page.scene, tool):
                known = station in ledger.placed or station in page.goals or page.scene.known(station)
                if not known:
                    return False, f"no {station.name} stands by then"
        case Place(object=what):
            recipe = PLACE[primitive_of(what)]
            lacking = _missing(page.bag, {recipe.item: recipe.amount})
            if lacking:
                return True, lacking
        case Share(item=item, quantity=quantity):
            if lacking := _missing(page.bag, {Item[item]: quantity}):
                return True, lacking
    return None


def _missing(bag: Mapping[Item, int], wanted: Mapping[Item, int]) -> str:
    found = [f"{units - bag[item]} {item.name}" for item, units in wanted.items() if bag[item] < units]
    return f"it lacks {' and '.join(found)} by then" if found else ""


def _carry_out(agent: int, page: _Page, pages: Mapping[int, _Page], ledger: Ledger) -> None:
    """Apply the effects of an agent's next action."""
    scene = page.scene
    match page.actions[page.done]:
        case Navigate(target=target, id=identity):
            if target not in _CREATURES:
                cell = scene.cell_of(identity)
                _walk(page, cell, 0 if target is Target.cell and scene.material(cell) in STANDS else 1)
                if scene.material(cell) is Material.none and target in (Target.table, Target.furnace):
                    page.goals.add(Material[target.value])
        case Collect(resource=resource, steps=tries) as action:
            aim = target_of(scene, action)
            if aim is None:
                return
            material = MATERIAL[resource]
            tool = COLLECT[material].tool
            _walk(page, aim, scene.seen.cooperation.radius if scene.needed(material) > 1 else 1)
            able = tool is None or page.bag[tool] > 0
            ledger.visits.append(Visit(agent, aim, material, page.time, tries, able))
            page.bag[COLLECT[material].item] += 1
            _spend(page, 1)
        case Craft(item=tool):
            page.bag -= Counter(dict(MAKE[primitive_of(tool)].uses))
            page.bag[Item[tool.value]] += 1
            _spend(page, 1)
        case Place(object=what):
            recipe = PLACE[primitive_of(what)]
            page.bag -= Counter({recipe.item: recipe.amount})
            if what.value in Material.__members__:
                ledger.placed.setdefault(Material[what.value], []).append(agent)
            _spend(page, 1)
        case Share(agent=other, item=item, quantity=quantity):
            page.bag -= Counter({Item[item]: quantity})
            if other in pages:
                pages[other].bag[Item[item]] += quantity
            _spend(page, 1)
        case Noop(steps=steps):
            _spend(page, steps)
        case Sleep():
            _spend(page, NIGHT)
        case _:
            _spend(page, 1)


def _walk(page: _Page, cell: Cell, reach: int) -> None:
    steps = way(page.scene, cell, reach) if page.cell == page.scene.cell else max(distance(page.cell, cell) - reach, 0)
    if steps is None:
        page.time = None
    elif steps:
        page.cell = cell
        _spend(page, steps)


def _spend(page: _Page, steps: int) -> None:
    if page.time is not None:
        page.time += steps


FULL = 9
"""The maximum of a need."""
_NEED_OF: Mapping[Resource, str] = {Resource.drink: "drink", Resource.food: "food"}
_CREATURES = (Target.agent, Target.cow, Target.plant, Target.zombie, Target.skeleton)


class CrafterGates:
    """Implements `quorum.agents.skills.Gates` for the open world."""

    rules = read_rules(Path(__file__).with_name("rules.yaml"))

    def scrutinize(self, sight: Sight, joint: Joint) -> list[Rejection]:
        """Simulate the joint plan; judge the stuck actions, and where agents collect."""
        scenes = scenes_of(sight.agents)
        ledger = keep(scenes, joint.all)
        broken = [
            Rejection("V-STOCK" if stuck.is_stock else "V-ORDER", (stuck.agent,), stuck.text)
            for stuck in ledger.stuck
            if stuck.agent in joint.plans
        ]
        return [*broken, *_twice(ledger, joint, scenes), *_meetings(ledger, joint, scenes)]

    def confirm(self, agent: int, observation: Observation, joint: Joint) -> Rejection | None:
        """Judge an agent's plan by its own map, inventory and needs, and the items others will give it."""
        plan = joint.plans[agent]
        assert isinstance(observation, CrafterObservation)
        if not observation.alive:
            idle = all(isinstance(action, Noop) for action in plan.actions)
            return None if idle else Rejection("C-AVAIL", (agent,), "the agent is dead")
        scene = Scene(observation)
        goal = next((goal for action in plan.actions if (goal := _goal(scene, action)) is not None), None)
        if goal is not None and way(scene, *goal) is None:
            return Rejection("C-AVAIL", (agent,), f"the agent knows no way to {list(goal[0])}")
        gifts = Counter[Item]()
        for other, its_plan in joint.plans.items():
            for action in its_plan.actions if other != agent else ():
                if isinstance(action, Share) and action.agent == agent:
                    gifts[Item[action.item]] += action.quantity
        lacking = keep({agent: scene}, {agent: plan}, {agent: gifts}).stuck
        if lacking:
            return Rejection("C-STOCK", (agent,), lacking[0].text)
        if not any(_is_progress(scene, action) for action in plan.actions):
            return Rejection("C-PROG", (agent,), "the plan brings the agent and the team nothing")
        return None


def _twice(ledger: Ledger, joint: Joint, scenes: Mapping[int, Scene]) -> Iterator[Rejection]:
    """Yield single-use targets that several agents collect, and stations that several agents place."""
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
    """Yield, for each group at a joint cell, the first rule it breaks."""
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
        if hasty or max(arrivals) > LONGEST_WALK:
            text = f"{place}: the last comes in {max(arrivals)} steps, when {called(hasty)} have given up"
            yield Rejection("V-MEET", tuple(hasty) or agents, text)


def _room(scenes: Mapping[int, Scene], cell: Cell) -> int:
    """Return the number of places from which a cell can be acted on, as far as known; unseen places count as free."""
    team = list(scenes.values())
    radius = team[0].seen.cooperation.radius
    free = {place for scene in team for place in places(scene, cell, radius, around=False)}
    if not team[0].seen.known_only:
        near = [place for place in around(cell, radius) if team[0].on_map(place)]
        free.update(place for place in near if all(scene.material(place) is Material.none for scene in team))
    return len(free)


def _by_cell(ledger: Ledger) -> dict[Cell, list[Visit]]:
    found: dict[Cell, list[Visit]] = {}
    for visit in ledger.visits:
        found.setdefault(visit.cell, []).append(visit)
    return found


def _is_new(agents: tuple[int, ...], joint: Joint) -> bool:
    """Return whether the joint plan covers any of these agents."""
    return any(agent in joint.plans for agent in agents)


def _goal(scene: Scene, action: SymbolicAction) -> tuple[Cell, int] | None:
    """Return an action's destination and how close it must get; None if it has no fixed destination."""
    match action:
        case Navigate(target=target, id=identity) if target not in _CREATURES:
            cell = scene.cell_of(identity)
            return cell, 0 if target is Target.cell else 1
        case Collect():
            target_cell = target_of(scene, action)
            return (target_cell, max(scene.seen.cooperation.radius, 1)) if target_cell is not None else None
    return None


def _is_progress(scene: Scene, action: SymbolicAction) -> bool:
    """Return whether an action makes progress toward a target, unseen land, a missing item, or a need."""
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
