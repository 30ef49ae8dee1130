"""Symbolic actions on hand-drawn boards, run by the real loop with scripted minds."""

import pytest

from cube_env import Face, Idle, MoveToBlock, PushBlock, Rendezvous
from maeil import Plan, Thought
from maeil.metrics import compute_metrics
from maeil.trace import Trace
from tests.cube_env.acting import OPEN, act, world
from tests.maeil.scripted import Scripted, play

LEFT, RIGHT, UP, DOWN = Face.left, Face.right, Face.up, Face.down


def test_move_to_block_goes_by_a_shortest_path_and_ends_aligned():
    cube, ends = act(OPEN, [MoveToBlock(block=0, face=LEFT)], [MoveToBlock(block=0, face=DOWN)], steps=9)
    assert ends == ["t=3 P0.1 move_to_block success", "t=4 P1.1 move_to_block success"]
    assert cube.env.snapshot().agents == ((2, 2), (4, 3))


@pytest.mark.parametrize(("face", "cell"), [(LEFT, (2, 2)), (RIGHT, (2, 5)), (UP, (1, 3)), (DOWN, (4, 3))])
def test_every_face_can_be_reached(face, cell):
    cube, _ = act(OPEN, [MoveToBlock(block=0, face=face)], [Idle(steps=60)], steps=20)
    assert cube.env.snapshot().agents[0] == cell


def test_a_way_leads_around_blocks_and_standing_agents():
    board = """
        .1...|
        0.AA.|
        .2AA.|
        .....|
        .....|
        .....|
    """
    cube, ends = act(board, [MoveToBlock(block=0, face=RIGHT)], [Idle(steps=60)], [Idle(steps=60)], steps=20)
    assert cube.env.snapshot().agents[0][1] == 4
    # (1, 0) -> (1, 1) leads into a dead end between agents 1 and 2: the way is down and around
    assert ends == ["t=7 P0.1 move_to_block success"]


def test_who_finds_a_face_full_lines_up_at_its_shortest_line():
    board = """
        .......|
        ...0AA.|
        ..21AA.|
        .......|
        3......|
        .......|
        .......|
        .......|
    """
    stay = [Idle(steps=60)]
    cube, _ = act(board, stay, stay, stay, [MoveToBlock(block=0, face=LEFT)], steps=20)
    assert cube.env.snapshot().agents[3] == (1, 2)


def test_one_who_enters_a_lane_goes_on_to_its_last_free_cell_so_that_the_others_get_in():
    board = """
        .....|
        .....|
        .AA..|
        .AA..|
        .....|
        01...|
    """
    go = [MoveToBlock(block=0, face=LEFT)]
    cube, ends = act(board, go, go, steps=12)
    assert {*cube.env.snapshot().agents} == {(2, 0), (3, 0)}
    assert all(end.endswith("success") for end in ends)


def test_one_who_stands_on_a_face_cell_is_there_at_once():
    board = """
        ....|
        0AA.|
        .AA.|
        ....|
        ....|
    """
    _, ends = act(board, [MoveToBlock(block=0, face=LEFT)], steps=3)
    assert ends == ["t=0 P0.1 move_to_block success"]


def test_move_to_block_says_when_there_is_no_cell_to_stand_on_and_when_there_is_no_way():
    occluded = """
        .......|
        0.BBAA.|
        ..BBAA.|
        .......|
        .......|
        .......|
        .......|
        .......|
    """
    _, ends = act(occluded, [MoveToBlock(block=0, face=LEFT)], steps=3)
    assert ends == ["t=0 P0.1 move_to_block failed (no_staging_cell)"]
    walled = """
        0A.....|
        BBCC...|
        BBCC...|
        .......|
        .......|
        .......|
        .......|
        .......|
    """
    _, ends = act(walled, [MoveToBlock(block=2, face=RIGHT)], steps=3)
    assert ends == ["t=0 P0.1 move_to_block failed (no_path)"]


def test_a_move_gives_up_after_its_timeout():
    _, ends = act(OPEN, [MoveToBlock(block=0, face=RIGHT, timeout=3)], [Idle(steps=60)], steps=5)
    assert ends == ["t=3 P0.1 move_to_block timeout (not_reached after 3 steps)"]


def test_a_rendezvous_releases_all_in_the_tick_in_which_the_last_one_comes():
    meet = Rendezvous(block=0, face=LEFT, count=2)
    go = MoveToBlock(block=0, face=LEFT)
    push = PushBlock(block=0, steps=1)
    cube, ends = act(OPEN, [go, meet, push], [Idle(steps=2), go, meet, push], steps=12)
    assert ends == [
        "t=3 P0.1 move_to_block success",
        "t=6 P1.1 move_to_block success",
        "t=6 P0.1 rendezvous success",
        "t=6 P1.1 rendezvous success",
        "t=7 P0.1 push_block success",
        "t=7 P1.1 push_block success",
    ]
    assert cube.env.snapshot().blocks[0].col == 4


