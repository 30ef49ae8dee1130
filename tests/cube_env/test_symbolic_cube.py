"""The actions of the vocabulary `cube` that neither go to a block nor push it, and what every action has in common."""

import pytest

from cube_env import (
    Direction,
    Entity,
    Face,
    Idle,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    Rendezvous,
    WaitAgents,
    YieldBlock,
)
from maeil import Plan, Task
from maeil.errors import InvalidThought
from tests.cube_env.acting import OPEN, act, drive, world


def cells(cube):
    return cube.env.snapshot().agents


def test_a_move_walks_its_steps():
    cube, ends = act(OPEN, [Move(direction="right", steps=3)], [Idle(steps=60)], steps=5)
    assert ends == ["t=3 P0.1 move success"]
    assert cells(cube)[0] == (1, 3)


@pytest.mark.parametrize(("direction", "cell"), [("up", (4, 0)), ("down", (6, 0)), ("right", (5, 1)), ("left", (5, 0))])
def test_a_move_goes_where_it_says_and_a_wall_counts_as_an_attempt(direction, cell):
    cube, ends = act(OPEN, [Idle(steps=60)], [Move(direction=direction)], steps=3)
    assert ends == ["t=1 P1.1 move success"]
    assert cells(cube)[1] == cell


def test_a_step_that_the_board_does_not_allow_counts_as_an_attempt():
    board = """
        0.1..|
        .....|
        ..A..|
    """
    cube, ends = act(board, [Move(direction=Direction.right, steps=3)], [Idle(steps=60)], steps=5)
    assert ends == ["t=3 P0.1 move success"]
    assert cells(cube)[0] == (0, 1)


@pytest.mark.parametrize(
    ("face", "start", "end"),
    [("left", (2, 2), (2, 0)), ("right", (2, 5), (2, 7)), ("up", (1, 3), (0, 3)), ("down", (4, 3), (6, 3))],
)
def test_who_yields_steps_straight_back_from_its_face(face, start, end):
    plan = [MoveToBlock(block=0, face=face), YieldBlock(block=0, face=face, steps=2)]
    cube, ends = act(OPEN, plan, [Idle(steps=60)], steps=20)
    assert ends[1].endswith("P0.1 yield_block success")
    assert cells(cube)[0] == end
    assert cube.observe(0).history[1].primitives == ({"left": 3, "right": 4, "up": 1, "down": 2}[face],) * 2


def test_who_yields_without_being_at_the_face_fails():
    assert drive(world(OPEN), YieldBlock(block=0, face="left"), Idle()) == ["0 failed not_aligned", "1 success"]


def test_an_agent_may_yield_from_a_line():
    board = """
        .......|
        .10A...|
        .......|
        .......|
        .......|
        .......|
        .......|
        .......|
    """
    cube = world(board)
    assert drive(cube, YieldBlock(block=0, face="left"), YieldBlock(block=0, face="left")) == ["1 success"] * 2
    # the one in front is stopped by the one behind it, whose cell is vacated in the same step
    assert cells(cube) == ((1, 2), (1, 0))


def test_who_waits_for_agents_is_released_together_with_them():
    wait = WaitAgents(count=2)
    _, ends = act(OPEN, [wait, Move(direction="right")], [Idle(steps=4), wait, Move(direction="right")], steps=9)
    assert ends == [
        "t=4 P0.1 wait_agents success",
        "t=4 P1.1 wait_agents success",
        "t=5 P0.1 move success",
        "t=5 P1.1 move success",
    ]


def test_an_agent_whose_plan_is_over_counts_as_there():
    _, ends = act(OPEN, [WaitAgents(count=2)], [Move(direction="right", steps=3)], steps=9)
    assert ends == ["t=3 P1.1 move success", "t=3 P0.1 wait_agents success"]


def test_an_agent_between_two_actions_of_its_plan_does_not_count_as_there():
    busy = [Move(direction="right"), Move(direction="right"), Move(direction="right")]
    # agent 0 moves and 1 waits: within each pass agent 1 is asked after agent 0's action has ended
    _, ends = act(OPEN, busy, [WaitAgents(count=2)], steps=9)
    assert ends[-1] == "t=3 P1.1 wait_agents success"


