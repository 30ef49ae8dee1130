"""Symbolic actions on hand-made maps: what they do, how they end, and the numbers of their failures."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crafter_env import (
    Action,
    Collect,
    Craft,
    Direction,
    Item,
    Material,
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
from crafter_env.symbolic.controller import decode, encode_share
from maeil.plans import Plan
from tests.crafter_env.joined import advance, bag, cell, number, run, world

WOOD, STONE = Resource.wood, Resource.stone
PICK = {0: {Item.wood_pickaxe: 1}}


def test_noop_and_move_take_their_steps_whether_the_map_allows_them_or_not():
    w = world("...\n.0T\n...")
    assert run(w, {0: Noop(steps=3)}) == {0: ("success", 3)}
    assert run(w, {0: Move(direction=Direction.right, steps=2)}) == {0: ("success", 2)}
    assert cell(w, 0) == (1, 1)
    assert run(w, {0: Move(direction=Direction.left)}) == {0: ("success", 1)}
    assert cell(w, 0) == (0, 1)


def test_collect_turns_to_its_target_and_takes_it():
    w = world("....\n.0T.\n....", switches={"mobs": False, "collect": "facing"}, level="solo")
    assert run(w, {0: Collect(resource=WOOD, target=number(w, (2, 1)))}) == {0: ("success", 2)}
    assert bag(w, 0, Item.wood) == 1
    assert run(w, {0: Collect(resource=WOOD)}) == {0: ("nothing_in_reach wood", 0)}
    assert run(w, {0: Collect(resource=WOOD, target=number(w, (2, 1)))}) == {0: ("gone tree grass", 0)}


def test_collect_takes_the_cell_that_was_named_and_not_a_nearer_one():
    w = world(".....\n.....\n.0..T\n..T..\n.....")
    named = number(w, (2, 3))
    assert run(w, {0: Collect(resource=WOOD, target=named)})[0][0] == "success"
    assert w.env.crafter_state.material_at((2, 3)) is Material.grass


def test_collect_steps_up_to_a_cell_that_a_do_would_miss_or_says_what_it_would_hit():
    w = world("......\n..T...\n..0.T.\n......")
    assert run(w, {0: Collect(resource=WOOD, target=number(w, (4, 2)))})[0][0] == "success"
    assert w.env.crafter_state.material_at((2, 1)) is Material.tree
    shut = world("###...\n#0#T..\n###...", bags=PICK)
    near = f"another_is_nearer {number(shut, (1, 2))}"
    assert run(shut, {0: Collect(resource=WOOD, target=number(shut, (3, 1)))}) == {0: (near, 0)}


def test_collect_fails_with_the_distance_the_tool_and_the_agents_that_it_would_take():
    w = world("......\n0...T#\n......", level="hard")
    assert run(w, {0: Collect(resource=WOOD, target=number(w, (4, 1)))}) == {0: ("out_of_reach 4 of 1", 0)}
    assert run(w, {0: Collect(resource=STONE)}) == {0: ("missing_tool wood_pickaxe", 0)}
    assert run(w, {0: Collect(resource=WOOD, target=9999)}) == {0: ("unknown_id wood 9999", 0)}


def test_a_cell_that_takes_two_is_tried_until_the_other_comes():
    bags = {agent: {Item.wood_pickaxe: 1} for agent in (0, 1)}
    w = world(".....\n0#..1\n.....", bags, level="hard")
    target = number(w, (1, 1))
    assert run(w, {0: Collect(resource=STONE, target=target, steps=2)}) == {0: ("too_few_agents 1 of 2", 2)}
    ended = run(w, {0: Collect(resource=STONE, target=target, steps=9), 1: Move(direction=Direction.left, steps=2)})
    assert ended[0] == ("too_few_agents 1 of 2", 9)
    both = Collect(resource=STONE, target=target, steps=9)
    assert {end for end, _ in run(w, {0: both, 1: both}).values()} == {"success"}
    assert (bag(w, 0, Item.stone), bag(w, 1, Item.stone)) == (1, 1)


def test_a_threshold_above_those_who_live_fails_at_once_with_both_numbers():
    bags = {agent: {Item.wood_pickaxe: 1} for agent in (0, 1)}
    w = world("....\n0#.1\n....", {**bags, 1: {Item.health: 1, Item.wood_pickaxe: 1}}, level="hard")
    _kill(w, 1)
    assert run(w, {0: Collect(resource=STONE, steps=64)}) == {0: ("team_too_small 1 of 2", 0)}
    assert run(w, {0: Craft(item=Tool.wood_pickaxe)}) == {0: ("team_too_small 1 of 2", 0)}


def _kill(w, agent):
    w.env.crafter_state.inventory[agent, Item.health] = 0
    advance(w)
    assert not w.env.crafter_state.alive[agent]


def test_the_dead_fail_at_all_but_noop_which_lasts():
    w = world("....\n0#T1\n....", PICK)
    _kill(w, 1)
    for action in (
        Move(direction=Direction.left), Collect(resource=WOOD), Craft(item=Tool.wood_pickaxe), Sleep(),
        Place(object=Placeable.table), Share(agent=0, item=Shareable.wood), Navigate(target=Target.cell, id=1),
    ):  # fmt: skip
        assert run(w, {1: action}) == {1: ("dead", 0)}
        assert w.check_plan(1, Plan((action,))) == (f"{action}: a dead agent can do nothing but noop",)
    assert w.check_plan(1, Plan((Noop(),))) == ()
    controller = w.start_action(1, Noop(steps=1))
    for _ in range(5):
        assert controller.status() is None
        advance(w, {1: controller.act()})


def test_what_runs_when_death_comes_fails_with_it():
    w = world("....\n0..1\n....")
    controller = w.start_action(1, Noop(steps=9))
    assert controller.status() is None
    _kill(w, 1)
    assert controller.status().reason == "dead"


def test_drinking_eating_and_sleeping():
    w = world(".....\n.0~..\n.C...", {0: {Item.drink: 3, Item.food: 2, Item.energy: 7}})
    assert run(w, {0: Collect(resource=Resource.drink)})[0][0] == "success"
    assert bag(w, 0, Item.drink) == 4
    cow = next(entity.id for entity in w.observe(0).entities)
    assert run(w, {0: Collect(resource=Resource.food, target=cow, steps=9)})[0][0] == "success"
    assert bag(w, 0, Item.food) == 8
    assert run(w, {0: Collect(resource=Resource.food, target=cow)})[0] == (f"out_of_sight food {cow}", 0)
    assert run(w, {0: Sleep()})[0][0] == "success"
    assert bag(w, 0, Item.energy) == 9
    assert run(w, {0: Sleep()}) == {0: ("not_tired", 1)}


def test_a_sleeper_fails_at_what_it_cannot_do():
    w = world("....\n.0T.\n....", {0: {Item.energy: 3}})
    advance(w, {0: Action.sleep})
    for action in (Collect(resource=WOOD), Craft(item=Tool.wood_pickaxe), Place(object=Placeable.table)):
        assert run(w, {0: action}) == {0: ("asleep", 0)}


def test_a_monster_is_fought_until_it_falls():
    w = world("......\n.0..Z.\n......", {0: {Item.iron_sword: 1}}, switches={})
    assert run(w, {0: Collect(resource=Resource.zombie, steps=9)})[0][0] == "success"
    assert not w.observe(0).entities


def test_a_sapling_is_searched_for_and_is_not_there_without_plants():
    w = world("....\n.0..\n....", switches={})
    ends = [run(w, {0: Collect(resource=Resource.sapling, steps=5)})[0][0] for _ in range(20)]
    assert set(ends) == {"success", "no_luck 5"}
    bare = world("....\n.0..\n....")
    assert run(bare, {0: Collect(resource=Resource.sapling)}) == {0: ("not_in_profile sapling", 0)}
    assert run(bare, {0: Place(object=Placeable.plant)}) == {0: ("not_in_profile plant", 0)}


def test_craft_says_what_is_missing():
    w = world("....\n.0..\n....", {0: {Item.wood: 1}})
    assert run(w, {0: Craft(item=Tool.wood_pickaxe)}) == {0: ("no_station table", 1)}
    table = world("....\n.0t.\n....", {0: {Item.wood: 1}})
    assert run(table, {0: Craft(item=Tool.stone_pickaxe)}) == {0: ("missing_input stone 0 of 1", 1)}
    assert run(table, {0: Craft(item=Tool.wood_pickaxe)}) == {0: ("success", 1)}
    assert run(table, {0: Craft(item=Tool.wood_pickaxe)}) == {0: ("missing_input wood 0 of 1", 1)}


def test_a_joint_craft_waits_for_the_quorum():
    w = world(".....\n.0t1.\n.....", {1: {Item.wood: 1}}, level="hard")
    assert run(w, {0: Craft(item=Tool.wood_pickaxe, steps=4)}) == {0: ("too_few_agents 1 of 2", 4)}
    both = Craft(item=Tool.wood_pickaxe)
    assert run(w, {0: both, 1: both}) == {0: ("success", 1), 1: ("success", 1)}
    assert (bag(w, 0, Item.wood_pickaxe), bag(w, 1, Item.wood_pickaxe), bag(w, 1, Item.wood)) == (1, 1, 0)


def test_place_puts_it_on_the_faced_cell_or_takes_a_step():
    w = world("....\n.0..\n....", {0: {Item.wood: 2}})
    assert run(w, {0: Place(object=Placeable.table)}) == {0: ("success", 1)}
    assert run(w, {0: Place(object=Placeable.table)}) == {0: ("missing_input wood 0 of 2", 0)}
    faced_tree = world("......\n......\n..0...\n..T...", {0: {Item.wood: 2}})
    assert run(faced_tree, {0: Place(object=Placeable.table)}) == {0: ("success", 2)}
    shut = world("###\n#0#\n###", {0: {Item.wood: 2}})
    assert run(shut, {0: Place(object=Placeable.table)}) == {0: ("no_place table", 0)}


def test_stone_is_placed_on_water_by_turning_to_it_and_never_by_walking_onto_lava():
    w = world("~~~\n~0~\n~~~", {0: {Item.stone: 1}})
    assert run(w, {0: Place(object=Placeable.stone)})[0][0] == "success"
    lava = world("!!!\n!0!\n!#!", {0: {Item.stone: 1}})
    assert run(lava, {0: Place(object=Placeable.stone)}) == {0: ("no_place stone", 0)}
    assert lava.env.crafter_state.alive[0]


def test_share_moves_units_and_names_what_hinders_it():
    w = world("......\n01...2\n......", {0: {Item.wood: 3, Item.coal: 1}, 1: {Item.coal: 9}})
    give = {"item": Shareable.wood, "quantity": 2}
    assert run(w, {0: Share(agent=1, **give)}) == {0: ("success", 1)}
    assert (bag(w, 0, Item.wood), bag(w, 1, Item.wood)) == (1, 2)
    assert run(w, {0: Share(agent=2, **give)}) == {0: ("recipient_far 5 of 2", 1)}
    assert run(w, {0: Share(agent=1, item=Shareable.iron)}) == {0: ("not_held iron", 0)}
    assert run(w, {0: Share(agent=0, **give)}) == {0: ("no_such_agent 0", 0)}
    assert run(w, {0: Share(agent=7, **give)}) == {0: ("no_such_agent 7", 0)}
    assert run(w, {0: Share(agent=1, item=Shareable.coal)}) == {0: ("recipient_full 1", 1)}
    _kill(w, 1)
    assert run(w, {0: Share(agent=1, **give)}) == {0: ("recipient_dead 1", 1)}


def test_there_is_no_sharing_in_crafter():
    w = world("...\n.0.\n...", profile="crafter", level="solo", switches={})
    assert run(w, {0: Share(agent=1, item=Shareable.wood)}) == {0: ("no_such_agent 1", 0)}


@given(st.integers(1, 7), st.data())
def test_an_encoded_share_is_read_back(agents, data):
    recipient = data.draw(st.integers(0, agents - 1))
    item, quantity = data.draw(st.sampled_from(Item)), data.draw(st.integers(1, 10_000))
    joint = [encode_share(recipient, item, quantity, agents)] + [int(Action.do)] * (agents - 1)
    rows = decode(joint, sharing=True).tolist()
    assert rows[0] == [Action.share, recipient, item, quantity]
    assert rows[1:] == [[Action.do, 0, 0, 0]] * (agents - 1)


@given(st.data())
def test_whatever_is_asked_for_ends_with_a_status_and_never_with_an_exception(data):
    w = world(
        "..~.T..\n.0.t.C.\n.#c1id.\n..f.!..\n...2...",
        {0: {Item.wood: 5, Item.stone_pickaxe: 1, Item.wood_pickaxe: 1}, 2: {Item.stone: 9, Item.sapling: 1}},
        level=data.draw(st.sampled_from(["easy", "hard"])),
        profile=data.draw(st.sampled_from(["coop", "coop2"])),
        switches={},
    )
    identity = st.integers(0, 50)
    action = st.one_of(
        st.builds(Move, direction=st.sampled_from(Direction), steps=st.integers(1, 3)),
        st.builds(Collect, resource=st.sampled_from(Resource), target=st.none() | identity, steps=st.integers(1, 3)),
        st.builds(Craft, item=st.sampled_from(Tool), steps=st.integers(1, 3)),
        st.builds(Sleep),
        st.builds(Place, object=st.sampled_from(Placeable)),
        st.builds(Share, agent=st.integers(0, 4), item=st.sampled_from(Shareable), quantity=st.integers(1, 12)),
        st.builds(Navigate, target=st.sampled_from(Target), id=identity),
    )
    for _ in range(data.draw(st.integers(1, 4))):
        alive = w.env.crafter_state.alive
        noop = st.builds(Noop, steps=st.integers(1, 3))  # it never ends for the dead, by design
        actions = {agent: data.draw(noop | action if alive[agent] else action) for agent in range(3)}
        for agent, chosen in actions.items():
            w.check_plan(agent, Plan((chosen,)))
        ends = run(w, actions)
        assert all(end for end, _ in ends.values())
        assert w.observe(0).text()
