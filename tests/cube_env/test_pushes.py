"""Every rule of pushing as a board before, the joint action, and the board after."""

import pytest

from cube_env import Action, Push, PushOutcome
from tests.cube_env.boards import board, drawing, play


def check(before, actions, after, *pushes):
    """Actions are letters of `.UDLR` by agent index; a push is (block, direction, agents, force, required, outcome)."""
    env = play(before, actions)
    assert drawing(env) == board(after)
    got = [(p.block, p.direction.name, p.agents, p.force, p.required, p.outcome.name) for p in env.report.pushes]
    assert got == list(pushes)
    return env


def failures(env):
    return [(move.agent, move.reason.name) for move in env.report.failed_moves]


def test_one_agent_pushes_a_block_of_weight_one():
    check(".0A..|", "R", "..0A.|", (0, "RIGHT", (0,), 1, 1, "moved"))


def test_a_push_is_reported_in_types():
    push = play(".0A..|", "R").report.pushes[0]
    assert push == Push(0, Action.RIGHT, (0,), 1, 1, PushOutcome.moved)
    assert isinstance(push.direction, Action)
    assert isinstance(push.outcome, PushOutcome)


@pytest.mark.parametrize(
    ("before", "letter", "after"),
    [
        ("....|\n.AA.|\n.AA.|\n.01.|\n....|", "U", ".AA.|\n.AA.|\n.01.|\n....|\n....|"),
        (".01.|\n.AA.|\n.AA.|\n....|\n....|", "D", "....|\n.01.|\n.AA.|\n.AA.|\n....|"),
        ("....|\n.AA0|\n.AA1|\n....|\n....|", "L", "....|\nAA0.|\nAA1.|\n....|\n....|"),
        (".....|\n0AA..|\n1AA..|", "R", ".....|\n.0AA.|\n.1AA.|"),
    ],
)
def test_a_block_moves_away_from_the_face_it_is_pushed_from(before, letter, after):
    assert drawing(play(before, letter * 2)) == board(after)


def test_force_is_the_whole_gap_free_line_behind_a_face_cell():
    check(
        """
        012AA...|
        ...AA...|
        """,
        "RRR",
        """
        .012AA..|
        ....AA..|
        """,
        (0, "RIGHT", (0, 1, 2), 3, 2, "moved"),
    )


def test_lines_of_several_face_cells_add_up():
    check(
        """
        .01AAA..|
        ...AAA..|
        ..2AAA..|
        """,
        "RRR",
        """
        ..01AAA.|
        ....AAA.|
        ...2AAA.|
        """,
        (0, "RIGHT", (0, 1, 2), 3, 3, "moved"),
    )


def test_a_gap_ends_a_line_and_the_agent_behind_it_walks():
    check(
        """
        0.1AA...|
        ...AA...|
        """,
        "RR",
        """
        .01AA...|
        ...AA...|
        """,
        (0, "RIGHT", (1,), 1, 2, "force"),
    )


def test_an_agent_with_another_action_ends_a_line():
    env = check("012A..|", "R.R", "01.2A.|", (0, "RIGHT", (2,), 1, 1, "moved"))
    assert failures(env) == [(0, "agent")]


def test_pushers_at_the_free_part_of_a_front_block_do_not_add_to_the_block_behind():
    check(
        "01ABB..|\n..2BB..|", "RRR", "01ABB..|\n..2BB..|",
        (0, "RIGHT", (0, 1), 2, 3, "force"), (1, "RIGHT", (2,), 1, 2, "force"),
    )  # fmt: skip


def test_an_agent_outside_the_blocks_rows_adds_nothing():
    check(
        """
        ..0.....|
        ...AA...|
        ..1AA...|
        ..2.....|
        """,
        "RRR",
        """
        ...0....|
        ...AA...|
        ..1AA...|
        ...2....|
        """,
        (0, "RIGHT", (1,), 1, 2, "force"),
    )


def test_nobody_in_the_lines_is_not_an_attempt():
    assert play(".0A..|", ".").report.pushes == ()
    assert play(".0A..|", "D").report.pushes == ()


def test_too_little_force_moves_nobody_and_is_a_failed_move_too():
    env = check(
        """
        .0AA..|
        ..AA..|
        """,
        "R",
        """
        .0AA..|
        ..AA..|
        """,
        (0, "RIGHT", (0,), 1, 2, "force"),
    )
    assert failures(env) == [(0, "block")]


def test_a_chain_needs_the_sum_of_its_weights():
    before = """
        012AAB..|
        ...AA...|
        """
    check(
        before,
        "RRR",
        """
        .012AAB.|
        ....AA..|
        """,
        (0, "RIGHT", (0, 1, 2), 3, 3, "moved"),
    )
    check(before, ".RR", before, (0, "RIGHT", (1, 2), 2, 3, "force"))


