"""Which actions are masked: exactly those with which an agent, everybody else standing still, would change nothing."""

from dataclasses import replace

import numpy as np
import pytest

from crafter_env import FAILURES, PROFILES, Action, CrafterEnv, Item, Layout, Result, share
from tests.crafter_env.boards import world

LACKS_OTHERS = {Result.too_few_agents, Result.no_luck}
"""Failures for which the agent itself lacks nothing."""
BUSY = """
..T.C..#d
.0tf1.#!.
.~.i2.c.P
.T.#Zt_.R
T.K.~.:.#
"""
PLAIN_ACTIONS = int(Action.share)


def makes_a_difference(env, saved, agent, action):
    """Whether an action, taken alone, does something or lacks nothing but teammates or luck."""
    env.load(saved)
    before = env.crafter_state.facing[agent].tolist()
    env.step({**dict.fromkeys(env.agents, Action.noop), f"agent_{agent}": action})
    outcome, after = env.outcome(f"agent_{agent}"), env.crafter_state.facing[agent].tolist()
    if outcome.result == Result.missing_input and outcome.action >= Action.make_wood_pickaxe:
        return env.level.craft_quorum > 1  # the inputs are the leader's to bring
    return outcome.result not in FAILURES - LACKS_OTHERS or before != after


@pytest.mark.parametrize(
    ("profile", "level"), [("crafter", "solo"), ("coop", "hard"), ("coop", "easy"), ("coop2", "coop2")]
)
def test_the_mask_is_what_each_action_alone_would_do(profile, level):
    drawing = BUSY.translate(str.maketrans("012", "..0")) if profile == "crafter" else BUSY
    env = CrafterEnv(layout=Layout.parse(drawing), profile=profile, level=level, infos="none")
    rng, seen = np.random.default_rng(0), {(action, mask): 0 for action in Action for mask in (0, 1)}
    for episode in range(3):
        env.reset(seed=episode)
        for _ in range(40):
            state = env.crafter_state
            state.inventory[:] = rng.choice([0, 1, 4, 9], size=state.inventory.shape)  # at the limits of many rules
            state.inventory[:, Item.health] = 9
            saved, masks, sleeping = env.save(), env.action_masks(), state.sleeping
            for name in saved.agents:
                agent = int(name.removeprefix("agent_"))
                for action in range(PLAIN_ACTIONS):
                    mask = int(masks[name][action])
                    seen[Action(action), mask] += 1
                    expected = makes_a_difference(env, saved, agent, action)
                    if sleeping[agent] and saved.state.inventory[agent, Item.energy] < 9:
                        assert mask == (action == Action.noop)
                    elif profile == "coop2" and action == Action.do and mask:
                        pass  # of an area's many cells the outcome names one, which may be another
                    else:
                        assert mask == expected, (name, Action(action), env.outcome(name))
            env.load(saved)
            env.step({agent: int(rng.integers(1, PLAIN_ACTIONS)) for agent in env.agents})
            if not env.agents:
                break
    both = [action for action in Action if seen[action, 0] and seen[action, 1]]
    assert len(both) >= PLAIN_ACTIONS - 2, [action.name for action in Action if action not in both]


@pytest.mark.parametrize(
    ("drawing", "bag", "possible"),
    [
        ("0T.", {}, True),
        ("0#.", {}, False),
        ("0.#", {Item.wood_pickaxe: 1}, True),
        ("0.#", {}, False),
        ("0.C", {}, True),
        ("...\n0.d", {Item.stone_pickaxe: 1}, False),
    ],
)
def test_in_an_area_one_cell_that_the_agent_can_collect_is_enough(drawing, bag, possible):
    env = world(
        f"~~~\n___\n___\n{drawing.replace('.', '_')}\n___\n___\n~~~",
        {0: bag},
        profile=PROFILES["coop2"],
        level=replace(PROFILES["coop2"].level, radius=2),
    )
    assert bool(env.action_masks()["agent_0"][Action.do]) == possible


def test_a_share_is_allowed_where_something_can_change_hands():
    env = world("01.\n...\n..2", {0: {Item.wood: 2}, 1: {Item.wood: 9}})
    agents, items = 18, 18 + 3
    env.crafter_state.inventory[:, :4] = 9

    def parts(name):
        mask = env.action_masks()[name]
        return mask[17], mask[agents:items].tolist(), [Item(i) for i in np.flatnonzero(mask[items : items + 16])]

    # Agent 1 is near and full of wood, agent 2 has room and is too far away.
    assert parts("agent_0") == (0, [1, 1, 1], list(Item))
    env.crafter_state.inventory[1, Item.food] = 8
    assert parts("agent_0") == (1, [0, 1, 0], [Item.food])
    assert parts("agent_1") == (1, [1, 0, 0], [Item.wood])
    env.step({"agent_0": share(1, Item.food), "agent_1": 0, "agent_2": 0})
    assert env.outcome("agent_0").result == Result.shared


@pytest.mark.parametrize("profile", ["coop", "coop2"])
def test_every_share_that_the_mask_allows_can_be_carried_out(profile):
    env = CrafterEnv(layout=Layout.parse("0.1\n.2.\n3.."), profile=profile)
    env.reset(seed=0)
    rng, state, shared = np.random.default_rng(0), env.crafter_state, 0
    agents, items = 18, 18 + 4
    for _ in range(60):
        state.inventory[:] = rng.choice([0, 3, 9, 20 if profile == "coop2" else 9], size=state.inventory.shape)
        state.inventory[:, :4] = rng.choice([3, 9], size=(4, 4))
        for mask, flat in zip(env.action_masks().values(), env.flat_masks(), strict=True):
            pairs = [
                (recipient, item)
                for recipient in np.flatnonzero(mask[agents:items])
                for item in np.flatnonzero(mask[items : items + 16])
            ]
            assert mask[17] == flat[17:].any()
            if mask[17]:
                assert pairs
                assert all(flat[17 + 15 * recipient + item - 1] for recipient, item in pairs)
                shared += len(pairs) < flat[17:].sum()
    assert shared > 10  # teammates with room for different things


def test_masks_are_reported_in_infos_and_are_the_same_when_asked_for():
    env = CrafterEnv(3)
    _, infos = env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        asked = env.action_masks()
        assert list(asked) == env.agents
        for name, mask in asked.items():
            np.testing.assert_array_equal(infos[name]["action_mask"], mask)
            assert mask.shape == (sum(env.action_space(name).nvec),)
        *_, infos = env.step({name: int(rng.integers(17)) for name in env.agents})


def test_the_dead_and_the_sleeping_can_do_nothing():
    env = world("0!.\n...\n..1")
    env.crafter_state.inventory[1, Item.energy] = 3
    *_, infos = env.step({"agent_0": Action.move_right, "agent_1": Action.sleep})
    for name in ("agent_0", "agent_1"):
        assert infos[name]["action_mask"][:18].tolist() == [1] + [0] * 17
    assert list(env.action_masks()) == ["agent_1"]