def test_a_rendezvous_fails_at_once_when_not_aligned_and_ends_when_nobody_comes():
    _, ends = act(OPEN, [Rendezvous(block=0, face=LEFT, count=1)], [Idle(steps=60)], steps=3)
    assert ends == ["t=0 P0.1 rendezvous failed (not_aligned)"]
    alone = [MoveToBlock(block=0, face=LEFT), Rendezvous(block=0, face=LEFT, count=2, timeout=4)]
    _, ends = act(OPEN, alone, [Idle(steps=60)], steps=12)
    assert ends[1] == "t=7 P0.1 rendezvous timeout (too_few_agents 1 of 2)"


def test_waiting_in_vain_at_a_face_is_an_attempt_that_lacked_a_quorum():
    wait = [MoveToBlock(block=0, face=LEFT), Rendezvous(block=0, face=LEFT, count=3, timeout=4)]
    still = Thought(Plan((Idle(steps=60),)))
    minds = [Scripted(Thought(Plan(tuple(wait))), still), Scripted(Thought(Plan(tuple(wait))), still), Scripted(still)]
    events = play(minds, world("..0AA...|\n..1AA...|\n2.......|", 12))
    (tried,) = (s for s in events if s.event.kind == "outcome" and s.event.attempts)
    ends = [s for s in events if s.event.kind == "action" and s.event.status == "timeout"]
    assert {s.t for s in ends} == {tried.t}  # they give up together, and it is reported with the step that follows
    (attempt,) = tried.event.attempts
    assert attempt["task"] == {"kind": "push", "target": "block_0/left"}
    assert (attempt["agents"], attempt["succeeded"], *attempt["missing"]) == ((0, 1), False, "temporal")
    alone = [Scripted(Thought(Plan(tuple(wait))), still), Scripted(still), Scripted(still)]
    found = compute_metrics(Trace(tuple(play(alone, world("..0AA...|\n...AA...|\n12......|", 12)))))
    assert (found["constraints.attempts"], found["constraints.missing_participation"]) == (1, 1)
    assert found["constraints.violation_spatial"] == 1 / 2


def test_each_face_has_its_own_rendezvous():
    left = [MoveToBlock(block=0, face=LEFT), Rendezvous(block=0, face=LEFT, count=2, timeout=3)]
    down = [MoveToBlock(block=0, face=DOWN), Rendezvous(block=0, face=DOWN, count=2, timeout=3)]
    _, ends = act(OPEN, left, down, steps=12)
    assert [end.split(" ", 2)[2] for end in ends[2:]] == ["rendezvous timeout (too_few_agents 1 of 2)"] * 2


def test_a_push_counts_cells_that_the_block_moved_not_attempts():
    board = """
        .........|
        0AA......|
        .AA......|
        1........|
        .........|
        .........|
        .........|
        .........|
        .........|
        .........|
    """
    late = [Idle(steps=3), MoveToBlock(block=0, face=LEFT), PushBlock(block=0, steps=2)]
    cube, ends = act(board, [PushBlock(block=0, steps=2)], late, steps=12)
    assert ends[-2:] == ["t=6 P0.1 push_block success", "t=6 P1.1 push_block success"]
    assert cube.env.snapshot().blocks[0].col == 3


def test_a_push_that_delivers_is_a_success_and_what_comes_too_late_fails_with_block_gone():
    board = """
        ......|
        ...0A.|
        1.....|
        ......|
        ......|
        ......|
        ......|
    """
    cube, ends = act(board, [PushBlock(block=0, steps=9)], [MoveToBlock(block=0, face=RIGHT)], steps=12)
    assert ends == ["t=2 P0.1 push_block success", "t=2 P1.1 move_to_block failed (block_gone)"]
    assert cube.progress().reached == 1


def test_a_push_from_nowhere_fails_and_one_without_force_times_out_with_its_count():
    _, ends = act(OPEN, [PushBlock(block=0)], [Idle(steps=60)], steps=3)
    assert ends == ["t=0 P0.1 push_block failed (not_aligned)"]
    weak = [MoveToBlock(block=0, face=LEFT), PushBlock(block=0, steps=2, timeout=3)]
    _, ends = act(OPEN, weak, [Idle(steps=60)], steps=12)
    assert ends[1] == "t=6 P0.1 push_block timeout (moved_too_little 0 of 2)"


def test_a_plan_on_a_block_that_does_not_exist_or_with_too_large_a_quorum_is_refused_with_numbers():
    cube = world(OPEN)
    cube.reset(0)
    plan = Plan((MoveToBlock(block=7, face=LEFT), Rendezvous(block=0, face=LEFT, count=3)))
    unknown, crowd = cube.check_plan(0, plan)
    assert "there is no block_7; ids go from 0 to 0" in unknown
    assert "count 3 is more than the 2 agents" in crowd


def test_the_history_shows_primitives_and_ends():
    cube, _ = act(OPEN, [MoveToBlock(block=0, face=LEFT), PushBlock(block=0, timeout=2)], [Idle(steps=60)], steps=12)
    moved, pushed = cube.observe(0).history[:2]
    assert (moved.action, moved.args["face"], moved.status) == ("move_to_block", "left", "success")
    assert len(moved.primitives) == 3
    assert (pushed.primitives, pushed.status, pushed.reason) == ((4, 4), "timeout", "moved_too_little 0 of 1")
