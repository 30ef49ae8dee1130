"""The constraints of every task, by hand and against a slow version in plain Python."""

import numpy as np
import pytest

from cube_env import CubeState, Face, Layout, MoveToBlock, PushBlock, PushTowards
from cube_env.constants import PUSH_DIRECTION
from cube_env.symbolic.tasks import TaskBoard, push_task
from maeil import Plan
from maeil.metrics.task_history import cooperative
from tests.cube_env.acting import world
from tests.cube_env.boards import LETTERS, board, dense_layout, herd_actions
from tests.cube_env.slow_constraints import slow_constraints

NOBODY = np.full(64, -1, dtype=np.int32)


def rows(served):
    """The rows of tasks, as the kernel has them."""
    return np.array([-1 if key is None else 4 * key[0] + PUSH_DIRECTION[key[1]] - 1 for key in served], dtype=np.int32)


def states(drawn, letters, pushing=None, served=None):
    """The numbers of all tasks by target: p, spatial, temporal, participation, joint, dependency."""
    layout = Layout.parse(board(drawn))
    state = CubeState.from_layout(layout)
    joint = np.array([LETTERS[letter] for letter in letters])
    named = NOBODY[: len(joint)] if pushing is None else np.array(pushing, dtype=np.int32)
    found = TaskBoard(state).changed_by(joint, named, rows(served or [None] * len(joint)))
    return {one.task.target: numbers(one)[:-1] for one in found}


def numbers(task):
    """The numbers of a task, and EmCoop's literal ones."""
    counts = task.threshold, task.spatial, task.temporal, task.participation, task.joint
    return *counts, task.dependency, task.literal


def literal(drawn):
    """EmCoop's literal p, spatial and dependency of all tasks by target; nobody moves."""
    state = CubeState.from_layout(Layout.parse(board(drawn)))
    still = np.zeros(len(state.agents), dtype=np.int64)
    found = TaskBoard(state).changed_by(still, NOBODY[: len(still)], NOBODY[: len(still)])
    return {one.task.target: one.literal for one in found}


def test_the_first_call_gives_every_task():
    found = states("....|\n.A..|\n0...|", ".")
    assert found == {f"block_0/{face}": (1, 0, 0, 0, 0, True) for face in Face}


def test_spatial_counts_face_cells_and_lines_and_joint_those_of_them_who_push():
    found = states("...AA..|\n210AA3.|", "RRRL")
    assert found["block_0/left"] == (2, 3, 3, 3, 3, False)
    assert found["block_0/right"] == (2, 1, 1, 1, 1, False)
    found = states("...AA..|\n210AA..|", "R.D")
    assert found["block_0/left"] == (2, 3, 1, 1, 1, True)


def test_a_gap_ends_a_line():
    assert states("1.0A..|", "RR")["block_0/left"] == (1, 1, 1, 1, 1, True)


def test_the_threshold_is_the_force_of_the_whole_chain():
    found = states("0ABB..|\n..BB..|", "R")
    assert found["block_0/left"] == (3, 1, 1, 1, 1, True)
    assert found["block_1/left"] == (2, 0, 0, 0, 0, True)
    assert found["block_1/right"] == (3, 0, 0, 0, 0, False)  # agent 0 stands in the way
    assert found["block_0/down"] == (1, 0, 0, 0, 0, False)


def test_emcoops_literal_form_has_the_weight_alone_nearness_and_no_dependency():
    found = literal("..1....|\n0.AABB.|\n.2AABB.|\n.......|")
    # agents 0 and 2 are near the left face of block 0; block 1 is in front, and an agent above is no obstacle
    assert found["block_0/left"] == (2, 2, 2)
    assert found["block_0/down"] == (2, 0, 2)
    assert found["block_0/up"] == (2, 1, 2)
    # its left face is block 0: no face cell, whoever is near
    assert found["block_1/left"] == (2, 0, 2)
    assert literal("0.....|\n1.AA..|\n.2AA..|\n..3...|")["block_0/left"] == (2, 2, 2)  # 0 and 3 are a corner off


@pytest.mark.parametrize(
    ("drawn", "target"),
    [("0A1.|", "block_0/left"), ("A0..|", "block_0/right"), ("0AB1|", "block_0/left"), ("0A..|", "block_0/down")],
)
def test_dependency_fails_where_more_force_would_not_help(drawn, target):
    assert states(drawn, "." * (2 if "1" in drawn else 1))[target][-1] is False


def test_who_pushes_a_block_symbolically_counts_as_temporal_from_anywhere():
    drawn = "..AA..|\n0.AA..|\n1.....|"
    assert states(drawn, "R.")["block_0/left"] == (2, 0, 0, 0, 0, True)
    assert states(drawn, "R.", [0, 0])["block_0/left"] == (2, 0, 1, 1, 0, True)
    # its primitive is the direction, and each agent counts once
    assert states(".0A..|", "R", [0])["block_0/left"] == (1, 1, 1, 1, 1, True)
    assert states(".0A..|", "D", [0])["block_0/up"] == (1, 0, 1, 1, 0, True)


def test_who_pushes_one_block_and_stands_at_another_counts_for_both_as_temporal():
    found = states("0A....|\n..B...|", "R", [1])
    assert found["block_0/left"] == (1, 1, 1, 1, 1, True)
    assert found["block_1/left"] == (1, 0, 1, 1, 0, True)


def test_who_plans_for_a_face_or_acts_at_it_takes_part_and_counts_once():
    drawn = "..AA..|\n0.AA..|\n1.....|\n2.....|"
    left, up = (0, Face.left), (0, Face.up)
    found = states(drawn, "R..", [0, -1, -1], [left, left, up])
    assert [numbers[3] for numbers in (found["block_0/left"], found["block_0/up"], found["block_0/right"])] == [2, 1, 0]
    assert states(drawn, "R..", [0, -1, -1], [up, None, None])["block_0/left"][3] == 1  # it acts against its plan