def test_a_wide_block_takes_both_blocks_that_it_faces():
    check(
        """
        .012AAAB...|
        ....AAA....|
        .345AAAC...|
        """,
        "RRRRRR",
        """
        ..012AAAB..|
        .....AAA...|
        ..345AAAC..|
        """,
        (0, "RIGHT", (0, 1, 2, 3, 4, 5), 6, 5, "moved"),
    )


def test_a_chain_closes_over_blocks_beside_the_first_ones_rows():
    check(
        """
        0123ABB...|
        .....BBC..|
        """,
        "RRRR",
        """
        .0123ABB..|
        ......BBC.|
        """,
        (0, "RIGHT", (0, 1, 2, 3), 4, 4, "moved"),
    )


def test_a_block_met_by_two_of_the_chain_counts_once():
    check(
        """
        012AABDD..|
        345AACDD..|
        """,
        "RRRRRR",
        """
        .012AABDD.|
        .345AACDD.|
        """,
        (0, "RIGHT", (0, 1, 2, 3, 4, 5), 6, 6, "moved"),
    )


def test_a_block_in_two_rows_of_the_face_counts_once():
    check(
        """
        012AABB...|
        .3.AABB...|
        """,
        "RRRR",
        """
        012AABB...|
        ..3AABB...|
        """,
        (0, "RIGHT", (0, 1, 2), 3, 4, "force"),
    )


def test_the_wall_stops_a_push():
    env = check("A0....|", "L", "A0....|", (0, "LEFT", (0,), 1, 1, "wall"))
    assert failures(env) == [(0, "block")]


def test_the_wall_stops_a_chain():
    check("BA01..|", "LL", "BA01..|", (0, "LEFT", (0, 1), 2, 2, "wall"))


def test_an_agent_in_the_swept_cells_stops_a_push():
    check(".0A1..|", "R.", ".0A1..|", (0, "RIGHT", (0,), 1, 1, "agent"))


def test_an_agent_that_is_about_to_walk_off_still_stops_a_push():
    check(".0A1..|", "RR", ".0A.1.|", (0, "RIGHT", (0,), 1, 1, "agent"))


def test_an_agent_ahead_of_any_block_of_the_chain_stops_it():
    before = """
        012ABB...|
        ....BB3..|
        """
    check(before, "RRR.", before, (0, "RIGHT", (0, 1, 2), 3, 3, "agent"))


def test_an_agent_beside_the_swept_cells_does_not_stop_a_push():
    check(
        """
        ..1...|
        .0A...|
        ..2...|
        """,
        "R..",
        """
        ..1...|
        ..0A..|
        ..2...|
        """,
        (0, "RIGHT", (0,), 1, 1, "moved"),
    )


def test_a_block_displaced_in_this_step_stops_a_later_push():
    env = check(
        """
        ......|
        .0A...|
        ...B..|
        ...1..|
        """,
        "RU",
        """
        ......|
        .0AB..|
        ...1..|
        """,
        (1, "UP", (1,), 1, 1, "moved"),
        (0, "RIGHT", (0,), 1, 1, "block"),
    )
    assert failures(env) == [(0, "block")]


def test_a_displaced_block_ahead_of_any_block_of_the_chain_stops_it():
    check(
        """
        .......|
        .01AB..|
        .....C.|
        .....2.|
        """,
        "RRU",
        """
        .......|
        .01ABC.|
        .....2.|
        """,
        (2, "UP", (2,), 1, 1, "moved"),
        (0, "RIGHT", (0, 1), 2, 2, "block"),
    )


def test_when_several_reasons_hold_the_wall_is_reported_first():
    before = """
        BAA0..|
        1AA...|
        """
    check(before, "L.", before, (0, "LEFT", (0,), 1, 3, "wall"))


def test_when_several_reasons_hold_an_agent_is_reported_before_a_displaced_block():
    check(
        """
        0AA1..|
        .AA...|
        ...B..|
        ...2..|
        """,
        "R.U",
        """
        0AA1..|
        .AAB..|
        ...2..|
        """,
        (1, "UP", (2,), 1, 1, "moved"),
        (0, "RIGHT", (0,), 1, 2, "agent"),
    )


def test_when_several_reasons_hold_a_displaced_block_is_reported_before_missing_force():
    check(
        """
        0AA...|
        .AA...|
        ...B..|
        ...1..|
        """,
        "RU",
        """
        0AA...|
        .AAB..|
        ...1..|
        """,
        (1, "UP", (1,), 1, 1, "moved"),
        (0, "RIGHT", (0,), 1, 2, "block"),
    )


