"""Repair in CUBE: boards made by hand that trip each constraint, for both predictors, and the advised teams."""

from __future__ import annotations

import numpy as np
import pytest

from cube_env import Direction, Entity, Face, Idle, Move, MoveToBlock, Navigate, PushBlock, PushTowards, Rendezvous
from cube_env.world import CubeWorld
from maeil import LoopSettings, Plan, Task, Thought
from maeil.judging import Moment
from maeil.plans import LivePlan
from maeil.tasks import Constraint
from maeil.trace.reader import Trace
from quorum.agents.skills import role_of
from quorum.methods.repair.gate import Repair, RepairConfig
from quorum.methods.repair.metrics import judged_groups
from quorum.methods.repair.rollout import roll_out
from tests.cube_env.acting import world
from tests.maeil.scripted import Scripted, play

LEFT = Face.left
PAIR = """
    ........|
    0..AA...|
    1..AA...|
    ........|
    ......B.|
    ........|
    2.......|
    ........|
    ........|
"""
"""Block 0 takes two agents, who stand two steps from its face; block 1 is for agent 2."""


def deliver(block: int, count: int = 1, timeout: int = 20, steps: int = 1) -> Plan:
    meeting = Rendezvous(block=block, face=LEFT, count=count, timeout=timeout)
    return Plan((MoveToBlock(block=block, face=LEFT), meeting, PushBlock(block=block, steps=steps)))


def at_once(block: int, wait: int = 0, timeout: int = 1) -> Plan:
    before = (Idle(steps=wait),) if wait else ()
    return Plan((*before, MoveToBlock(block=block, face=LEFT), PushBlock(block=block, steps=1, timeout=timeout)))


def idle() -> Plan:
    return Plan((Idle(steps=30),))


def moment(cube: CubeWorld, *plans: Plan) -> Moment:
    rules = role_of("cube", "repair", "repair")(cube)
    served = {agent: rules.task_of(cube, agent, plan) for agent, plan in enumerate(plans)}
    tasks = {agent: task for agent, task in served.items() if task is not None}
    live = [LivePlan(f"P{agent}.1", agent, plan) for agent, plan in enumerate(plans)]
    return Moment(cube, live, [None] * len(plans), {}, tasks, {})


def expected(found) -> dict[str, set[Constraint]]:
    by_task: dict[str, set[Constraint]] = {}
    for violation in found:
        by_task.setdefault(violation.task.target, set()).add(violation.constraint)
    return by_task


def both(cube: CubeWorld, *plans: Plan):
    now = moment(cube, *plans)
    return expected(role_of("cube", "repair", "repair")(cube).predict(now)), expected(roll_out(now, 60))


def test_a_team_that_meets_moves_its_block():
    assert both(world(PAIR), deliver(0, 2), deliver(0, 2), deliver(1)) == ({}, {})


def test_one_alone_at_a_block_for_two_violates_participation_and_all_that_follows():
    alone = {Constraint.PARTICIPATION, Constraint.SPATIAL, Constraint.TEMPORAL}
    assert both(world(PAIR), at_once(0), idle(), idle()) == ({"block_0/left": alone}, {"block_0/left": alone})


def test_one_who_gives_up_before_the_other_comes_violates_temporal_and_is_alone_at_the_face():
    """Only agents that push at the same time count as in place (published)."""
    heuristic, exact = both(world(PAIR), at_once(0), at_once(0, wait=9), idle())
    assert heuristic == {"block_0/left": {Constraint.SPATIAL, Constraint.TEMPORAL}}
    assert Constraint.TEMPORAL in exact["block_0/left"]


@pytest.mark.parametrize(("wait", "misses"), [(2, False), (3, True)])
def test_pushes_may_miss_each_other_by_one_step(wait, misses):
    """The first pushes in its steps 2 and 3 (published tolerance: 1 step)."""
    heuristic, _ = both(world(PAIR), at_once(0), at_once(0, wait=wait), idle())
    assert ("block_0/left" in heuristic) == misses


def test_a_team_that_is_too_small_for_a_block_violates_participation():
    cube = world("""
        ........|
        ...AAA..|
        0..AAA..|
        1..AAA..|
        ........|
        ........|
        ........|
        ........|
        ........|
    """)
    heuristic, exact = both(cube, at_once(0, timeout=3), at_once(0, timeout=3))
    assert Constraint.PARTICIPATION in heuristic["block_0/left"]
    assert Constraint.PARTICIPATION in exact["block_0/left"]


def test_an_agent_in_front_violates_the_dependency_and_the_published_rule_does_not_see_it():
    cube = world("""
        ........|
        ........|
        0..A1...|
        ........|
        ........|
        ........|
        ........|
        ........|
        ........|
    """)
    assert both(cube, at_once(0), idle()) == ({}, {"block_0/left": {Constraint.DEPENDENCY}})


def test_a_block_in_front_weighs_in_and_the_published_rule_does_not_see_it():
    cube = world("""
        ........|
        ........|
        0..AB...|
        1.......|
        ........|
        ........|
        ........|
        ........|
        ........|
    """)
    assert both(cube, at_once(0), idle()) == (
        {}, {"block_0/left": {Constraint.PARTICIPATION, Constraint.SPATIAL, Constraint.TEMPORAL}}
    )  # fmt: skip


