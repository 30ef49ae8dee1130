"""Sharing: what changes hands, and why it sometimes does not."""

from dataclasses import replace

import pytest

from crafter_env import PROFILES, Action, Item, Result, share
from tests.crafter_env.boards import NOOP, QUIET, act, bag, world

PAIR = ".....\n0.1..\n....."


def give(env, *arguments):
    return act(env, share(*arguments), NOOP)[0]


def test_what_is_shared_changes_hands():
    env = world(PAIR, {0: {Item.wood: 5}})
    outcome = give(env, 1, Item.wood, 3)
    assert (outcome.result, outcome.item, outcome.amount, outcome.other) == (Result.shared, Item.wood, 3, 1)
    assert (bag(env, 0), bag(env, 1)) == ({"wood": 2}, {"wood": 3})


def test_a_tool_can_be_shared():
    env = world(PAIR, {0: {Item.iron_pickaxe: 1}})
    give(env, 1, Item.iron_pickaxe)
    assert (bag(env, 0), bag(env, 1)) == ({}, {"iron_pickaxe": 1})


def test_no_more_is_given_than_is_held():
    env = world(PAIR, {0: {Item.wood: 2}})
    assert give(env, 1, Item.wood, 9).amount == 2
    outcome = give(env, 1, Item.wood, 4)
    assert (outcome.result, outcome.item, outcome.required, outcome.present) == (Result.not_held, Item.wood, 4, 0)


def test_what_has_no_room_stays_with_the_giver():
    env = world(PAIR, {0: {Item.wood: 5}, 1: {Item.wood: 7}})
    assert give(env, 1, Item.wood, 5).amount == 2
    assert (bag(env, 0), bag(env, 1)) == ({"wood": 3}, {"wood": 9})
    assert give(env, 1, Item.wood).result == Result.recipient_full
    large = world(PAIR, {0: {Item.wood: 5}, 1: {Item.wood: 17}}, profile=replace(QUIET, item_cap=20))
    assert give(large, 1, Item.wood, 5).amount == 3


def test_food_is_capped_at_nine_whatever_the_bag_holds():
    env = world(PAIR, {0: {Item.food: 9}, 1: {Item.food: 8}}, profile=replace(QUIET, item_cap=20))
    assert give(env, 1, Item.food, 5).amount == 1


def test_the_share_radius_is_a_manhattan_distance():
    far = "......\n0..1..\n......"
    outcome = give(world(far, {0: {Item.wood: 1}}), 1, Item.wood)
    assert (outcome.result, outcome.required, outcome.present) == (Result.recipient_far, 2, 3)
    anywhere = replace(QUIET, share_radius=None)
    assert give(world(far, {0: {Item.wood: 1}}, profile=anywhere), 1, Item.wood).result == Result.shared


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        ((1, Item.health, 1), Result.not_shareable),
        ((0, Item.wood, 1), Result.not_shareable),
        ((1, Item.wood, 0), Result.not_shareable),
        ((1, Item.wood, -3), Result.not_shareable),
        ((1, 99, 1), Result.not_shareable),
        ((1, -1, 1), Result.not_shareable),
        ((2, Item.wood, 1), Result.unknown_recipient),
        ((-1, Item.wood, 1), Result.unknown_recipient),
    ],
)
def test_what_cannot_be_shared_is_a_failure_and_moves_nothing(arguments, result):
    env = world(PAIR, {0: {Item.wood: 5}})
    outcome = give(env, *arguments)
    assert (outcome.result, outcome.failed) == (result, True)
    if result == Result.unknown_recipient:
        assert outcome.present == 2
    assert (bag(env, 0), bag(env, 1)) == ({"wood": 5}, {})
    assert env.crafter_state.inventory[:, Item.health].tolist() == [9, 9]


def test_without_the_switch_nothing_is_shared():
    env = world(PAIR, {0: {Item.wood: 5}}, profile=replace(QUIET, sharing=False))
    assert give(env, 1, Item.wood).result == Result.not_shareable
    assert not env.action_space("agent_0").contains(Action.share)


def test_nothing_is_shared_with_the_dead():
    env = world("...\n0.1\n..!", {0: {Item.wood: 1}})
    act(env, NOOP, Action.move_down)
    assert env.agents == ["agent_0"]
    outcome = give(env, 1, Item.wood)
    assert (outcome.result, outcome.other) == (Result.recipient_dead, 1)


def test_the_dead_do_not_share():
    env = world("...\n0.1\n!..", {0: {Item.wood: 1}})
    act(env, Action.move_down, NOOP)
    env.step({"agent_0": share(1, Item.wood), "agent_1": NOOP})
    assert env.outcome("agent_0").result == Result.dead
    assert bag(env, 1) == {}


def test_sleepers_do_not_share():
    env = world(PAIR, {0: {Item.wood: 1, Item.energy: 3}})
    act(env, Action.sleep, NOOP)
    outcome = give(env, 1, Item.wood)
    assert (outcome.result, outcome.action) == (Result.asleep, Action.sleep)


def test_what_is_shared_can_be_used_in_the_same_step():
    env = world("....\n0.t.\n.1..", {0: {Item.wood: 1}}, profile=PROFILES["coop"])
    assert act(env, share(1, Item.wood), Action.make_wood_pickaxe)[1].result == Result.crafted


def test_two_givers_share_in_the_order_of_their_indices():
    env = world(".....\n0.1.2\n.....", {0: {Item.wood: 2}, 1: {Item.wood: 8}, 2: {Item.wood: 2}})
    outcomes = act(env, share(1, Item.wood, 2), NOOP, share(1, Item.wood, 2))
    assert (outcomes[0].amount, outcomes[2].result) == (1, Result.recipient_full)
