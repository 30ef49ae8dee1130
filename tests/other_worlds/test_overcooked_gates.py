"""The gates of Overcooked, a rule at a time."""

from __future__ import annotations

from typing import Any

import pytest

from maeil.plans import Plan
from overcooked_env import Cook, Fetch, Fill, Scoop, Serve, Wait
from overcooked_env.world import OvercookedWorld
from quorum.agents.coordination.joint import Joint, look
from quorum.other_worlds.overcooked.gates import OvercookedGates
from tests.overcooked_env.test_overcooked_world import POT, do, world

GATES = OvercookedGates()
FILL, SCOOP = Fill(**POT), Scoop(**POT)


def kitchen(onions: int, *, cooks: bool = False) -> OvercookedWorld:
    """The only pot, (0, 2), with so many onions, perhaps on the fire."""
    where = world(drawn_starts=False)
    do(where, 0, *(Fetch(item="onion"), FILL) * onions, *(Cook(**POT),) * cooks)
    assert where.global_observation().pots[0][2].count("onion") == onions
    return where


def codes(where: OvercookedWorld, asked: dict[int, tuple[Any, ...]], running: Any = None) -> list[tuple[str, Any]]:
    joint = Joint({k: Plan(plan) for k, plan in asked.items()}, {k: Plan(plan) for k, plan in (running or {}).items()})
    return [(found.code, found.agents) for found in GATES.scrutinize(look(where, 0), joint)]


@pytest.mark.parametrize(
    ("onions", "plans", "agents"),
    [
        (2, [(FILL,), (FILL,)], (0, 1)),
        (2, [(FILL,), (Fetch(item="onion"), Wait())], None),
        (1, [(FILL,), (FILL,)], None),
        (1, [(FILL, Fetch(item="onion"), FILL), (Wait(),)], None),
        (2, [(FILL, Fetch(item="onion"), FILL), (Wait(),)], (0,)),
        (2, [(FILL, Cook(**POT), Fetch(item="onion"), FILL), (Wait(),)], None),
    ],
    ids=["one place for two", "one for one", "two for two", "two for one twice", "one for one twice", "next soup"],
)
def test_a_pot_has_room_for_all_that_is_brought_to_it(onions: int, plans: list[Any], agents: Any) -> None:
    found = codes(kitchen(onions), dict(enumerate(plans)))
    assert found == ([("V-ROOM", agents)] if agents else [])


def test_a_pot_on_the_fire_has_room_for_a_next_soup() -> None:
    assert codes(kitchen(3), {1: (FILL,)}) == [("V-ROOM", (1,))]
    assert codes(kitchen(3, cooks=True), {1: (FILL,)}) == []


def test_one_dish_is_brought_to_a_soup() -> None:
    where, take = kitchen(3, cooks=True), (Fetch(item="dish"), SCOOP, Serve())
    assert codes(where, {0: take, 1: take}) == [("V-DISH", (0, 1))]
    assert codes(where, {0: take, 1: (Wait(),)}) == []


def test_plans_that_run_count_but_are_not_judged_alone() -> None:
    where, take = kitchen(2), (Fetch(item="dish"), SCOOP, Serve())
    assert codes(where, {1: (FILL,)}, {0: (FILL,)}) == [("V-ROOM", (0, 1))]
    assert codes(where, {1: take}, {0: take}) == [("V-DISH", (0, 1))]
    assert codes(where, {1: (Wait(),)}, {0: (FILL, FILL, SCOOP)}) == []


def test_pots_are_judged_one_by_one() -> None:
    where = world(layout="asymmetric_advantages", drawn_starts=False)
    (one, other) = ({"row": row, "col": col} for row, col in where.global_observation().contents)
    assert codes(where, {0: (Scoop(**one),), 1: (Scoop(**other),)}) == []
    assert codes(where, {0: (Scoop(**one),), 1: (Scoop(**one),)}) == [("V-DISH", (0, 1))]


def test_confirmation_refuses_nothing() -> None:
    where = kitchen(0)
    assert GATES.confirm(0, where.observe(0), Joint({0: Plan((SCOOP,)), 1: Plan((SCOOP,))})) is None
