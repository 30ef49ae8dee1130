"""Every symbolic concept on hand-drawn boards, and against the kernels on random ones."""

import numpy as np
import pytest

from cube_env import (
    CubeEnv,
    Face,
    Layout,
    WorldError,
    all_aligned_positions,
    block_progress,
    blocked,
    count_aligned_agents,
    delivered,
    get_distance,
    is_aligned_with_block,
    quorum_deficit,
    quorum_status,
    required_force,
)
from tests.cube_env.boards import dense_layout, play


def picture(text):
    return play(text).snapshot()


BOARD = """
    0........|
    ...AA....|
    321AA4...|
    .........|
    ....5....|
    .......B.|
"""


@pytest.mark.parametrize(
    ("first", "second", "distance"),
    [
        ("agent_0", "agent_1", 4),
        ("agent_0", "block_0", 4),
        ("agent_1", "block_0", 1),
        ("agent_5", "block_0", 2),
        ("block_0", "block_1", 6),
        ("block_0", "goal", 5),
        ("agent_0", "goal", 9),
        ("goal", "goal", 0),
        ((9, 9), "goal", 0),
        ((0, 0), (3, 4), 7),
        ("block_0", (1, 4), 0),
    ],
)
def test_distance_is_manhattan_from_the_nearest_cells(first, second, distance):
    snapshot = picture(BOARD)
    assert get_distance(snapshot, first, second) == get_distance(snapshot, second, first) == distance


@pytest.mark.parametrize("entity", ["agent_9", "agent_x", "block_7", "wall", "agent_-1", ""])
def test_a_distance_to_nothing_is_a_clear_error(entity):
    with pytest.raises(WorldError, match=r"no agent has index 9|names no entity|is not on the board"):
        get_distance(picture(BOARD), "goal", entity)


def test_aligned_is_on_a_face_cell_or_in_a_line_without_a_gap():
    snapshot = picture(BOARD)
    assert [is_aligned_with_block(snapshot, agent, 0, "left") for agent in range(6)] == [
        False, True, True, True, False, False,
    ]  # fmt: skip
    assert is_aligned_with_block(snapshot, 4, 0, Face.right)
    assert [count_aligned_agents(snapshot, 0, face) for face in Face] == [3, 1, 0, 0]
    assert count_aligned_agents(picture(BOARD.replace("321A", "32.A").replace("......B", ".1....B")), 0, "left") == 0


def test_the_aligned_positions_are_those_where_one_more_agent_would_be_aligned_and_where_they_stand():
    snapshot = picture(BOARD)
    # the line of three reaches the wall; the other face cell is free
    assert all_aligned_positions(snapshot, 0, "left") == ((1, 2), (2, 2), (2, 1), (2, 0))
    assert all_aligned_positions(snapshot, 0, "right") == ((1, 5), (2, 5), (2, 6))
    assert all_aligned_positions(snapshot, 0, "up") == ((0, 3), (0, 4))
    assert all_aligned_positions(picture("A.|\n.0|"), 0, "up") == ()
    occluded = picture("BAA...|\n.AA...|\n0.....|")
    assert all_aligned_positions(occluded, 0, "left") == ((1, 0),)


def test_progress_and_delivery():
    snapshot = picture(BOARD)
    assert [block_progress(snapshot, block) for block in (0, 1, 2)] == [5, 2, 0]
    assert [delivered(snapshot, block) for block in (0, 1, 2)] == [False, False, True]
    after = play(".0A|\nB..|", "R").snapshot()
    assert (delivered(after, 0), block_progress(after, 0), delivered(after, 1)) == (True, 0, False)


def test_the_quorum_is_the_blocks_own_weight():
    snapshot = picture(BOARD)
    assert [quorum_status(snapshot, 0, face) for face in Face] == [True, False, False, False]
    assert [quorum_deficit(snapshot, 0, face) for face in Face] == [0, 1, 2, 2]


@pytest.mark.parametrize(
    ("drawn", "face", "is_blocked", "force"),
    [
        ("0A..|", "left", False, 1),
        ("0A..|", "right", True, 1),
        (".A..|\n0...|", "right", False, 1),
        ("0A..|", "down", True, 1),
        ("A0..|", "right", True, 1),
        ("0A1.|", "left", True, 1),
        ("0AB.|", "left", False, 2),
        ("0AB1|", "left", True, 2),
        ("0ABB..|\n..BB..|", "left", False, 3),
        ("0ABBC.|\n..BB1.|", "left", True, 4),
        (".BB...|\n.BB...|\n.AC...|\n.0....|", "down", True, 3),
        ("......|\n.BB...|\n.BB...|\n.AC...|\n.0....|", "down", False, 3),
    ],
)
def test_a_block_is_blocked_by_what_no_force_moves(drawn, face, is_blocked, force):
    snapshot = picture(drawn)
    assert blocked(snapshot, 0, face) is is_blocked
    assert required_force(snapshot, 0, face) == force


def test_nothing_is_asked_of_a_delivered_block():
    snapshot = picture(BOARD)
    for face in Face:
        assert count_aligned_agents(snapshot, 9, face) == quorum_deficit(snapshot, 9, face) == 0
        assert quorum_status(snapshot, 9, face) is blocked(snapshot, 9, face) is False
        assert all_aligned_positions(snapshot, 9, face) == ()
        assert required_force(snapshot, 9, face) == 0


def test_a_wrong_face_or_agent_is_a_clear_error():
    snapshot = picture(BOARD)
    with pytest.raises(WorldError, match="'top' is not a face of a block: choose one of left, right, up, down"):
        blocked(snapshot, 0, "top")
    with pytest.raises(WorldError, match="no agent has index 6; indices are 0 to 5"):
        is_aligned_with_block(snapshot, 6, 0, "left")


def test_who_stands_on_an_aligned_position_is_aligned_and_nobody_else():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        layout = dense_layout(rng, 9, 8, 6, 3)
        env = CubeEnv(layout=layout)
        env.reset(seed=0)
        snapshot = env.snapshot()
        for block in range(len(layout.blocks)):
            for face in Face:
                positions = all_aligned_positions(snapshot, block, face)
                aligned = [is_aligned_with_block(snapshot, i, block, face) for i in range(len(snapshot.agents))]
                assert [cell in positions for cell in snapshot.agents] == aligned
                assert count_aligned_agents(snapshot, block, face) == sum(aligned)
                for cell in set(positions) - set(snapshot.agents):
                    moved = Layout(layout.side, [*layout.agents, cell], layout.blocks)
                    env_with = CubeEnv(layout=moved)
                    env_with.reset(seed=0)
                    assert is_aligned_with_block(env_with.snapshot(), len(layout.agents), block, face)
