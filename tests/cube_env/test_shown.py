"""What a prompt shows of a board: bounded, without what no plan needs, and read back as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import orjson
import pytest

from cube_env import (
    CubeEnv,
    Face,
    HistoryEntry,
    Layout,
    ShownObservation,
    SymbolicObservation,
    TextLimits,
    force_to_goal,
    read_shown,
)
from cube_env.observation import NOT_SHOWN
from quorum.agents.prompting.blocks import write_json
from quorum.agents.skills.cube.pushes import Board
from tests.cube_env.boards import play

ALL = TextLimits(max_agents=None, faces="all")


def shown(board: str, agent: int | None = 0, limits: TextLimits = ALL) -> dict:
    return orjson.loads(write_json(ShownObservation.of(play(board).symbolic_observation(agent), limits)))


def there(board: str, agent: int = 0) -> dict:
    return shown(board, agent).get("there", {})


def way(board: str, agent: int = 0) -> int | None:
    return shown(board, agent)["you"]["ways"]["left"]["0"]


@pytest.mark.parametrize("seed", range(20))
def test_what_is_shown_is_read_back_as_the_observation_that_it_was(seed: int) -> None:
    env = CubeEnv(n=1 + seed % 9)
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(30):
        env.step_array(rng.choice([1, 2, 3, 4, 4, 4], size=env.max_num_agents))
    for agent in (None, 0, env.max_num_agents - 1):
        seen = env.symbolic_observation(agent)
        text = write_json(ShownObservation.of(seen, TextLimits(max_agents=None, faces="left")))
        assert read_shown(orjson.loads(text)) == seen


def test_the_nearest_agents_are_shown_and_the_rest_are_a_number() -> None:
    board = "0.....|\n.1....|\n2.....|\n......|\n.....3|\n....A.|"
    few = shown(board, limits=TextLimits(max_agents=2, faces="left"))
    assert (few["agents"], few["agents_not_shown"]) == ([[0, 0, 0], [1, 1, 1], [2, 2, 0]], 1)
    assert "agents_not_shown" not in shown(board)
    assert read_shown(few).agents == ((0, 0), (1, 1), (2, 0), NOT_SHOWN)
    assert len(shown(board, agent=None, limits=TextLimits(max_agents=2, faces="left"))["agents"]) == 4


def test_faces_that_no_delivery_needs_are_shown_on_request_only() -> None:
    board = "..1..|\n.0A2.|\n..3..|"
    only_left = shown(board, limits=TextLimits(max_agents=None, faces="left"))
    assert (set(only_left["there"]), set(only_left["you"]["ways"])) == ({"left"}, {"left"})
    assert (set(shown(board)["there"]), set(shown(board)["you"]["ways"])) == (set(Face), set(Face))


def test_a_block_is_one_row_with_only_what_there_is_to_say_about_it() -> None:
    whole = shown("0....|\n.AA..|\n.AA..|", limits=TextLimits(max_agents=None, faces="left"))
    assert whole["blocks"] == [[0, 2, 1, 1, 3]]  # id, weight, row, column, distance
    assert set(whole) == {"agents", "blocks", "max_steps", "side", "step", "you"}
    assert whole["you"] == {"name": "agent_0", "ways": {"left": {"0": 1}}}


def test_what_is_the_agents_own_comes_last() -> None:
    one, other = (write_json(ShownObservation.of(play("01A..|").symbolic_observation(a), ALL)) for a in (0, 1))
    common = one[: one.index('"you"')]
    assert other.startswith(common)
    assert '"blocks"' in common


def test_the_way_is_the_length_of_the_path_that_move_to_block_takes() -> None:
    assert way("..B...|\n0.C.A.|\n..D...|\n......|") == 2 + 3 + 2  # round the three blocks
    assert way("0A..|") == 0
    assert way("10A..|", agent=1) == 0  # in line behind the one at the face
    assert way("1..0A..|", agent=1) == 2  # to the end of the line
    assert way("A.0..|") is None  # a block along the left wall has no left face


def test_agents_in_line_behind_a_face_are_there() -> None:
    assert there(".10AA.|\n..2AA.|\n3.....|", agent=3)["left"] == {"0": 3}
    assert there("1.0A..|")["left"] == {"0": 1}
    assert there("1.0.A.|") == {}


def test_a_push_takes_the_weights_of_the_blocks_that_it_meets() -> None:
    reported = shown(".AABB.|\n0AABB.|\n...C..|")
    assert (reported["ahead"], reported["needs_to_goal"]) == ({"0": [1]}, {"0": 4})
    assert shown("0A.C.B.....|")["needs_to_goal"]["0"] == 3
    # Block B is delivered before block C is met, so the three are never pushed at once.
    board = "...BBB....|\n...BBB....|\nAA.BBB....|\nAA......C.|\n0.........|"
    assert (shown(board)["ahead"]["0"], shown(board)["needs_to_goal"]["0"]) == ([1, 2], 5)


@pytest.mark.parametrize("seed", range(25))
def test_one_agent_fewer_than_a_push_takes_gets_stuck(seed: int) -> None:
    rng = np.random.default_rng(seed)
    env = CubeEnv(layout=crowded(rng))
    env.reset(seed=0)
    seen = env.symbolic_observation(None)
    board = Board(seen)
    for block in seen.blocks:
        needs = force_to_goal(block, seen.blocks)
        assert not board.sweep(block.id, Face.left, block.distance, needs).obstacle
        assert "it takes" in board.sweep(block.id, Face.left, block.distance, needs - 1).obstacle


def crowded(rng: np.random.Generator) -> Layout:
    """A board of 10 x 10 with many blocks of weight 1 to 3, one agent in the corner."""
    taken = {(9, 0)}
    blocks = []
    for _ in range(60):
        weight, row, col = int(rng.integers(1, 4)), int(rng.integers(10)), int(rng.integers(9))
        cells = {(row + r, col + c) for r in range(weight) for c in range(weight)}
        if row + weight <= 10 and col + weight <= 9 and not cells & taken:
            taken |= cells
            blocks.append((weight, (row, col)))
    return Layout(10, [(9, 0)], blocks)


def test_the_action_under_way_is_shown_with_its_steps_in_words_and_no_other() -> None:
    ended = HistoryEntry("push_block", {"block": 0, "steps": 3}, (4, 4), "failed", "block_gone")
    running = HistoryEntry("rendezvous", {"block": 1, "count": 2, "timeout": None}, (2, 2, 4, 0, 0, 0), "running")
    seen = ShownObservation.of(play("0.A..|").symbolic_observation(0, (ended, running)), ALL)
    reported = seen.shown()
    assert reported["you"]["now"] == "rendezvous(block=1, count=2, timeout=null), so far: down 2, right 1, stay 3"
    assert "now" not in replace(seen, history=(ended,)).shown()["you"]
    assert "None" not in write_json(seen)
    assert "push_block" not in write_json(seen)


@pytest.mark.parametrize(("n", "most"), [(8, 400), (64, 1500), (256, 2600)])
def test_an_observation_is_bounded_however_large_the_team_is(n: int, most: int) -> None:
    env = CubeEnv(n=n)
    env.reset(seed=0)
    limits = TextLimits(max_agents=32, faces="left")
    assert len(write_json(ShownObservation.of(env.symbolic_observation(0), limits))) <= most


def test_an_observation_that_is_shown_is_a_symbolic_observation() -> None:
    seen = play("0.A..|").symbolic_observation(0)
    assert isinstance(ShownObservation.of(seen, ALL), SymbolicObservation)