@pytest.mark.parametrize(
    ("before", "actions", "after", "direction"),
    [
        ("......|\n.1A...|\n..0...|", "UR", "..A...|\n.10...|", "UP"),
        ("......|\n..A1..|\n..0...|", "UL", "..A...|\n..01..|", "UP"),
        ("..0...|\n.1A...|", "DR", "......|\n.10...|\n..A...|", "DOWN"),
        ("..0...|\n..A1..|", "DL", "......|\n..01..|\n..A...|", "DOWN"),
    ],
)
def test_a_block_is_displaced_once_by_the_earlier_direction(before, actions, after, direction):
    env = check(before, actions, after, (0, direction, (0,), 1, 1, "moved"))
    assert failures(env) == [(1, "agent")]


def test_up_comes_before_down():
    check(
        """
        01.....|
        AA.....|
        AA.....|
        .......|
        .B.....|
        .2.....|
        """,
        "DDU",
        """
        01.....|
        AA.....|
        AA.....|
        .B.....|
        .2.....|
        """,
        (1, "UP", (2,), 1, 1, "moved"),
        (0, "DOWN", (0, 1), 2, 2, "block"),
    )


def test_left_comes_before_right():
    check(
        """
        0AA.....|
        1AA.B2..|
        """,
        "RRL",
        """
        0AA.....|
        1AAB2...|
        """,
        (1, "LEFT", (2,), 1, 1, "moved"),
        (0, "RIGHT", (0, 1), 2, 2, "block"),
    )


def test_within_a_direction_blocks_are_tried_by_ascending_id():
    check(
        """
        .0A...|
        .1B...|
        """,
        "RR",
        """
        ..0A..|
        ..1B..|
        """,
        (0, "RIGHT", (0,), 1, 1, "moved"),
        (1, "RIGHT", (1,), 1, 1, "moved"),
    )


def test_agents_behind_a_block_that_another_push_took_along_walk_after_it():
    check(
        """
        012ABB...|
        ...3BB...|
        """,
        "RRRR",
        """
        .012ABB..|
        ....3BB..|
        """,
        (0, "RIGHT", (0, 1, 2), 3, 3, "moved"),
    )


def test_an_agent_moved_by_a_push_does_not_walk_in_the_same_step():
    env = check(".01A..|", "RR", "..01A.|", (0, "RIGHT", (0, 1), 2, 1, "moved"))
    assert failures(env) == []


def test_a_failed_push_leaves_its_agents_to_the_individual_moves():
    env = check(
        """
        ......|
        12AA..|
        ..AA..|
        ..0...|
        """,
        "URR",
        """
        ......|
        .12AA.|
        ..0AA.|
        """,
        (0, "UP", (0,), 1, 2, "force"),
        (0, "RIGHT", (1, 2), 2, 2, "moved"),
    )
    assert failures(env) == []


def test_opposed_teams_stop_each_other():
    before = """
        ..0BAA12..|
        ....AA34..|
        """
    check(
        before,
        "RLLLL",
        before,
        (0, "LEFT", (1, 2, 3, 4), 4, 3, "agent"),
        (1, "RIGHT", (0,), 1, 3, "agent"),
    )


def test_a_block_that_reaches_the_goal_column_is_delivered_and_gone():
    env = check(
        """
        ..0AA|
        ..1AA|
        """,
        "RR",
        """
        ...0.|
        ...1.|
        """,
        (0, "RIGHT", (0, 1), 2, 2, "delivered"),
    )
    assert env.report.delivered == (0,)


def test_of_a_chain_only_the_blocks_that_reached_the_goal_are_delivered():
    env = check("01AB|", "RR", ".01A|", (0, "RIGHT", (0, 1), 2, 2, "delivered"))
    assert env.report.delivered == (1,)
    assert [block.id for block in env.snapshot().blocks] == [0]


def test_one_push_can_deliver_two_blocks():
    env = check(
        """
        ..012AAB|
        ...34AAC|
        """,
        "RRRRR",
        """
        ...012AA|
        ....34AA|
        """,
        (0, "RIGHT", (0, 1, 2, 3, 4), 5, 4, "delivered"),
    )
    assert env.report.delivered == (1, 2)


def test_a_delivered_blocks_cells_are_free_in_the_same_step():
    # Agent 2 walks up into the goal column, where the block arrived and went in this very step.
    check(
        """
        .01AA|
        ...AA|
        .....2
        """,
        "RRU",
        """
        ..01.|
        .....2
        """,
        (0, "RIGHT", (0, 1), 2, 2, "delivered"),
    )


def test_an_agent_in_the_goal_column_blocks_delivery_in_its_row():
    check("..0A1", "R.", "..0A1", (0, "RIGHT", (0,), 1, 1, "agent"))


def test_a_block_is_not_pushed_in_the_step_after_it_was_delivered():
    env = play("..0A|\n.B..|", "R", "R")
    assert env.report.pushes == ()
    assert drawing(env) == board("....0\n.B..|")