def test_each_waits_for_its_own_number():
    board = """
        0.....|
        1.....|
        2.....|
        ..A...|
    """
    pair, trio = WaitAgents(count=2), WaitAgents(count=3, timeout=5)
    assert drive(world(board), pair, trio, Idle(steps=3)) == ["0 success", "3 success", "3 success"]


def test_waiting_for_agents_ends_when_nobody_comes():
    assert drive(world(OPEN), WaitAgents(count=2, timeout=4), Idle(steps=9))[0] == "4 timeout too_few_agents 1 of 2"
    assert drive(world(OPEN), WaitAgents(count=1), Idle()) == ["0 success", "1 success"]


ON_BLOCKS = [
    MoveToBlock(block=7, face="left"),
    Rendezvous(block=7, face="left", count=1),
    PushBlock(block=7),
    YieldBlock(block=7, face="left"),
]


@pytest.mark.parametrize("action", ON_BLOCKS, ids=lambda action: action.action)
def test_an_action_on_a_block_that_never_was_is_refused_and_ends_failed_if_it_runs(action):
    cube = world(OPEN)
    (problem,) = cube.check_plan(0, Plan((action,)))
    assert "there is no block_7; ids go from 0 to 0" in problem
    assert drive(cube, action, Idle()) == ["0 failed no_such_block 7", "1 success"]


DELIVERS = """
    ...0A|
    1....|
    B....|
"""


@pytest.mark.parametrize("action", ON_BLOCKS, ids=lambda action: action.action)
def test_an_action_on_a_delivered_block_is_refused_and_ends_failed_if_it_runs(action):
    cube = world(DELIVERS)
    cube.step([4, 0])
    action = action.model_copy(update={"block": 0})
    assert cube.check_plan(0, Plan((action,))) == (f"{action}: block_0 is delivered",)
    assert drive(cube, action, ticks=1) == ["0 failed block_gone"]


def test_a_plan_is_for_a_block_that_is_there():
    cube = world(DELIVERS)
    cube.step([4, 0])
    faces = [f"block_1/{face}" for face in Face]
    assert cube.tasks(0) == {"deliver": ["block_1"], "stand_by": ["block_1"], "push": faces}
    listed = [Task(kind, target) for kind, targets in cube.tasks(0).items() for target in targets]
    assert not any(cube.check_plan(0, Plan((Idle(),), task)) for task in listed)
    targets = ("block_0", "block_7", "block_01", "block_1/left", "block_1 ", "blocks")
    for task in (*(Task("deliver", target) for target in targets), Task("push", "block_1"), Task("carry", "block_1")):
        named = "deliver:block_1, stand_by:block_1, push:block_1/left, push:block_1/right"
        assert cube.check_plan(0, Plan((Idle(),), task)) == (
            f"there is no task {task}; there are, for example, {named}",
        )


def test_a_delivery_ends_what_others_do_with_the_block():
    assert drive(world("..10A|"), PushBlock(block=0), Rendezvous(block=0, face="left", count=2)) == [
        "1 success",
        "1 failed block_gone",
    ]
    yielding = YieldBlock(block=0, face="up", steps=3)
    assert drive(world("....1|\n...0A|"), PushBlock(block=0), yielding) == ["1 success", "1 failed block_gone"]
    going = MoveToBlock(block=0, face="down")
    assert drive(world("...0A|\n.....|\n1....|"), PushBlock(block=0), going) == ["1 success", "1 failed block_gone"]


