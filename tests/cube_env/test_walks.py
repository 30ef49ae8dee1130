"""Every rule of individual moves as a board before, the joint action, and the board after."""

import pytest

from cube_env import Action, FailedMove, MoveFailure
from tests.cube_env.boards import board, drawing, play


def check(before, actions, after, *failures):
    env = play(before, actions)
    assert drawing(env) == board(after)
    assert [(move.agent, move.reason.name) for move in env.report.failed_moves] == list(failures)


@pytest.mark.parametrize(
    ("letter", "after"),
    [
        (".", "...|\n.0.|\n...|\n...|"),
        ("U", ".0.|\n...|\n...|\n...|"),
        ("D", "...|\n...|\n.0.|\n...|"),
        ("L", "...|\n0..|\n...|\n...|"),
        ("R", "...|\n..0|\n...|\n...|"),
    ],
)
def test_an_agent_walks_one_cell(letter, after):
    check("...|\n.0.|", letter, after)


def test_an_agent_may_walk_into_the_goal_column():
    check("..0|", "R", "...0")


@pytest.mark.parametrize(
    ("before", "letter"),
    [("0..|", "U"), ("...|\n...|\n...|\n0..|", "D"), ("0..|", "L"), ("...0", "R")],
)
def test_the_edge_of_the_grid_is_a_wall(before, letter):
    check(before, letter, before, (0, "wall"))


def test_a_failed_move_is_reported_in_types():
    move = play("0..|", "L").report.failed_moves[0]
    assert move == FailedMove(0, Action.LEFT, MoveFailure.wall)
    assert isinstance(move.direction, Action)
    assert isinstance(move.reason, MoveFailure)


def test_a_block_that_no_push_moved_stops_a_walk():
    check(".0AA.|\n..AA.|", "R", ".0AA.|\n..AA.|", (0, "block"))


def test_a_standing_agent_stops_a_walk():
    check("01..|", "R.", "01..|", (0, "agent"))


def test_agents_do_not_swap():
    check("01..|", "RL", "01..|", (0, "agent"), (1, "agent"))


def test_a_cell_that_is_being_vacated_cannot_be_entered():
    check("01..|", "RR", "0.1.|", (0, "agent"))
    check("10..|", "RR", "1.0.|", (1, "agent"))


def test_agents_do_not_rotate():
    check("01..|\n32..|", "RDLU", "01..|\n32..|", *[(i, "agent") for i in range(4)])


def test_of_several_agents_on_one_target_the_smallest_index_moves():
    check("..1.|\n.2.0|\n..3.|", "LDRU", "..1.|\n.20.|\n..3.|", (1, "race"), (2, "race"), (3, "race"))


def test_the_smallest_index_wins_a_race_from_any_side():
    check(".1.0.|", "LR", ".10..|", (1, "race"))
    check(".0.1.|", "RL", "..01.|", (1, "race"))


def test_the_loser_of_a_race_still_blocks_its_own_cell():
    check("..2..|\n.0.1.|", "RLD", "..2..|\n..01.|", (1, "race"), (2, "race"))
    check("20.1..|", "RLR", "2.01..|", (1, "race"), (2, "agent"))


def test_a_walk_sees_the_board_as_it_is_after_all_pushes():
    # The pushed block has left the first walker's target and has come to stand on the second one's.
    check(
        """
        .......|
        01AA...|
        ..AA...|
        ..2....|
        """,
        "RRU",
        """
        .......|
        .01AA..|
        ..2AA..|
        """,
    )
    check(
        """
        ....2..|
        01AA...|
        ..AA...|
        """,
        "RRD",
        """
        ....2..|
        .01AA..|
        ...AA..|
        """,
        (2, "block"),
    )


def test_an_agent_that_a_push_moved_blocks_its_new_cell():
    check(
        """
        ..2....|
        01AA...|
        ..AA...|
        """,
        "RRD",
        """
        ..2....|
        .01AA..|
        ...AA..|
        """,
        (2, "agent"),
    )


def test_a_cell_that_a_pushing_line_left_is_free():
    check(".1....|\n.0A...|", "RD", "......|\n.10A..|")
