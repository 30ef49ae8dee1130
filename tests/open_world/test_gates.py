"""The gates of the open world: each rule on a map that breaks it, and on one that does not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from crafter_env import (
    Collect,
    Craft,
    Direction,
    Item,
    Move,
    Navigate,
    Noop,
    Place,
    Placeable,
    Resource,
    Share,
    Shareable,
    Sleep,
    Target,
    Tool,
)
from maeil import Plan, SymbolicAction
from quorum.agents.coordination.joint import Fault, Joint, Sight
from quorum.open_world.gates import CrafterGates
from tests.crafter_env.joined import world

GATES = CrafterGates()
MAP = """
.........
.0.T...c.
.........
.1..i.#..
.........
.2.....~.
.........
"""
BOXED = """
.........
.0###....
..#i#....
.1###....
.........
"""
PICKAXE = {Item.wood_pickaxe: 1}
STONE = {Item.wood_pickaxe: 1, Item.stone_pickaxe: 1}


def at(x: int, y: int, height: int = 7) -> int:
    """The id of a cell: column by column, from 1."""
    return x * height + y + 1


TREE, COAL, IRON, ROCK = at(3, 1), at(7, 1), at(4, 3), at(6, 3)


class Case:
    """A joint plan on a map, with what agents hold."""

    def __init__(
        self,
        plans: Mapping[int, tuple[SymbolicAction, ...]],
        bags: Mapping[int, Mapping[Item, int]] | None = None,
        drawing: str = MAP,
        level: str = "coop2",
        agent: int = 0,
        oracle_map: bool = True,
        known_only: bool = False,
        **needs: int,
    ) -> None:
        w = world(
            drawing,
            bags=bags,
            level=level,
            profile="coop",
            switches={"mobs": False, "sharing": True, "share_radius": None},
            oracle_map=oracle_map,
            known_only=known_only,
        )
        for need, value in needs.items():
            w.env.crafter_state.inventory[:, Item[need]] = value
        self.agent = agent
        self.seen = tuple(map(w.observe, range(len(w.agents))))
        self.global_observation = w.global_observation()
        self.joint = Joint({a: Plan(actions) for a, actions in plans.items()})

    @property
    def scrutiny(self) -> list[tuple[str, tuple[int, ...]]]:
        return [(r.code, r.agents) for r in GATES.scrutinize(Sight(0, self.global_observation, self.seen), self.joint)]

    @property
    def confirmation(self) -> str | None:
        found = GATES.confirm(self.agent, self.seen[self.agent], self.joint)
        return found.code if found is not None else None


def mine(target: int, resource: Resource, steps: int = 12) -> Collect:
    return Collect(resource=resource, target=target, steps=steps)


def table() -> Place:
    return Place(object=Placeable.table)


def give(agent: int, item: Shareable, quantity: int) -> Share:
    return Share(agent=agent, item=item, quantity=quantity)


IRON_TEAM = {agent: (mine(IRON, Resource.iron),) for agent in (0, 1, 2)}
ABLE = dict.fromkeys((0, 1, 2), STONE)

TRIPS = [
    ("V-ORDER", (0,), lambda: Case({0: (Craft(item=Tool.wood_pickaxe),)}, {0: {Item.wood: 1}})),
    ("V-ORDER", (0,), lambda: Case({0: (mine(ROCK, Resource.stone),)})),
    ("V-STOCK", (0,), lambda: Case({0: (table(),)}, {0: {Item.wood: 1}})),
    ("V-STOCK", (0,), lambda: Case({0: (give(1, Shareable.wood, 2),)}, {0: {Item.wood: 1}})),
    ("V-STOCK", (0,), lambda: Case({0: (table(), Craft(item=Tool.wood_pickaxe))}, {0: {Item.wood: 2}})),
    ("V-ONCE", (0, 1), lambda: Case({0: (table(),), 1: (table(),)}, {0: {Item.wood: 2}, 1: {Item.wood: 2}})),
    ("V-ONCE", (0, 1), lambda: Case({a: (mine(ROCK, Resource.stone),) for a in (0, 1)}, {0: PICKAXE, 1: PICKAXE})),
    ("V-QUORUM", (0, 1), lambda: Case({a: (mine(IRON, Resource.iron),) for a in (0, 1)}, ABLE)),
    ("V-QUORUM", (0, 1, 2), lambda: Case(IRON_TEAM, {0: STONE, 1: STONE})),
    (
        "V-RANGE",
        (0, 1),
        lambda: Case(
            {a: (mine(at(3, 2, 5), Resource.coal),) for a in (0, 1)}, {0: PICKAXE, 1: PICKAXE}, BOXED.replace("i", "c")
        ),
    ),
    ("V-MEET", (1, 2), lambda: Case({0: (Noop(steps=40), *IRON_TEAM[0]), 1: IRON_TEAM[1], 2: IRON_TEAM[2]}, ABLE)),
]
PASSES = [
    ("V-ORDER", lambda: Case({0: (table(), Craft(item=Tool.wood_pickaxe))}, {0: {Item.wood: 3}})),
    ("V-ORDER", lambda: Case({0: (mine(ROCK, Resource.stone),)}, {0: PICKAXE})),
    (
        "V-STOCK",
        lambda: Case({0: (table(),), 1: (give(0, Shareable.wood, 1),)}, {0: {Item.wood: 1}, 1: {Item.wood: 1}}),
    ),
    ("V-ONCE", lambda: Case({0: (table(),), 1: (mine(ROCK, Resource.stone),)}, {0: {Item.wood: 2}, 1: PICKAXE})),
    ("V-QUORUM", lambda: Case(IRON_TEAM, ABLE)),
    ("V-RANGE", lambda: Case({a: (mine(COAL, Resource.coal),) for a in (0, 1)}, {0: PICKAXE, 1: PICKAXE})),
    ("V-MEET", lambda: Case({0: (Noop(steps=4), *IRON_TEAM[0]), 1: IRON_TEAM[1], 2: IRON_TEAM[2]}, ABLE)),
]


@pytest.mark.parametrize(("code", "agents", "case"), TRIPS)
def test_each_rule_of_scrutiny_is_tripped_by_its_map(code, agents, case):
    assert case().scrutiny == [(code, agents)]


@pytest.mark.parametrize(("code", "case"), PASSES)
def test_each_rule_of_scrutiny_lets_the_map_beside_it_pass(code, case):
    assert case().scrutiny == []


REFUSED = [
    ("C-AVAIL", lambda: Case({0: (Navigate(target=Target.cell, id=at(3, 2, 5)),)}, drawing=BOXED)),
    ("C-STOCK", lambda: Case({0: (table(),)})),
    ("C-STOCK", lambda: Case({0: (Craft(item=Tool.wood_pickaxe),)}, {0: {Item.wood: 1}})),
    ("C-PROG", lambda: Case({0: (Noop(steps=5),)})),
    ("C-PROG", lambda: Case({0: (Sleep(),)})),
    ("C-PROG", lambda: Case({0: (Collect(resource=Resource.drink),)})),
    ("C-PROG", lambda: Case({0: (Navigate(target=Target.cell, id=at(1, 1)),)})),
]
CONFIRMED = [
    ("C-AVAIL", lambda: Case({0: (Navigate(target=Target.cell, id=at(2, 3)),)})),
    ("C-STOCK", lambda: Case({0: (table(),)}, {0: {Item.wood: 2}})),
    ("C-STOCK", lambda: Case({0: (table(),), 1: (give(0, Shareable.wood, 2),)}, {1: {Item.wood: 2}})),
    ("C-PROG", lambda: Case({0: (mine(TREE, Resource.wood),)})),
    ("C-PROG", lambda: Case({0: (Sleep(),)}, energy=3)),
    ("C-PROG", lambda: Case({0: (Collect(resource=Resource.drink),)}, drink=3)),
    ("C-PROG", lambda: Case({0: (Noop(steps=5), mine(TREE, Resource.wood))})),
]


@pytest.mark.parametrize(("code", "case"), REFUSED)
def test_each_rule_of_confirmation_is_tripped_by_its_map(code, case):
    assert case().confirmation == code


@pytest.mark.parametrize(("code", "case"), CONFIRMED)
def test_each_rule_of_confirmation_lets_the_map_beside_it_pass(code, case):
    assert case().confirmation is None


def test_walking_towards_unseen_land_is_progress():
    plan = {0: (Move(direction=Direction.right),)}
    assert Case(plan).confirmation == "C-PROG", "the whole map is known"
    wide = "\n".join("." * 20 for _ in range(7)).replace(".", "0", 1)
    assert Case(plan, drawing=wide, oracle_map=False).confirmation is None


FAR_IRON = """
.....................
0....................
.....................
..................i..
1....................
2....................
....................."""
FAR = 18 * 7 + 3 + 1
MEET = {agent: (Navigate(target=Target.iron, id=FAR), mine(FAR, Resource.iron, steps=12)) for agent in (0, 1, 2)}


def test_the_gates_let_a_team_go_to_a_place_that_none_of_it_has_seen():
    assert Case(MEET, ABLE, drawing=FAR_IRON, oracle_map=False).scrutiny == []
    assert Case(MEET, ABLE, drawing=FAR_IRON, oracle_map=False).confirmation is None
    strict = Case(MEET, ABLE, drawing=FAR_IRON, oracle_map=False, known_only=True)
    assert (strict.scrutiny, strict.confirmation) == ([("V-RANGE", (0, 1, 2))], "C-AVAIL")


def test_a_station_that_a_plan_goes_to_counts_as_standing_though_it_was_not_seen():
    plan = {0: (Navigate(target=Target.table, id=FAR), Craft(item=Tool.wood_pickaxe))}
    bag = {0: {Item.wood: 1}}
    assert Case(plan, bag, drawing=FAR_IRON, oracle_map=False).scrutiny == []
    assert Case({0: plan[0][1:]}, bag, drawing=FAR_IRON, oracle_map=False).scrutiny == [("V-ORDER", (0,))]


def test_a_ledger_counts_what_is_collected_on_the_way():
    plan = (mine(TREE, Resource.wood), mine(TREE, Resource.wood), table())
    assert Case({0: plan}).scrutiny == []
    assert Case({0: plan[1:]}).scrutiny == [("V-STOCK", (0,))]


def test_the_dead_can_do_nothing_else_than_nothing():
    case = Case({0: (table(),)}, {0: {Item.wood: 2}})
    dead = case.seen[0].__class__(
        **{name: getattr(case.seen[0], name) for name in case.seen[0].__slots__} | {"alive": False}
    )
    for actions, code in (((table(),), "C-AVAIL"), ((Noop(steps=3),), None)):
        found = GATES.confirm(0, dead, Joint({0: Plan(actions)}))
        assert (found.code if found is not None else None) == code


def test_every_code_has_a_map_that_trips_it_and_one_that_does_not():
    tripped = {case[0] for case in (*TRIPS, *REFUSED)}
    assert tripped == {case[0] for case in (*PASSES, *CONFIRMED)} == set(GATES.rules)
    assert all(code.constraint is not None for code in GATES.rules.values())
    assert {code.fault for code in GATES.rules.values()} == {Fault.CONFLICT, Fault.UNAVAILABLE, Fault.FRUITLESS}
