"""Places that an agent has heard of: plans may name any cell, and ways lead through what nobody has seen yet."""

from __future__ import annotations

import numpy as np
import pytest

from crafter_env import Collect, Direction, Item, Material, Move, Navigate, Resource, Target
from maeil.plans import Plan
from tests.crafter_env.joined import advance, cell, number, run, world

LONG = "....................\n0..................T\n...................."
WALLED = """
........................
........#...............
0.......#..........i....
........#...............
........................
"""


def go(target, identity, near=None):
    return {0: Navigate(target=target, id=identity, near=near)}


def test_a_plan_may_name_any_cell_of_the_map():
    w = world(WALLED, {0: {Item.stone_pickaxe: 1}})
    iron = number(w, (19, 2))
    plan = Plan((Navigate(target=Target.iron, id=iron), Collect(resource=Resource.iron, target=iron)))
    assert w.check_plan(0, plan) == ()
    assert run(w, {0: plan.actions[1]}) == {0: ("out_of_reach 19 of 2", 0)}
    assert run(w, {0: plan.actions[0]}) == {0: ("success", 21)}  # around the wall, which it sees on the way
    assert run(w, {0: plan.actions[1]})[0][0] == "success"
    beyond = Plan((Navigate(target=Target.cell, id=121),))
    assert w.check_plan(0, beyond) == (
        "navigate(target=cell, id=121, near=null): no cell has the id 121; ids go from 1 to 120",
    )


@pytest.mark.parametrize(
    ("target", "found"), [(Target.iron, "tree"), (Target.table, "tree"), (Target.cell, "tree"), (Target.tree, None)]
)
def test_a_place_that_is_not_as_told_fails_with_what_was_found_there(target, found):
    w = world(LONG)
    reported = number(w, (19, 1))
    reason, steps = run(w, go(target, reported))[0]
    assert reason == (f"not_as_told {target}_{reported} found {found}" if found else "success")
    assert steps == (15 if found else 17)  # it says so as soon as the place comes into view


def test_a_place_that_was_seen_is_gone_and_one_where_something_can_have_been_placed_is_looked_at():
    w = world("..........\n0T........\n..........")
    place = number(w, (1, 1))
    run(w, {0: Collect(resource=Resource.wood, target=place)})
    run(w, {0: Move(direction=Direction.down)} | {0: Move(direction=Direction.right, steps=8)})
    assert run(w, go(Target.tree, place)) == {0: ("gone tree grass", 0)}  # trees do not grow
    w.env.crafter_state.materials[1, 1] = Material.table
    assert run(w, go(Target.table, place))[0][0] == "success"


def test_no_way_to_an_unseen_place_is_reported_when_it_is_found_out():
    w = world("......#...\n0.....#..T\n......#...")
    tree = number(w, (9, 1))
    reason, steps = run(w, go(Target.tree, tree))[0]
    assert reason == f"no_path tree {tree}"
    assert steps > 0


def test_a_teammate_out_of_sight_is_looked_for_where_it_was_last_seen():
    w = world("...0..1.................\n........................\n........................")
    run(w, {1: Move(direction=Direction.right, steps=3)})
    (seen,) = w.observe(0).last_seen
    assert (seen.agent, seen.cell, seen.step) == ("agent_1", (7, 0), 1)
    assert run(w, go(Target.agent, 1))[0][0] == "success"  # it comes into view on the way, and is followed
    assert cell(w, 0)[0] == 8
    assert w.observe(0).last_seen == ()
    run(w, {1: Move(direction=Direction.right, steps=12)})
    assert run(w, go(Target.agent, 1))[0][0] == "not_as_told agent_1 found nobody"


def test_a_teammate_out_of_sight_is_looked_for_where_it_was_heard_to_be():
    w = world("0..................1\n....................\n....................")
    assert run(w, go(Target.agent, 1)) == {0: ("out_of_sight agent 1", 0)}  # never seen, nothing heard
    assert run(w, go(Target.agent, 1, number(w, (10, 1))))[0][0] == "not_as_told agent_1 found nobody"
    assert run(w, go(Target.agent, 1, number(w, (18, 1))))[0][0] == "success"
    problem = w.check_plan(0, Plan((Navigate(target=Target.agent, id=1, near=999),)))
    assert "no cell has the id 999" in problem[0]


def test_a_dead_teammate_is_not_known_to_be_dead_before_its_place_is_seen():
    w = world("0..................1\n....................\n....................")
    w.env.crafter_state.inventory[1, Item.health] = 0
    advance(w)
    reason, steps = run(w, go(Target.agent, 1, number(w, (19, 0))))[0]
    assert reason == "not_as_told agent_1 found nobody"
    assert steps == 18


@pytest.mark.parametrize("seed", range(20))
def test_a_way_knows_nothing_of_cells_before_they_come_into_view(seed):
    """Two worlds that differ in unseen cells alone give the same primitives as long as the agent sees the same."""
    rng = np.random.default_rng(seed)
    first, second = world(n=1, seed=seed), world(n=1, seed=seed)
    width, height = first.env.size
    there = int(rng.integers(width)), int(rng.integers(height))
    for w in (first, second):
        unseen = w.observe(0) is not None and w._episode.memory[0] == 0
    changed = unseen & (rng.random((width, height)) < 0.5)
    changed[there] = False
    materials = second.env.crafter_state.materials
    materials[changed] = rng.choice([int(Material.stone), int(Material.water), int(Material.grass)], changed.sum())
    walks = [w.start_action(0, Navigate(target=Target.cell, id=number(w, there))) for w in (first, second)]
    compared = 0
    while np.array_equal(first._episode.memory[0], second._episode.memory[0]):
        ends = [walk.status() for walk in walks]
        assert ends[0] == ends[1]
        if ends[0] is not None:
            break
        primitives = [walk.act() for walk in walks]
        assert primitives[0] == primitives[1]
        compared += 1
        for w, primitive in zip((first, second), primitives, strict=True):
            advance(w, {0: primitive})
    assert compared or first._episode.memory[0][there]
