"""The open tasks of a board, by hand and against the constraints of a step."""

import numpy as np
import pytest

from cube_env import (
    CubeState,
    Face,
    Idle,
    Layout,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    YieldBlock,
)
from cube_env.observation import symbolic_blocks
from cube_env.symbolic.actions import Entity
from cube_env.symbolic.tasks import TaskBoard, open_tasks
from maeil.plans import Plan, Task
from maeil.tasks import OpenTask
from maeil.world import NEAREST
from tests.cube_env.boards import board, dense_layout


def state(drawn):
    return CubeState.from_layout(Layout.parse(board(drawn)))


def reported(drawn, *plans, text=""):
    found = state(drawn)
    return open_tasks(found, [*plans, *[None] * (len(found.agents) - len(plans))], text)


def push(block, face="left", **more):
    return OpenTask(Task("push", f"block_{block}/{face}"), **more)


def test_it_names_who_is_in_place_who_has_planned_it_and_how_many_more_it_takes():
    drawn = "...AAA.|\n...AAA.|\n.10AAA.|\n2......|"
    plan = Plan((MoveToBlock(block=0, face=Face.left), Rendezvous(block=0, face=Face.left, count=3)))
    assert reported(drawn, plan, None, plan) == [push(0, needs=3, more=1, in_place=(0, 1), planned=(0, 2))]


def test_what_stands_in_front_is_named_and_blocks_in_front_add_their_weight():
    first, second = reported("0ABB..|\n..BB..|")
    assert first == push(0, needs=3, more=2, in_place=(0,), before=("block_1",))
    assert second == push(1, needs=2, more=2, in_place=())
    (stuck,) = reported("0A1.|")
    assert (stuck.more, stuck.before) == (0, ("agent_1",))
    (walled,) = reported("0A..|", Plan((Rendezvous(block=0, face=Face.down, count=1),)))
    assert (walled.task.target, walled.before) == ("block_0/down", ("wall",))


@pytest.mark.parametrize(
    ("plan", "target"),
    [
        (Plan((MoveToBlock(block=1, face=Face.up), PushBlock(block=1))), "block_1/up"),
        (Plan((PushBlock(block=1),)), "block_1/left"),
        (Plan((Navigate(entity=Entity.block, id=1),)), "block_1/left"),
        (Plan((Idle(),), Task("deliver", "block_1")), "block_1/left"),
        (Plan((Idle(),), Task("push", "block_1/right")), "block_1/right"),
        (Plan((PushBlock(block=7), PushBlock(block=1))), "block_1/left"),  # block 7 is not there
        (Plan((YieldBlock(block=1, face=Face.left),)), None),
        (Plan((Idle(),), Task("look", "around")), None),
    ],
)
def test_a_plan_names_its_task_by_its_actions_or_its_words(plan, target):
    found = [task.task.target for task in reported("0A..|\n.B..|", plan) if task.planned]
    assert found == ([] if target is None else [target])


@pytest.mark.parametrize(
    ("plan", "target"),
    [
        (Plan((PushBlock(block=0),)), "block_0/up"),
        (Plan((PushTowards(block=0),)), "block_0/up"),
        (Plan((PushBlock(block=0),), Task("push", "block_0")), "block_0/up"),
        (Plan((PushBlock(block=0),), Task("push", "block_0/down")), "block_0/down"),
        (Plan((Rendezvous(block=0, face=Face.right, count=1), PushBlock(block=0))), "block_0/right"),
        (Plan((Idle(),), Task("deliver", "block_0")), "block_0/left"),
    ],
)
def test_a_push_without_a_named_face_is_at_the_face_where_its_agent_stands(plan, target):
    (found,) = [task.task.target for task in reported("0..|\nA..|\n...|", plan) if task.planned]
    assert found == target


def test_of_tasks_that_nobody_plans_the_nearest_are_shown():
    tasks = reported("0.A.B.C.D.E.F.G.H..|", Plan((PushBlock(block=7),)))
    assert [task.task.target for task in tasks] == [f"block_{block}/left" for block in (7, *range(NEAREST))]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("agent_0: block_7; agent_1: block_9.", ["block_7/left"]),  # block 9 is not there
        ("block 7 from above: block_7/up", ["block_7/left", "block_7/up"]),
        ("block_0/left, then block_6", ["block_0/left", "block_6/left"]),
        ("my block_7x, subblock_7, block_70, block_99999999999999999999", []),
    ],
)
def test_what_a_text_names_is_shown_however_far_it_is(text, first):
    tasks = [task.task.target for task in reported("0.A.B.C.D.E.F.G.H..|", text=text)]
    named = {target.partition("/")[0] for target in first}
    nearest = [f"block_{block}/left" for block in range(8) if f"block_{block}" not in named]
    assert tasks == [*first, *nearest[:NEAREST]]


def test_before_a_delivery_come_all_blocks_on_its_way_and_its_needs_are_of_the_next_push():
    deliver, *_ = reported("0A..B.|")
    assert deliver == push(0, needs=1, more=0, in_place=(0,), before=("block_1",))
    up, *_ = reported("B...|\n....|\nA0C.|", text="block_1/down block_0/down")
    assert up == push(0, "down", needs=1, more=1, in_place=()), "a push aside has no way to go"


@pytest.mark.parametrize("seed", range(5))
def test_the_blocks_before_a_delivery_are_those_that_an_observation_has_ahead(seed):
    found = CubeState.from_layout(dense_layout(np.random.default_rng(seed), 9, 6, 8, 3))
    text = " ".join(f"block_{block}" for block in range(len(found.blocks)))
    tasks = {task.task.target: set(task.before) for task in open_tasks(found, [None] * len(found.agents), text)}
    for block in symbolic_blocks(found.block_views(), found.grid):
        assert {f"block_{other}" for other in block.ahead} <= tasks[f"block_{block.id}/left"]


@pytest.mark.parametrize("seed", range(20))
def test_it_says_by_name_what_the_constraints_count(seed):
    rng = np.random.default_rng(seed)
    found = CubeState.from_layout(dense_layout(rng, 9, 6, 8, 3))
    n, faces = len(found.agents), list(Face)
    joint, nobody = np.zeros(n, dtype=np.int64), np.full(n, -1, dtype=np.int32)
    counted = {
        state.task.target: (state.threshold, state.spatial, state.dependency)
        for state in TaskBoard(found).changed_by(joint, nobody, nobody)
    }
    for face in faces:
        plans = [Plan((Rendezvous(block=agent % len(found.blocks), face=face, count=1),)) for agent in range(n)]
        for task in open_tasks(found, plans):
            hindered = any(not name.startswith("block_") for name in task.before)
            assert (task.needs, len(task.in_place), not hindered) == counted[task.task.target]
            assert task.more == max(0, task.needs - len(task.in_place))
