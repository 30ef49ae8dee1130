"""Grid transportation as a PettingZoo environment."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from llamac_env import ActionError, EpisodeError, FailureCode, TransportEnv, WorldError
from llamac_env.transport.arrays import NOTHING, PRIMITIVES, decode, encode
from llamac_env.transport.symbolic.picture import KINDS
from quorum_base.painting.colours import parse
from tests.llamac_env.boards import SHAPES, board, drawn, grid, moves

SETTINGS = [(difficulty, shape) for difficulty in ("easy", "hard") for shape in SHAPES]


def env(difficulty="easy", shape=(2, 2), rule="final_state", **options):
    return TransportEnv(grid(*shape, difficulty, rule), **{"infos": "symbolic", **options})


def act(env, **actions):
    """Step with moves by agent; the others do nothing."""
    joint = moves(env.grid, **actions)
    return env.step(
        {
            name: encode(env.grid, agent, joint[agent]) if agent in joint else NOTHING
            for agent, name in enumerate(env.possible_agents)
        }
    )


def masked(observations, rng):
    return {name: rng.choice(np.flatnonzero(seen["action_mask"]).tolist()) for name, seen in observations.items()}


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_it_is_a_parallel_environment(difficulty):
    parallel_api_test(env(difficulty, (2, 4)), num_cycles=100)
    parallel_seed_test(lambda: env(difficulty))


def frames(where, seed, rng):
    observations, infos = where.reset(seed=seed)
    found = [(observations, infos)]
    while where.agents:
        found.append(where.step(masked(found[-1][0], rng)))
    return found


@pytest.mark.parametrize("difficulty", ["easy", "hard"])
def test_the_same_seed_and_actions_give_the_same_episode(difficulty):
    for seed in range(5):
        one, two = (frames(env(difficulty, (2, 4)), seed, random.Random(seed)) for _ in range(2))
        assert len(one) == len(two)
        for first, second in zip(one, two, strict=True):
            np.testing.assert_equal(first, second)
        other = frames(env(difficulty, (2, 4)), seed + 1, random.Random(seed))
        assert one[0][1]["agent_0"]["symbolic"].board != other[0][1]["agent_0"]["symbolic"].board


@pytest.mark.parametrize(("difficulty", "shape"), SETTINGS)
@pytest.mark.parametrize("rule", ["final_state", "start_empty"])
def test_the_mask_is_exactly_what_the_rules_allow(difficulty, shape, rule):
    where = env(difficulty, shape, rule)
    for seed in range(3):
        observations, _ = where.reset(seed=seed)
        for agent, name in enumerate(where.possible_agents):
            for primitive in range(PRIMITIVES):
                move = decode(where.grid, agent, primitive)
                allowed = primitive == NOTHING or (move is not None and where.board.refusal(agent, move) is None)
                assert observations[name]["action_mask"][primitive] == allowed


def test_primitives_and_moves_are_one_to_one():
    where = grid(2, 4, "hard")
    for agent in range(where.agents):
        for primitive in range(1, PRIMITIVES):
            move = decode(where, agent, primitive)
            assert move is not None
            assert encode(where, agent, move) == primitive
    with pytest.raises(ActionError, match="26 is not an action"):
        decode(where, 0, PRIMITIVES)


def test_a_step_costs_1_and_a_placed_box_brings_1():
    where = env()
    state = board(where.grid, box_red="0.5_0.5 0.5_0.5", target_red="0.5_0.5 0.5_1.5")
    where.reset(options={"board": state})
    _, rewards, terminations, truncations, infos = act(where, a0="move(box_red, target_red)")
    assert (rewards["agent_3"], terminations["agent_0"], truncations["agent_0"]) == (0.0, False, False)
    assert infos["agent_1"]["report"].placed == (0,)
    assert act(where)[1]["agent_0"] == -1.0
    act(where, a0="move(box_red, square[0.5, 1.5])")
    _, rewards, terminations, truncations, _ = act(where, a1="move(box_red, target_red)")
    assert (rewards["agent_0"], terminations["agent_0"], truncations["agent_0"]) == (0.0, True, False)
    assert where.agents == []
    with pytest.raises(EpisodeError, match="call reset"):
        act(where)


def test_a_collision_ends_the_episode_as_a_failure():
    where = env("hard")
    state = board(where.grid, box_red="0.0_0.0", box_blue="0.0_2.0", target_red="1.5_1.5", target_blue="1.5_1.5")
    where.reset(options={"board": state})
    both = {"a0": "move(box_red, position[0.0, 1.0])", "a1": "move(box_blue, position[0.0, 1.0])"}
    _, _, terminations, _, infos = act(where, **both)
    assert terminations["agent_0"]
    assert infos["agent_0"]["report"].collisions == ((0, 2),)
    assert infos["agent_0"]["symbolic"].collided
    assert where.agents == []


def test_the_last_step_counts_and_the_limit_truncates():
    state = board(grid(2, 2, "easy"), box_red="0.5_0.5", target_red="0.5_0.5")
    where = env(max_steps=1)
    where.reset(options={"board": state})
    assert act(where)[3]["agent_0"]
    where.reset(options={"board": state})
    _, _, terminations, truncations, _ = act(where, a0="move(box_red, target_red)")
    assert (terminations["agent_0"], truncations["agent_0"]) == (True, False)
    assert [env("easy", shape).max_steps for shape in SHAPES] == [30, 30, 40]


def test_an_action_that_cannot_be_carried_out_fails_and_nothing_else_happens():
    where = env()
    where.reset(options={"board": board(where.grid, box_red="0.5_0.5", target_red="0.5_1.5")})
    _, rewards, _, _, infos = act(where, a0="move(box_red, target_red)")
    assert infos["agent_0"]["report"].failed == {0: FailureCode.no_target}
    assert rewards["agent_0"] == -1
    assert len(where.board.boxes) == 1


def test_observations_show_the_own_reach_and_the_state_shows_all():
    where = env("hard")
    state = board(where.grid, box_red="1.0_1.0", target_red="0.5_0.5")
    observations, infos = where.reset(options={"board": state})
    assert observations["agent_0"]["observation"].tolist() == [[0] * 5] * 3 + [[0, 1, 0, 0, 0], [0, 1, 0, 0, 0]]
    assert observations["agent_3"]["observation"].tolist() == [[0, 1, 0, 0, 0]] + [[0] * 5] * 4
    whole = where.state()
    assert (whole[2, 2, 1], whole[1, 1, 6], whole.sum()) == (1, 1, 2)
    seen = infos["agent_0"]["symbolic"]
    assert seen.square == "square[0.5, 0.5]"
    assert seen.sees == {"square[0.5, 0.5]": ("target_red",), "position[1.0, 1.0]": ("box_red",)}
    assert ("box_red", "target_red") in [(choice.box, choice.to) for choice in seen.can_do]
    assert seen.to_board() == state
    assert json.loads(seen.text())["square"] == "square[0.5, 0.5]"


@pytest.mark.parametrize(
    ("actions", "message"),
    [({}, "agent_0"), (dict.fromkeys(("agent_0", "agent_1", "agent_2", "agent_9"), 0), "no action for agent_3"),
     ({f"agent_{i}": 26 for i in range(4)}, "action 26 is none of 0 to 25")],
)  # fmt: skip
def test_what_is_no_joint_action_is_refused_and_nothing_moves(actions, message):
    where = env()
    where.reset(seed=0)
    before = where.board
    with pytest.raises(ActionError, match=message):
        where.step(actions)
    assert (where.board, where.steps) == (before, 0)


@pytest.mark.parametrize("options", [{"max_steps": 0}, {"render_mode": "film"}])
def test_wrong_arguments_are_refused(options):
    with pytest.raises(WorldError):
        env(**options)
    with pytest.raises(WorldError, match="grid"):
        env().reset(options={"board": drawn(2, 4, "easy", 0)})
    with pytest.raises(EpisodeError, match="before the first reset"):
        env().board  # noqa: B018
    with pytest.raises(WorldError, match="no render mode"):
        env().render()


def test_it_is_drawn_as_text_and_as_an_image():
    where = env("hard", render_mode="ansi")
    where.reset(options={"board": board(where.grid, box_red="1.0_1.0", target_red="0.5_0.5")})
    assert where.render() == "+---+---+\n| r |   |\n+---R---+\n|   |   |\n+---+---+"
    easy = env("easy", render_mode="ansi")
    easy.reset(options={"board": board(easy.grid, box_red="0.5_0.5", target_red="0.5_0.5")})
    assert easy.render().splitlines()[1] == "| Rr|   |"
    picture = env("hard", (2, 4), render_mode="rgb_array")
    picture.reset(options={"board": board(picture.grid, box_red="1.0_1.0", target_red="0.5_0.5")})
    image = picture.render()
    assert image.dtype == np.uint8
    assert image.shape == (2 * 48 + 25, 4 * 48 + 25, 3)
    red = (image == parse(KINDS[1].light)).all(axis=2)
    box, target = red[12 + 42 : 12 + 54, 12 + 42 : 12 + 54], red[12 + 18 : 12 + 30, 12 + 18 : 12 + 30]
    assert box.any(), "the box is on its corner"
    assert target.any(), "the target is in its cell"
    assert not red[67:].any()