def test_a_plan_serves_the_first_block_of_it_that_is_there_and_nothing_behind_it():
    cube = world("0A.|\n.B.|\n1..|")
    go = [MoveToBlock(block=block, face=face) for block, face in ((0, Face.left), (1, Face.up))]
    plans = [None, Plan(tuple(go))]
    counts = {s.task.target: s.participation for s in cube.constraints([4, 0], plans)}
    assert {target for target, agents in counts.items() if agents} == {"block_0/left"}
    assert counts["block_0/left"] == 2
    cube.step([4, 0])
    cube.step([4, 0])  # block 0 is delivered
    found = {s.task.target: s.participation for s in cube.constraints([0, 0], plans) if s.threshold}
    assert found["block_1/up"] == 1


def test_only_changes_are_given():
    cube = world("..AA..|\n0.AA..|\n1.....|")
    assert len(cube.constraints([0, 0], [None] * 2)) == 4
    assert cube.constraints([0, 0], [None] * 2) == []
    cube.step([4, 0])
    way, state = sorted(cube.constraints([4, 0], [None] * 2), key=lambda changed: changed.dependency)
    assert (way.task.target, way.dependency) == ("block_0/right", False)
    assert (state.task.kind, state.task.target) == ("push", "block_0/left")
    assert (state.threshold, state.spatial, state.temporal, state.joint) == (2, 1, 1, 1)
    assert not cooperative(state)
    (state,) = cube.constraints([0, 0], [None] * 2)
    assert (state.spatial, state.temporal, state.joint) == (1, 0, 0)


def test_a_delivered_blocks_tasks_end_with_a_threshold_of_zero():
    cube = world("0A.|\n.B.|\n1..|")
    cube.constraints([4, 0], [None] * 2)
    cube.step([4, 0])
    cube.constraints([4, 0], [None] * 2)
    cube.step([4, 0])
    ended = [state for state in cube.constraints([0, 0], [None] * 2) if state.threshold == 0]
    assert sorted(state.task.target for state in ended) == [f"block_0/{face}" for face in sorted(Face)]
    assert {(s.spatial, s.temporal, s.participation, s.joint, s.dependency) for s in ended} == {(0, 0, 0, 0, False)}
    assert cube.constraints([0, 0], [None] * 2) == []


def test_a_reset_starts_over():
    cube = world("0A.|\n...|")
    cube.constraints([0], [None])
    cube.reset(0)
    assert len(cube.constraints([0], [None])) == 4


def test_the_running_symbolic_push_is_what_counts():
    cube = world("..AA..|\n0.AA..|\n1.....|", vocabulary="emcoop")
    cube.constraints([0, 0], [None] * 2)
    controller = cube.start_action(0, PushTowards(block=0))
    assert controller.status() is None
    joint = [controller.act(), 0]
    (state,) = cube.constraints(joint, [None] * len(joint))
    assert (state.task.target, state.spatial, state.temporal) == ("block_0/left", 0, 1)
    controller.close()
    (state,) = cube.constraints(joint, [None] * len(joint))
    assert state.temporal == 0


def test_attempts_tell_who_pushed_which_face_and_whether_it_came_off():
    cube = world("0AA...|\n1AA...|\n..2...|\n3.....|")
    attempts = cube.step([4, 4, 1, 0]).attempts
    assert [(a.task.kind, a.task.target, a.agents, a.succeeded) for a in attempts] == [
        ("push", "block_0/down", (2,), False),
        ("push", "block_0/left", (0, 1), True),
    ]
    cube = world(".0A|\n...|\nB..|")
    (attempt,) = cube.step([4]).attempts
    assert (attempt.task.target, attempt.succeeded) == ("block_0/left", True)


def test_every_attempts_task_was_given_before():
    cube = world("0AA...|\n1AA...|\n..2...|\n3.....|")
    known = {state.task for state in cube.constraints([4, 4, 1, 0], [None] * 4)}
    assert {attempt.task for attempt in cube.step([4, 4, 1, 0]).attempts} <= known


@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_agrees_with_plain_python_over_random_episodes(seed):
    rng = np.random.default_rng(seed)
    layout = dense_layout(rng, int(rng.integers(6, 14)), int(rng.integers(2, 16)), int(rng.integers(1, 10)), 4)
    n, blocks = len(layout.agents), len(layout.blocks)
    state = CubeState.from_layout(layout)
    watch = TaskBoard(state)
    known = {}
    for _ in range(60):
        joint = herd_actions(rng, n)
        pushing = np.where(rng.random(n) < 0.5, rng.integers(-1, blocks, n), -1).astype(np.int32)
        served = [(int(rng.integers(blocks)), rng.choice(list(Face))) if rng.random() < 0.7 else None for _ in range(n)]
        slow = slow_constraints(state.snapshot(), blocks, joint.tolist(), pushing.tolist(), served)
        expected = {push_task(*key): found for key, found in slow.items()}
        before = dict(known)
        for changed in watch.changed_by(joint, pushing, rows(served)):
            assert before.get(changed.task) != numbers(changed)
            known[changed.task] = numbers(changed)
        assert known == expected
        state.advance(joint)


def test_a_symbolic_push_from_a_face_names_its_block():
    cube = world("0A..|\n....|")
    controller = cube.start_action(0, PushBlock(block=0))
    assert controller.status() is None
    by_target = {state.task.target: state for state in cube.constraints([controller.act()], [None])}
    assert cooperative(by_target["block_0/left"])
