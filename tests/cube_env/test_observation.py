import dataclasses
import pickle

import numpy as np
import orjson
import pytest

from cube_env import CubeEnv, Face, FaceCells, HistoryEntry, WorldError
from tests.cube_env.boards import play

BOARD = """
..0....|
.1AAB..|
..AA.C.|
.......|
.....D.|
......2|
E......|
.......|
"""


def symbolic(index=0, history=()):
    return play(BOARD).symbolic_observation(index, history)


def test_symbolic_observation_tells_the_agent_and_the_board():
    seen = symbolic(1)
    assert (seen.side, seen.goal_col, seen.step, seen.max_steps) == (8, 7, 0, 500)
    assert (seen.agent, seen.cell) == ("agent_1", (1, 1))
    assert seen.agents == ((0, 2), (1, 1), (5, 6))
    assert [(b.id, b.weight, b.row, b.col) for b in seen.blocks] == [
        (0, 2, 1, 2),
        (1, 1, 1, 4),
        (2, 1, 2, 5),
        (3, 1, 4, 5),
        (4, 1, 6, 0),
    ]


def test_distance_is_what_a_block_must_move_to_touch_the_goal_column():
    assert [block.distance for block in symbolic().blocks] == [4, 3, 2, 2, 7]
    env = play("..0A|")
    assert env.symbolic_observation(0).blocks[0].distance == 1
    assert env.step_array([4]).delivered == (0,)


def test_blocks_ahead_share_a_row_and_lie_towards_the_goal_nearest_first():
    assert [block.ahead for block in symbolic().blocks] == [(1, 2), (), (), (), ()]
    assert play("0C.A.B|").symbolic_observation(0).blocks[2].ahead == (0, 1)


def test_staging_cells_are_inside_the_grid_and_outside_other_blocks():
    faces = symbolic().blocks[0].faces
    assert faces.left == FaceCells(free=((2, 1),), taken=((1, 1),))
    assert faces.right == FaceCells(free=((2, 4),), taken=())
    assert faces.up == FaceCells(free=((0, 3),), taken=((0, 2),))
    assert faces.down == FaceCells(free=((3, 2), (3, 3)), taken=())
    assert symbolic().blocks[4].faces.left == FaceCells((), ())
    assert faces[Face.left] is faces["left"] is faces.left


def test_delivered_blocks_are_not_shown():
    env = play("..0A|\n.B..|", "R")
    assert [block.id for block in env.symbolic_observation(0).blocks] == [1]


def test_agents_share_what_is_the_same_for_all():
    env = play(BOARD)
    one, other = env.symbolic_observation(0), env.symbolic_observation(2)
    assert one.blocks is other.blocks
    assert one.agents is other.agents
    assert dataclasses.replace(one, agent=other.agent, cell=other.cell) == other


def test_an_agent_that_is_not_there_is_refused():
    for index in (-1, 3):
        with pytest.raises(WorldError, match=f"no agent has index {index}; indices are 0 to 2"):
            symbolic(index)


def test_observations_are_immutable_values():
    seen = symbolic()
    with pytest.raises(dataclasses.FrozenInstanceError):
        seen.step = 3
    assert seen == symbolic()
    assert hash(seen) == hash(symbolic())
    assert pickle.loads(pickle.dumps(seen)) == seen


def test_observations_serialise():
    entry = HistoryEntry("push_block", {"block": 0, "steps": 3}, (4, 4), "failed", "block_gone")
    data = orjson.loads(orjson.dumps(symbolic(1, (entry,))))
    assert orjson.loads(symbolic(1, (entry,)).text()) == data
    assert data["cell"] == [1, 1]
    assert data["blocks"][0]["faces"]["left"] == {"free": [[2, 1]], "taken": [[1, 1]]}
    assert data["history"][0]["args"] == {"block": 0, "steps": 3}
    env = CubeEnv(n=20)
    env.reset(seed=0)
    env.step_array(np.full(20, 4))
    orjson.dumps([env.snapshot(), *env.report.pushes, *env.report.failed_moves])