def test_a_blind_walk_goes_where_it_says():
    """The authors' code exchanges rows and columns; here two steps to the right lead to the face."""
    walk = Plan((Move(direction=Direction.right, steps=2), PushBlock(block=0, steps=1, timeout=4)))
    assert both(world(PAIR), walk, at_once(0, timeout=4), idle())[0] == {}


def test_who_waits_for_more_than_come_to_the_meeting_never_pushes():
    heuristic, exact = both(world(PAIR), deliver(0, 3, timeout=6), deliver(0, 3, timeout=6), idle())
    assert set(heuristic["block_0/left"]) == {Constraint.SPATIAL, Constraint.TEMPORAL}
    assert "block_0/left" in exact


def test_the_words_of_emcoop_are_read_as_well():
    cube = world(PAIR, vocabulary="emcoop")

    def plan(steps: int) -> Plan:
        return Plan((Navigate(entity=Entity.block, id=0), PushTowards(block=0, steps=steps)))

    nothing = Plan((Navigate(entity=Entity.cell, cell=(8, 0)),))
    assert both(cube, plan(4), plan(4), nothing) == ({}, {})
    assert both(cube, plan(4), nothing, nothing)[0] == {
        "block_0/left": {Constraint.PARTICIPATION, Constraint.SPATIAL, Constraint.TEMPORAL}
    }


def test_a_push_from_nowhere_is_one_from_the_left():
    cube = world(PAIR)
    plan = Plan((PushBlock(block=0, steps=1),))
    assert role_of("cube", "repair", "repair")(cube).task_of(cube, 0, plan) == Task("push", "block_0/left")
    assert role_of("cube", "repair", "repair")(cube).task_of(cube, 0, idle()) is None


def test_advice_staffs_the_failing_block_with_those_who_are_nearest_and_free():
    cube = world(PAIR)
    now = moment(cube, at_once(0), idle(), deliver(1))
    rules = role_of("cube", "repair", "repair")(cube)
    advice = rules.advise(now, rules.predict(now))
    assert advice is not None
    assert (advice.task, advice.agents) == (Task("push", "block_0/left"), (0, 1))
    assert rules.predict(moment(cube, advice.plans[0], advice.plans[1], deliver(1))) == []
    assert roll_out(moment(cube, advice.plans[0], advice.plans[1], deliver(1)), 60) == []


def test_advice_takes_nobody_from_a_block_that_will_be_moved_as_long_as_others_are_free():
    cube = world(PAIR)
    now = moment(
        cube,
        deliver(0, 2),
        deliver(0, 2),
        Plan(
            (
                MoveToBlock(block=1, face=LEFT),
                Rendezvous(block=1, face=LEFT, count=2, timeout=3),
                PushBlock(block=1, steps=1),
            )
        ),
    )
    rules = role_of("cube", "repair", "repair")(cube)
    advice = rules.advise(now, rules.predict(now))
    assert advice is not None
    assert (advice.task.target, advice.agents) == ("block_1/left", (2,))


def test_a_rehearsal_leaves_the_world_as_it_is():
    cube = world(PAIR)
    before = cube.ansi()
    roll_out(moment(cube, deliver(0, 2), deliver(0, 2), deliver(1)), 60)
    assert (cube.ansi(), cube.env.cube_state.live) == (before, 2)
    rng = np.random.default_rng(0)
    twin = world(PAIR)
    for _ in range(20):
        joint = rng.integers(5, size=3).tolist()
        assert cube.step(joint) == twin.step(joint)


def drawn(cube: CubeWorld, agent: int, rng: np.random.Generator) -> Plan:
    """A plan of any quality that the world accepts."""
    while True:
        block, face = cube.global_observation().blocks[rng.integers(2)], list(Face)[rng.choice([0, 0, 0, 1, 2, 3])]
        count, wait, timeout = (int(rng.integers(1, top)) for top in (4, 8, 25))
        before = (Idle(steps=wait),) if wait < 3 else ()
        meeting = (Rendezvous(block=block.id, face=face, count=count, timeout=timeout),) if wait % 2 else ()
        push = PushBlock(block=block.id, steps=wait, timeout=1 + timeout // 2)
        plan = Plan((*before, MoveToBlock(block=block.id, face=face), *meeting, push))
        if not cube.check_plan(agent, plan):
            return plan


def test_a_rehearsal_ends_as_the_same_plans_do_where_nobody_acts_afterwards():
    """That it carries plans out as the loop does; this does not show how well it predicts an episode."""
    judging = RepairConfig(
        mode="rules", predictor="exact", horizon=60, cooldown=None, guidance=False, order="ascending", verifications=1
    )
    groups = []
    for seed in range(12):
        cube, rng = world(PAIR), np.random.default_rng(seed)
        idle = Thought(Plan((Idle(steps=60),)))
        minds = [Scripted(Thought(drawn(cube, agent, rng)), idle) for agent in range(3)]
        gate = Repair(judging, role_of("cube", "repair", "repair")(cube))
        found = play(minds, cube, settings=LoopSettings(max_thoughts_per_step=100), extensions=[gate])
        groups += [group for group in judged_groups(Trace(tuple(found))) if group.happened is not None]
    assert [group.expected for group in groups] == [group.happened for group in groups]
    broken = sum(bool(group.happened) for group in groups)
    assert 10 < broken < len(groups), "some come off, and some do not"
