"""The vocabulary `emcoop`: every action, status and reason on hand-drawn boards."""

import pytest

from cube_env import Direction, Idle, Move, Navigate, PushBlock, PushTowards, Wait
from maeil import Plan
from maeil.errors import InvalidThought
from tests.cube_env.acting import OPEN, act, drive, world


def cube(board=OPEN, **options):
    return world(board, vocabulary="emcoop", **options)


def test_the_vocabulary_is_the_four_of_emcoop_and_doing_nothing_is_a_wait():
    made = cube()
    assert made.vocabulary.names == ("move", "wait", "push", "navigate")
    assert made.idle == Wait(steps=1)
    assert PushBlock(block=0) not in made.vocabulary
    assert world(OPEN).vocabulary.names == (
        "move", "move_to_block", "rendezvous", "push_block", "yield_block", "idle", "wait_agents",
    )  # fmt: skip
    assert world(OPEN).idle == Idle(steps=1)


def test_a_plan_runs_in_the_loop():
    plan = [
        Navigate(entity="block", id=0),
        PushTowards(block=0, steps=2),
        Wait(steps=2),
        Move(direction=Direction.left),
    ]
    _, ends = act(OPEN, plan[:2], [Wait(steps=60)], steps=9, vocabulary="emcoop")
    assert ends == ["t=3 P0.1 navigate success", "t=5 P0.1 push failed (insufficient_force 1 of 2)"]
    _, ends = act(OPEN, plan[2:], [Wait(steps=60)], steps=9, vocabulary="emcoop")
    assert ends == ["t=3 P0.1 move success"]


PUSHES = """
    .......|
    0AA....|
    1AA....|
    .......|
    .......|
    .......|
    .......|
    .......|
"""


def test_a_push_takes_all_its_steps_and_succeeds_when_one_of_them_moved_the_block():
    made = cube(PUSHES)
    assert drive(made, PushTowards(block=0, steps=3), PushTowards(block=0, steps=2)) == ["3 success", "2 success"]
    assert made.env.snapshot().blocks[0].col == 3


def test_a_push_that_delivers_ends_at_once():
    board = """
        ......|
        ...0A.|
        1.....|
        ......|
        ......|
        ......|
        ......|
    """
    assert drive(cube(board), PushTowards(block=0, steps=9), PushTowards(block=0, steps=9)) == [
        "2 success",
        "2 failed block_gone",
    ]


@pytest.mark.parametrize(
    ("board", "direction", "reason"),
    [
        ("0AA...|\n.AA...|", 4, "insufficient_force 1 of 2"),
        ("0A1...|", 4, "blocked_destination agent"),
        ("A0....|", 3, "blocked_destination wall"),
        ("0.A...|", 4, "no_contact"),
        ("0BA1..|", 4, "pushed_another_block 1"),
        ("0BB...|\n.BB...|\n..A...|", 4, "pushed_another_block 1"),
        # ties go horizontally, and the longer way decides
        ("0.....|\n.A....|", 4, "no_contact"),
        ("0.....|\n......|\n.A....|", 2, "no_contact"),
        (".A....|\n......|\n0.....|", 1, "no_contact"),
        ("......|\n.AA...|\n.AA...|\n..0...|", 1, "insufficient_force 1 of 2"),
    ],
)
def test_a_push_goes_along_the_longer_way_to_the_centre_and_says_why_it_moved_nothing(board, direction, reason):
    plans = [PushTowards(block=0), *([Wait()] if "1" in board else [])]
    made = cube(board)
    assert drive(made, *plans)[0] == f"1 failed {reason}"
    assert made.observe(0).history[0].primitives == (direction,)


def test_a_push_of_a_block_by_way_of_another_moves_it():
    board = """
        .......|
        10BA...|
        .......|
        .......|
        .......|
        .......|
        .......|
        .......|
    """
    assert drive(cube(board), PushTowards(block=0), PushTowards(block=0)) == ["1 success", "1 success"]


