"""Cooperative collection, on hand-made maps."""

from dataclasses import replace

import pytest

from crafter_env import PROFILES, Action, CollectRule, Item, Level, Material, Result, YieldRule
from tests.crafter_env.boards import DO, NOOP, QUIET, act, bag, world

AREA = replace(QUIET, name="area", collect=CollectRule.area)
FACING = replace(QUIET, name="facing", collect=CollectRule.facing)
IRON = (3, 3)
# Four agents at L1 distance 2 of the iron, nothing else in reach.
AROUND = """
.......
.......
..0.1..
...i...
..2.3..
.......
"""
# The same at distance 3.
AWAY = """
.......
..0.1..
.......
...i...
.......
..2.3..
"""
TOOL = {agent: {Item.stone_pickaxe: 1} for agent in range(4)}


def iron(threshold, radius=2):
    return Level("test", iron=threshold, radius=radius)


@pytest.mark.parametrize("profile", [QUIET, AREA], ids=["nearest", "area"])
@pytest.mark.parametrize("threshold", [1, 2, 3, 4])
@pytest.mark.parametrize("present", [1, 2, 3, 4])
def test_a_resource_takes_its_number_of_agents_in_the_same_step(profile, threshold, present):
    env = world(AROUND, TOOL, profile=profile, level=iron(threshold))
    outcomes = act(env, *[DO] * present, *[NOOP] * (4 - present))
    enough = present >= threshold
    assert env.crafter_state.material_at(IRON) == (Material.path if enough else Material.iron)
    for agent, outcome in enumerate(outcomes[:present]):
        assert bag(env, agent).get("iron", 0) == enough
        assert outcome.result == (Result.collected if enough else Result.too_few_agents)
        assert outcome.failed != enough
        assert (outcome.required, outcome.present, outcome.capable) == (threshold, present, present)
        assert (outcome.target, outcome.cell) == (Material.iron, IRON)
        assert outcome.gained == ({Item.iron: 1} if enough else {})
    assert [bag(env, agent).get("iron", 0) for agent in range(present, 4)] == [0] * (4 - present)


@pytest.mark.parametrize("profile", [QUIET, AREA], ids=["nearest", "area"])
def test_agents_beyond_the_radius_do_not_count(profile):
    env = world(AWAY, TOOL, profile=profile, level=iron(1))
    assert {outcome.result for outcome in act(env, DO)} == {Result.nothing_there}
    near = world(AWAY, TOOL, profile=profile, level=iron(1, radius=3))
    assert {outcome.result for outcome in act(near, DO)} == {Result.collected}


@pytest.mark.parametrize("profile", [QUIET, AREA], ids=["nearest", "area"])
@pytest.mark.parametrize(("tools", "collected"), [(1, False), (2, True), (3, True)])
def test_agents_without_the_tool_do_not_count(profile, tools, collected):
    env = world(AROUND, {agent: TOOL[agent] for agent in range(tools)}, profile=profile, level=iron(2))
    outcomes = act(env, DO)
    assert (env.crafter_state.material_at(IRON) == Material.path) == collected
    for agent, outcome in enumerate(outcomes):
        if agent >= tools:
            assert (outcome.result, outcome.item) == (Result.missing_tool, Item.stone_pickaxe)
        else:
            assert outcome.result == (Result.collected if collected else Result.too_few_agents)
        assert (outcome.required, outcome.present, outcome.capable) == (2, 4, tools)
        assert bag(env, agent).get("iron", 0) == (collected and agent < tools)


@pytest.mark.parametrize("profile", [QUIET, AREA], ids=["nearest", "area"])
def test_agents_in_different_steps_do_not_count(profile):
    env = world(AROUND, TOOL, profile=profile, level=iron(2))
    for agent in range(4):
        outcomes = act(env, *[DO if other == agent else NOOP for other in range(4)])
        assert outcomes[agent].result == Result.too_few_agents
        assert outcomes[agent].present == 1
    assert env.crafter_state.material_at(IRON) == Material.iron


def test_a_better_pickaxe_does_not_stand_in_for_the_one_needed():
    env = world("...\n.0i\n...", {0: {Item.iron_pickaxe: 1, Item.wood_pickaxe: 1}}, level=Level("test"))
    assert act(env, DO)[0].result == Result.missing_tool


def test_thresholds_are_capped_at_the_size_of_the_team():
    level = Level("test", iron=7, wood=7, craft_quorum=7)
    assert (level.threshold(Material.iron, 2), level.threshold(Material.iron, 9), level.quorum(3)) == (2, 7, 3)
    env = world("...\n0i1\n...", {0: TOOL[0], 1: TOOL[1]}, level=level)
    assert {outcome.result for outcome in act(env, DO)} == {Result.collected}


def test_the_dead_are_still_counted_in_a_threshold():
    env = world("...\n0i1\n.!.", {0: TOOL[0], 1: TOOL[1]}, level=iron(2))
    act(env, NOOP, Action.move_down)
    act(env, NOOP, Action.move_left)
    assert env.agents == ["agent_0"]
    outcome = act(env, DO, NOOP)[0]
    assert (outcome.result, outcome.required, outcome.present) == (Result.too_few_agents, 2, 1)


