"""Making and placing, alone and together."""

from dataclasses import replace

import pytest

from crafter_env import Action, Item, Level, Material, Result
from tests.crafter_env.boards import NOOP, QUIET, act, bag, world

MAKE = Action.make_wood_pickaxe
PAIR = Level("test", craft_quorum=2)
# All within the 3 x 3 cells around the table, but for 3, who is one step outside, and 4, two steps.
BENCH = """
........
.0......
..t3....
.12.....
........
.....4..
"""


def test_alone_one_makes_from_its_own_bag():
    env = world("....\n..t.\n.0..", {0: {Item.wood: 2}})
    outcome = act(env, MAKE)[0]
    assert (outcome.result, outcome.item, outcome.other) == (Result.crafted, Item.wood_pickaxe, 0)
    assert bag(env, 0) == {"wood": 1, "wood_pickaxe": 1}


def test_what_is_missing_is_said_in_numbers():
    env = world("....\n..t.\n.0..", {0: {Item.wood: 1}})
    outcome = act(env, Action.make_stone_pickaxe)[0]
    assert (outcome.result, outcome.item, outcome.required, outcome.present) == (
        Result.missing_input, Item.stone, 1, 0,
    )  # fmt: skip
    far = world(".....\n...t.\n.0...", {0: {Item.wood: 1}})
    assert (act(far, MAKE)[0].result, far.outcome("agent_0").target) == (Result.no_station, Material.table)


def test_at_the_upper_and_left_edge_no_station_is_found_as_in_the_reference():
    assert act(world("0t.\n...\n...", {0: {Item.wood: 1}}), MAKE)[0].result == Result.no_station
    assert act(world("...\n...\n.t0", {0: {Item.wood: 1}}), MAKE)[0].result == Result.crafted


@pytest.mark.parametrize("needs_table", [True, False])
def test_iron_tools_need_a_furnace_and_by_some_profiles_a_table(needs_table):
    iron = {0: {Item.wood: 1, Item.coal: 1, Item.iron: 1}}
    profile = replace(QUIET, iron_needs_table=needs_table)
    assert act(world("...\n.0.\n.tf", iron, profile=profile), Action.make_iron_pickaxe)[0].result == Result.crafted
    without = act(world("...\n.0.\n..f", iron, profile=profile), Action.make_iron_pickaxe)[0]
    assert without.result == (Result.no_station if needs_table else Result.crafted)
    cold = act(world("...\n.0.\n.t.", iron, profile=profile), Action.make_iron_pickaxe)[0]
    assert (cold.result, cold.target) == (Result.no_station, Material.furnace)


def test_one_short_of_the_quorum_nothing_is_consumed():
    env = world(BENCH, {0: {Item.wood: 1}}, level=PAIR)
    outcome = act(env, MAKE, NOOP)[0]
    assert (outcome.result, outcome.required, outcome.present) == (Result.too_few_agents, 2, 1)
    assert outcome.item == Item.wood_pickaxe
    assert bag(env, 0) == {"wood": 1}


def test_with_the_quorum_the_leader_pays_and_everybody_gets_the_item():
    env = world(BENCH, {1: {Item.wood: 1}, 2: {Item.wood: 1}}, level=PAIR)
    outcomes = act(env, MAKE, MAKE, MAKE, NOOP)
    assert [bag(env, agent) for agent in range(3)] == [
        {"wood_pickaxe": 1}, {"wood_pickaxe": 1}, {"wood": 1, "wood_pickaxe": 1},
    ]  # fmt: skip
    for outcome in outcomes[:3]:
        assert (outcome.result, outcome.other, outcome.required, outcome.present) == (Result.crafted, 1, 2, 3)


def test_without_a_leader_each_is_told_what_it_lacks():
    env = world(BENCH, {0: {Item.wood: 1}, 1: {Item.stone: 1}}, level=PAIR)
    stone = Action.make_stone_pickaxe
    outcomes = act(env, stone, stone, NOOP)
    assert [(o.result, o.item) for o in outcomes[:2]] == [
        (Result.missing_input, Item.stone), (Result.missing_input, Item.wood),
    ]  # fmt: skip
    assert (bag(env, 0), bag(env, 1)) == ({"wood": 1}, {"stone": 1})


