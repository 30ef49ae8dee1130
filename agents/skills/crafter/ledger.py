"""A joint plan of the open world carried out on paper: who holds what, which stations stand, who gets where when."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from crafter_env import (
    COLLECT,
    MAKE,
    NEEDS,
    PLACE,
    Cell,
    Collect,
    Craft,
    Item,
    Material,
    Navigate,
    Noop,
    Place,
    Resource,
    Share,
    Sleep,
    Target,
)
from maeil.actions import SymbolicAction
from maeil.plans import Plan
from quorum.agents.coordination.joint import called
from quorum.agents.skills.crafter.needs import stations_of
from quorum.agents.skills.crafter.scene import RESOURCE, WALKABLE, Scene, distance

MATERIAL: Mapping[Resource, Material] = {resource: material for material, resource in RESOURCE.items()}
"""The resources that are cells, and their material."""
NIGHT = 100
"""Steps that a sleep is taken to last."""
STANDS = WALKABLE | {Material.none}
"""What a plan may want to stand on: `none` is unseen."""
STEPS = 64
"""Steps of a `navigate`, at most."""


@dataclass(frozen=True, slots=True)
class Visit:
    """An agent collects from a cell.

    Attributes:
        agent: its index.
        cell: where the resource is.
        material: what it is.
        arrival: steps until the agent can act on it; None when it knows no way.
        tries: times that it tries there.
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
    """An action that cannot be done, after all that could be done before it.

    Attributes:
        agent: whose action.
        is_stock: whether units are lacking; false: a tool or a station.
        text: what is lacking.
    """

    agent: int
    is_stock: bool
    text: str


@dataclass(slots=True)
class _Page:
    """One agent's part of the ledger."""

    scene: Scene
    actions: tuple[SymbolicAction, ...]
    cell: Cell
    bag: Counter[Item]
    told: set[Material] = field(default_factory=set)
    """Stations that its plan goes to, where it has not seen what is there."""
    done: int = 0
    time: int | None = 0


@dataclass(slots=True)
class Ledger:
    """What a joint plan comes to.

    Attributes:
        visits: collections from cells, in the order in which they were found possible.
        stuck: the first action of each agent that is lacking something.
        placed: stations that are placed, by whom.
    """

    visits: list[Visit] = field(default_factory=list)
    stuck: list[Stuck] = field(default_factory=list)
    placed: dict[Material, list[int]] = field(default_factory=dict)


def keep(
    scenes: Mapping[int, Scene], plans: Mapping[int, Plan], gifts: Mapping[int, Mapping[Item, int]] | None = None
) -> Ledger:
    """Carry out the plans of living agents.

    Each agent's actions come in order; one that lacks something waits until another agent's action provides it (a
    share, a station). What still waits when nobody can go on is stuck. Time is the way: exact to the first place that
    an agent goes to, by Manhattan distance from there on.

    Args:
        scenes: what each living agent knows, by index.
        plans: by agent.
        gifts: what agents get from others, whose plans are not among these.
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
    """The cell that a collection is aimed at; None for creatures and saplings, and where none is known."""
    material = MATERIAL.get(action.resource)
    if material is None:
        return None
    if action.target is not None:
        return scene.cell_of(action.target)
    return min(scene.known(material), key=lambda cell: (distance(cell, scene.cell), cell), default=None)


def way(scene: Scene, cell: Cell, reach: int) -> int | None:
    """Steps to where a cell is in reach; None when there is no way, as far as the agent knows.

    Where plans may name unseen cells and no way over seen ones is known, unseen cells are taken to be free.
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
    """What the next action of an agent lacks: whether units, and in words; None when nothing."""
    match page.actions[page.done]:
        case Collect(resource=resource) if resource in MATERIAL:
            material = MATERIAL[resource]
            tool = COLLECT[material].tool
            # Where several must act, the quorum is judged: one without the tool may stand by.
            if tool is not None and not page.bag[tool] and page.scene.needed(material) == 1:
                return False, f"it has no {tool.name} by then"
        case Craft(item=tool):
            lacking = _missing(page.bag, dict(MAKE[tool.primitive].uses))
            if lacking:
                return True, lacking
            for station in stations_of(page.scene, tool):
                known = station in ledger.placed or station in page.told or page.scene.known(station)
                if not known:
                    return False, f"no {station.name} stands by then"
        case Place(object=what):
            recipe = PLACE[what.primitive]
            lacking = _missing(page.bag, {recipe.item: recipe.amount})
            if lacking:
                return True, lacking
        case Share(item=item, quantity=quantity):
            if item.value in Item.__members__ and (lacking := _missing(page.bag, {item.item: quantity})):
                return True, lacking
    return None


def _missing(bag: Mapping[Item, int], wanted: Mapping[Item, int]) -> str:
    found = [f"{units - bag[item]} {item.name}" for item, units in wanted.items() if bag[item] < units]
    return f"it lacks {' and '.join(found)} by then" if found else ""


def _carry_out(agent: int, page: _Page, pages: Mapping[int, _Page], ledger: Ledger) -> None:
    """Book the effects of an agent's next action."""
    scene = page.scene
    match page.actions[page.done]:
        case Navigate(target=target, id=identity):
            if target not in (Target.agent, Target.cow, Target.plant, Target.zombie, Target.skeleton):
                cell = scene.cell_of(identity)
                _walk(page, cell, 0 if target is Target.cell and scene.material(cell) in STANDS else 1)
                if scene.material(cell) is Material.none and target in (Target.table, Target.furnace):
                    page.told.add(Material[target.value])
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
            page.bag -= Counter(dict(MAKE[tool.primitive].uses))
            page.bag[Item[tool.value]] += 1
            _spend(page, 1)
        case Place(object=what):
            recipe = PLACE[what.primitive]
            page.bag -= Counter({recipe.item: recipe.amount})
            if what.value in Material.__members__:
                ledger.placed.setdefault(Material[what.value], []).append(agent)
            _spend(page, 1)
        case Share(agent=other, item=item, quantity=quantity):
            page.bag -= Counter({item.item: quantity})
            if other in pages:
                pages[other].bag[item.item] += quantity
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