def test_the_faced_cell_comes_before_nearer_names_in_the_rows():
    env = world(".T...\nT0T..\n.T...", profile=QUIET)
    outcome = act(env, DO)[0]
    assert outcome.cell == (1, 2)


def test_without_a_faced_resource_the_nearest_is_taken_ties_row_by_row():
    env = world("..T..\n.....\nT.0.T\n.....\n..T..", level=Level("test", radius=2))
    cells = [act(env, DO)[0].cell for _ in range(4)]
    assert cells == [(2, 0), (0, 2), (4, 2), (2, 4)]
    assert act(env, DO)[0].result == Result.nothing_there


def test_by_the_rule_nearest_one_do_takes_one_of_two_targets():
    env = world(".....\n.T0T.\n.....", profile=QUIET)
    act(env, DO)
    assert bag(env, 0) == {"wood": 1}


def test_by_the_rule_area_one_do_takes_everything_in_reach():
    env = world(".....\n.T0T.\n..T..", profile=AREA)
    outcome = act(env, DO)[0]
    assert bag(env, 0) == {"wood": 3}
    assert (outcome.result, outcome.amount, outcome.gained) == (Result.collected, 3, {Item.wood: 3})


def test_by_the_rule_facing_only_the_faced_cell_is_taken():
    env = world(".....\n.T0T.\n.....", profile=FACING)
    outcome = act(env, DO)[0]
    assert (outcome.result, outcome.target, outcome.cell) == (Result.nothing_there, Material.grass, (2, 2))
    act(env, Action.move_left)
    assert act(env, DO)[0].cell == (1, 1)


def test_agents_at_different_targets_do_not_help_each_other():
    env = world("......\ni0..1i\n......", {0: TOOL[0], 1: TOOL[1]}, level=iron(2, radius=1))
    assert [(outcome.result, outcome.present) for outcome in act(env, DO)] == [(Result.too_few_agents, 1)] * 2


def test_each_capable_collector_gets_the_full_yield_and_the_cell_goes_once():
    env = world("...\n0T1\n...", profile=QUIET)
    act(env, DO)
    assert [bag(env, agent) for agent in range(2)] == [{"wood": 1}] * 2
    assert env.crafter_state.material_at((1, 1)) == Material.grass


def test_with_split_yields_the_lowest_index_gets_the_unit():
    env = world("...\n0T1\n...", profile=replace(QUIET, yields=YieldRule.split))
    outcomes = act(env, DO)
    assert [bag(env, agent) for agent in range(2)] == [{"wood": 1}, {}]
    assert [outcome.amount for outcome in outcomes] == [1, 0]


def test_water_quenches_thirst_and_stays():
    env = world("...\n0~1\n...", {0: {Item.drink: 3}, 1: {Item.drink: 9}})
    act(env, DO)
    assert env.crafter_state.inventory[:, Item.drink].tolist() == [4, 9]
    assert env.crafter_state.material_at((1, 1)) == Material.water


def test_the_bag_is_capped_and_the_cell_still_goes():
    env = world("...\n0T.\n...", {0: {Item.wood: 9}})
    outcome = act(env, DO)[0]
    assert (bag(env, 0), outcome.gained) == ({"wood": 9}, {Item.wood: 1})
    assert env.crafter_state.material_at((1, 1)) == Material.grass
    wide = world("...\n0T.\n...", {0: {Item.wood: 9}}, profile=replace(QUIET, item_cap=20))
    act(wide, DO)
    assert bag(wide, 0) == {"wood": 10}


def test_faced_grass_gives_a_sapling_one_time_in_ten_where_there_are_mobs():
    env = world("...\n.0.\n...", profile=PROFILES["coop"])
    results = [act(env, DO)[0].result for _ in range(300)]
    assert set(results) == {Result.collected, Result.no_luck}
    assert 15 <= results.count(Result.collected) <= 50
    quiet = world("...\n.0.\n...")
    assert act(quiet, DO)[0].result == Result.nothing_there


def test_a_faced_cow_is_hit_by_the_rule_nearest_and_eaten_at_once_by_area():
    env = world("T..\n.0.\n.C.", {0: {Item.food: 2, Item.iron_sword: 1}})
    outcome = act(env, DO)[0]
    assert (outcome.result, outcome.amount) == (Result.ate, 6)
    assert env.crafter_state.inventory[0, Item.food] == 8
    area = world(".1.\n.0.\n.C.", {0: {Item.food: 2}, 1: {Item.food: 1}}, profile=AREA, level=Level("test", radius=2))
    assert [outcome.result for outcome in act(area, DO)] == [Result.collected] * 2
    assert area.crafter_state.inventory[:, Item.food].tolist() == [8, 7]
    assert not area.crafter_state.creatures()


def test_a_teammate_is_not_hit():
    env = world("...\n.0.\n.1.")
    outcome = act(env, DO, NOOP)[0]
    assert outcome.result == Result.nothing_there
    assert env.crafter_state.inventory[1, Item.health] == 9


def test_the_score_counts_units_and_recipients():
    env = world(AROUND, TOOL, level=iron(3))
    act(env, DO)
    assert env.score == 4 * 25 * 3 * 2