def test_a_block_that_others_move_away_ends_a_push_as_not_aligned():
    board = """
        ......|
        0A....|
        .1....|
    """
    assert drive(world(board), PushBlock(block=0, steps=9), PushBlock(block=0)) == ["1 failed not_aligned", "1 success"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"action": "fly"}, "unknown action 'fly'; the actions are: move, move_to_block, rendezvous, push_block"),
        ({"action": "navigate", "entity": "goal"}, "unknown action 'navigate'"),
        ({"action": "move", "direction": "north"}, "direction: Input should be 'up', 'down', 'left' or 'right'"),
        ({"action": "move", "direction": "up", "steps": 0}, "steps: Input should be greater than or equal to 1"),
        ({"action": "move", "direction": "up", "steps": 10**9}, "steps: Input should be less than or equal to 10000"),
        ({"action": "idle", "steps": -1}, "steps: Input should be greater than or equal to 1"),
        ({"action": "push_block", "block": -1}, "block: Input should be greater than or equal to 0"),
        ({"action": "push_block", "block": 0, "timeout": 0}, "timeout: Input should be greater than or equal to 1"),
        ({"action": "push_block", "block": 0, "timeout": 10**9}, "timeout: Input should be less than or equal to"),
        ({"action": "move_to_block", "block": 0, "face": "top"}, "face: Input should be 'left', 'right', 'up' or"),
        ({"action": "rendezvous", "block": 0, "face": "left", "count": 0}, "count: Input should be greater than"),
        ({"action": "wait_agents", "count": 10**9}, "count: Input should be less than or equal to 10000"),
        ({"action": "wait_agents"}, "count: Field required"),
    ],
)
def test_absurd_arguments_are_refused_with_their_range(data, message):
    with pytest.raises(InvalidThought, match=message.replace("(", r"\(")):
        world(OPEN).vocabulary.parse(data)


def test_waiting_for_more_agents_than_there_are_is_refused():
    (problem,) = world(OPEN).check_plan(0, Plan((WaitAgents(count=3),)))
    assert "count 3 is more than the 2 agents of the team" in problem


def test_the_running_action_stands_last_in_the_history():
    cube = world(OPEN)
    first = cube.start_action(0, Move(direction="right", steps=5))
    assert [(entry.action, entry.status) for entry in cube.observe(0).history] == [("move", "running")]
    first.status()
    first.act()
    assert cube.observe(0).history[0].primitives == (4,)
    first.close()
    cube.start_action(0, Idle())
    history = cube.observe(0).history
    assert [(entry.action, entry.status) for entry in history] == [("move", "cancelled"), ("idle", "running")]
    assert history[0].args == {"direction": "right", "steps": 5}
    assert cube.observe(1).history == ()


def test_the_history_keeps_the_last_five_ends():
    cube, _ = act(OPEN, [Move(direction="right")] * 3 + [Move(direction="left")] * 4, [Idle(steps=60)], steps=7)
    assert [entry.primitives for entry in cube.observe(0).history] == [(4,), (3,), (3,), (3,), (3,)]


@pytest.mark.parametrize("face", list(Face))
def test_reasons_begin_with_an_identifier(face):
    ends = drive(
        world(OPEN), MoveToBlock(block=0, face=face, timeout=1), Rendezvous(block=0, face=face, count=2, timeout=1)
    )
    assert [end.split()[2].isidentifier() for end in ends] == [True, True]


IN_EACH_OTHERS_WAY = """
    ..........|
    ..........|
    AA.1.BB...|
    AA.02BB...|
    ..........|
    ..........|
    ...CC.....|
    ...CC.....|
    ..........|
    ..........|
    ..........|
"""
"""Agent 0 goes to the free cell left of B, agent 1 to C's left: both turn aside at once, and back at once."""


@pytest.mark.parametrize("vocabulary", ["cube", "emcoop"])
def test_two_that_turn_aside_at_once_do_not_dodge_each_other_for_ever(vocabulary):
    if vocabulary == "cube":
        ways = MoveToBlock(block=1, face=Face.left), MoveToBlock(block=2, face=Face.left)
    else:
        ways = Navigate(entity=Entity.cell, cell=(2, 4)), Navigate(entity=Entity.cell, cell=(6, 2))
    crowd = world(IN_EACH_OTHERS_WAY, 100, vocabulary=vocabulary)
    assert drive(crowd, *ways, crowd.idle.model_copy(update={"steps": 40}))[:2] == ["7 success", "9 success"]