def test_different_makes_are_different_crafts():
    env = world(BENCH, {0: {Item.wood: 1}, 1: {Item.wood: 1}}, level=PAIR)
    assert [o.result for o in act(env, MAKE, Action.make_wood_sword, NOOP)[:2]] == [Result.too_few_agents] * 2


@pytest.mark.parametrize(("radius", "partner", "crafted"), [(1, 3, True), (1, 4, False), (3, 4, False), (4, 4, True)])
def test_partners_stand_within_the_craft_radius_of_the_station_area(radius, partner, crafted):
    # Agent 3 stands in the 3 x 3 block; agent 4 two columns and two rows beyond it.
    env = world(BENCH, {0: {Item.wood: 1}}, level=PAIR, profile=replace(QUIET, craft_radius=radius))
    outcomes = act(env, *[MAKE if agent in (0, partner) else NOOP for agent in range(5)])
    assert (outcomes[0].result == Result.crafted) == crafted
    assert (bag(env, partner) == {"wood_pickaxe": 1}) == crafted


def test_two_tables_are_two_crafts_with_a_leader_each():
    drawing = ".........\n.0.....2.\n..t...t..\n.1.....3.\n........."
    env = world(drawing, {0: {Item.wood: 1}, 3: {Item.wood: 1}}, level=PAIR)
    assert [outcome.other for outcome in act(env, MAKE)] == [0, 0, 3, 3]
    assert [bag(env, agent) for agent in range(4)] == [{"wood_pickaxe": 1}] * 4


@pytest.mark.parametrize(
    ("action", "cost", "ground", "placed"),
    [
        (Action.place_stone, {Item.stone: 1}, "~", Material.stone),
        (Action.place_table, {Item.wood: 2}, ":", Material.table),
        (Action.place_furnace, {Item.stone: 4}, "_", Material.furnace),
    ],
)
def test_placing_uses_up_its_input(action, cost, ground, placed):
    drawing = f"...\n.0.\n.{ground}."
    env = world(drawing, {0: cost})
    assert act(env, action)[0].result == Result.placed
    assert env.crafter_state.material_at((1, 2)) == placed
    assert bag(env, 0) == {}
    item, amount = next(iter(cost.items()))
    poor = world(drawing, {0: {item: amount - 1}})
    outcome = act(poor, action)[0]
    assert (outcome.result, outcome.item, outcome.required, outcome.present) == (
        Result.missing_input, item, amount, amount - 1,
    )  # fmt: skip


def test_nothing_is_placed_on_what_does_not_bear_it():
    env = world("...\n.0.\n.~.", {0: {Item.wood: 2}})
    outcome = act(env, Action.place_table)[0]
    assert (outcome.result, outcome.target, outcome.cell) == (Result.no_place, Material.water, (1, 2))
    taken = world("...\n.0.\n.1.", {0: {Item.wood: 2}})
    assert act(taken, Action.place_table, NOOP)[0].result == Result.no_place
    assert bag(taken, 0) == {"wood": 2}


def test_a_contested_cell_goes_to_the_lowest_index():
    env = world("...\n0.1\n###", {0: {Item.stone: 1}, 1: {Item.stone: 1}})
    act(env, Action.move_right, NOOP)
    assert env.crafter_state.positions.tolist() == [[1, 1], [2, 1]]
    both = world(".....\n.0.1.\n.....")
    outcomes = act(both, Action.move_right, Action.move_left)
    assert [outcome.result for outcome in outcomes] == [Result.moved, Result.blocked]
    assert both.crafter_state.positions.tolist() == [[2, 1], [3, 1]]


def test_a_cell_that_a_lower_index_leaves_is_free_and_one_that_a_higher_leaves_is_not():
    env = world(".....\n.10..\n.....")
    assert [outcome.result for outcome in act(env, Action.move_right)] == [Result.moved] * 2
    other = world(".....\n.01..\n.....")
    assert [outcome.result for outcome in act(other, Action.move_right)] == [Result.blocked, Result.moved]