@pytest.mark.parametrize(
    ("place", "ticks", "cell"),
    [
        ({"entity": "block", "id": 0}, 3, (2, 2)),
        ({"entity": "agent", "id": 1}, 3, (4, 0)),
        ({"entity": "goal"}, 8, (1, 8)),
        ({"entity": "cell", "cell": (0, 2)}, 3, (0, 2)),
    ],
)
def test_navigate_goes_by_a_shortest_way_to(place, ticks, cell):
    made = cube()
    assert drive(made, Navigate(**place), Wait())[0] == f"{ticks} success"
    assert made.env.snapshot().agents[0] == cell


def test_who_is_there_takes_no_step():
    board = "...0\n12.|\nA..|"
    made = cube(board)
    places = [Navigate(entity="goal"), Navigate(entity="agent", id=2), Navigate(entity="cell", cell=(1, 1))]
    assert drive(made, *places) == ["0 success"] * 3


def test_navigate_goes_around_blocks_and_says_when_there_is_no_way():
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
    for place in ({"entity": "goal"}, {"entity": "cell", "cell": (5, 5)}, {"entity": "cell", "cell": (0, 1)}):
        assert drive(cube(walled), Navigate(**place)) == ["0 failed no_path"]
    assert drive(cube(walled), Navigate(entity="block", id=2)) == ["0 failed no_staging_cell"]


def test_navigate_waits_before_a_taken_cell_and_gives_up_after_its_timeout():
    made = cube()
    ends = drive(made, Navigate(entity="cell", cell=(5, 0), timeout=6), Wait(steps=9))
    assert ends[0] == "6 timeout not_reached after 6 steps"
    assert made.env.snapshot().agents[0] == (4, 0)


def test_navigate_follows_an_agent_that_moves():
    made = cube()
    follow, flee = Navigate(entity="agent", id=1, timeout=40), Move(direction="right", steps=5)
    assert drive(made, follow, flee)[0].endswith("success")
    rows, cols = zip(*made.env.snapshot().agents, strict=True)
    assert abs(rows[0] - rows[1]) + abs(cols[0] - cols[1]) == 1


@pytest.mark.parametrize(
    ("action", "reason", "words"),
    [
        (PushTowards(block=4), "no_such_block 4", "there is no block_4; ids go from 0 to 0"),
        (Navigate(entity="block", id=4), "no_such_block 4", "there is no block_4"),
        (Navigate(entity="agent", id=4), "no_such_agent 4", "there is no agent 4; indices go from 0 to 1"),
        (Navigate(entity="agent", id=0), "navigates_to_itself", "cannot navigate to itself"),
        (Navigate(entity="cell", cell=(0, 9)), "outside_the_grid 0 9", r"(0, 9) is outside the grid of side 9"),
        (Navigate(entity="cell", cell=(-1, 0)), "outside_the_grid -1 0", "outside the grid"),
    ],
)
def test_what_is_not_on_the_board_is_refused_and_ends_failed_if_it_runs(action, reason, words):
    made = cube()
    (problem,) = made.check_plan(0, Plan((action,)))
    assert words in problem
    assert drive(made, action, Wait())[0] == f"0 failed {reason}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"entity": "agent"}, "entity agent needs an id"),
        ({"entity": "block", "cell": [1, 1]}, "entity block needs an id"),
        ({"entity": "block", "id": 0, "cell": [1, 1]}, "entity block takes no cell"),
        ({"entity": "goal", "id": 1}, "entity goal takes no id"),
        ({"entity": "cell"}, "entity cell needs a cell"),
        ({"entity": "wall"}, "'agent', 'block', 'goal' or 'cell'"),
        ({"entity": "agent", "id": -1}, "id: Input should be greater than or equal to 0"),
        ({"entity": "goal", "timeout": 0}, "timeout: Input should be greater than or equal to 1"),
    ],
)
def test_navigate_needs_exactly_what_names_its_place(data, message):
    with pytest.raises(InvalidThought, match=message):
        cube().vocabulary.parse({"action": "navigate", **data})
