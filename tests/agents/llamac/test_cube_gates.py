"""The gates of CUBE: each rule on a board that breaks it, and on one that does not."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from cube_env import (
    CubeEnv,
    Direction,
    Entity,
    Face,
    Idle,
    Layout,
    Move,
    MoveToBlock,
    Navigate,
    PushBlock,
    PushTowards,
    Rendezvous,
    Wait,
    WaitAgents,
    YieldBlock,
)
from maeil import Plan, SymbolicAction
from quorum.agents.coordination.joint import Fault, Joint, Sight
from quorum.agents.skills.cube.gates import CubeGates

GATES = CubeGates()
LEFT, RIGHT, UP, DOWN = Face.left, Face.right, Face.up, Face.down


def board(*blocks, agents, side=10):
    """The observation of a board: blocks are `(weight, (row, col))`, agents are cells."""
    env = CubeEnv(layout=Layout(side, agents, blocks), max_steps=50)
    env.reset(seed=0)
    return env.symbolic_observation(None)


def plan(*actions: SymbolicAction) -> Plan:
    return Plan(actions)


def deliver(block: int, steps: int, count: int = 1, face: Face = LEFT, timeout: int | None = None) -> Plan:
    return plan(
        MoveToBlock(block=block, face=face),
        Rendezvous(block=block, face=face, count=count, timeout=timeout),
        PushBlock(block=block, steps=steps),
    )


def to(block: int) -> Navigate:
    return Navigate(entity=Entity.block, id=block)


def push(block: int, steps: int) -> Plan:
    """A delivery in EmCoop's words."""
    return plan(to(block), PushTowards(block=block, steps=steps))


def scrutinize(observation, plans, running=()) -> list[tuple[str, tuple[int, ...]]]:
    sight = Sight(0, observation, ())
    return [(r.code, r.agents) for r in GATES.scrutinize(sight, Joint(dict(plans), dict(running)))]


def confirm(observation, agent: int, plans) -> str | None:
    found = GATES.confirm(agent, observation, Joint(dict(plans)))
    return found.code if found is not None else None


ONE = board((1, (5, 5)), agents=[(5, 2), (2, 2)])
TWO = board((2, (5, 5)), agents=[(5, 2), (6, 2), (0, 0)])
ROW = board((1, (5, 3)), (1, (5, 7)), agents=[(5, 1), (0, 0)])

GOOD = [
    (ONE, {0: deliver(0, 4)}),
    (TWO, {0: deliver(0, 3, 2), 1: deliver(0, 3, 2)}),
    (ROW, {0: deliver(1, 2), 1: deliver(0, 6)}),
    (TWO, {0: push(0, 4), 1: push(0, 4)}),
]


@pytest.mark.parametrize(("observation", "plans"), GOOD)
def test_a_good_joint_plan_passes(observation, plans):
    assert scrutinize(observation, plans) == []
    assert all(confirm(observation, agent, plans) is None for agent in plans)


def line(agents: Iterable[int], **changes) -> dict[int, Plan]:
    return {agent: deliver(0, 3, **changes) for agent in agents}


SHUT = board((1, (0, 1)), (1, (1, 0)), (1, (5, 5)), agents=[(0, 0), (9, 9)])
CORNER = board((1, (0, 0)), (1, (5, 5)), agents=[(3, 3), (9, 9)])
GAP = board((2, (5, 5)), agents=[(5, 4), (5, 3), (6, 4)])
AHEAD = board((1, (5, 5)), agents=[(5, 2), (5, 7)])
NEAR = board((1, (5, 4)), (1, (5, 6)), agents=[(5, 3), (5, 7), (0, 0)])
TIGHT = board((1, (4, 1)), (1, (7, 5)), agents=[(1, 0), (4, 0)])

TRIPS = [
    ("V-TASK", (0,), ROW, {0: Plan((*deliver(0, 6).actions, *deliver(1, 2).actions))}),
    ("V-SLOT", (0,), ONE, {0: plan(PushBlock(block=0, steps=1))}),
    ("V-SLOT", (0,), CORNER, {0: deliver(0, 1)}),
    ("V-SLOT", (0, 1), TIGHT, {0: deliver(0, 8, 2), 1: deliver(0, 8, 2)}),
    ("V-REACH", (0,), SHUT, {0: deliver(2, 4)}),
    ("V-QUORUM", (0,), TWO, {0: deliver(0, 3)}),
    ("V-SYNC", (0,), TWO, {0: deliver(0, 3, 2, timeout=3), 2: deliver(0, 3, 2)}),
    ("V-SYNC", (0,), TWO, {0: deliver(0, 3, 3), 1: deliver(0, 3, 2)}),
    ("V-OPP", (0, 1), ONE, {0: deliver(0, 4), 1: deliver(0, 2, face=RIGHT)}),
    ("V-OPP", (0, 1), ONE, {0: deliver(0, 4), 1: deliver(0, 2, face=UP)}),
    ("V-DEST", (0,), ROW, {0: deliver(0, 6)}),
    ("V-DEST", (0,), ONE, {0: deliver(0, 9, face=DOWN)}),
    ("V-DEST", (0, 1), NEAR, {0: deliver(0, 1), 1: deliver(1, 1, face=RIGHT)}),
    ("V-WAY", (0, 1), AHEAD, {0: deliver(0, 4)}),
    ("V-WAY", (0, 1), GAP, {1: deliver(0, 3, 2), 2: deliver(0, 3, 2), 0: plan(Idle(steps=5))}),
    ("V-TRAP", (0,), ONE, {0: deliver(0, 5, face=RIGHT)}),
    ("V-TASK", (0,), ROW, {0: Plan((*push(0, 6).actions, *push(1, 2).actions))}),
    ("V-SLOT", (0,), ONE, {0: plan(PushTowards(block=0, steps=1))}),
    ("V-QUORUM", (0,), TWO, {0: push(0, 30)}),
    ("V-SYNC", (0,), TWO, {0: push(0, 5), 2: push(0, 5)}),
    ("V-DEST", (0,), ROW, {0: push(0, 6)}),
]


@pytest.mark.parametrize(
    ("code", "agents", "observation", "plans"), TRIPS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_rule_of_scrutiny_is_tripped_by_its_board(code, agents, observation, plans):
    assert scrutinize(observation, plans) == [(code, agents)]


def test_a_push_may_not_end_where_one_that_is_under_way_ends():
    assert scrutinize(NEAR, {0: deliver(0, 1)}, {1: deliver(1, 1, face=RIGHT)}) == [("V-DEST", (0, 1))]
    assert scrutinize(NEAR, {}, {0: deliver(0, 1), 1: deliver(1, 1, face=RIGHT)}) == []


PASSES = [
    ("V-TASK", ROW, {0: deliver(1, 2)}),
    ("V-SLOT", CORNER, {0: deliver(1, 4)}),
    ("V-SLOT", TIGHT, {0: deliver(0, 8), 1: deliver(0, 8)}),
    ("V-REACH", SHUT, {1: deliver(2, 4)}),
    ("V-REACH", TIGHT, {0: deliver(0, 8), 1: deliver(1, 4)}),
    ("V-QUORUM", TWO, line((0, 1), count=2)),
    ("V-SYNC", TWO, {0: deliver(0, 3, 2, timeout=20), 2: deliver(0, 3, 2)}),
    ("V-SYNC", TWO, {**line((0, 1), count=2, timeout=3), 2: deliver(0, 3, 2)}),
    ("V-OPP", ROW, {0: deliver(1, 2), 1: deliver(0, 6)}),
    ("V-DEST", ROW, {0: deliver(0, 3)}),
    ("V-WAY", AHEAD, {0: deliver(0, 4), 1: plan(Move(direction=Direction.up, steps=2))}),
    ("V-WAY", GAP, {0: deliver(0, 3, 2), 2: deliver(0, 3, 2)}),
    ("V-TRAP", ONE, {0: deliver(0, 4, face=RIGHT)}),
]


@pytest.mark.parametrize(
    ("code", "observation", "plans"), PASSES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_each_rule_of_scrutiny_lets_the_board_beside_it_pass(code, observation, plans):
    assert scrutinize(observation, plans) == []


def test_plans_under_way_count_as_members_of_a_group_and_are_not_judged_alone():
    alone = {1: deliver(0, 3, 2)}
    assert scrutinize(TWO, {}, alone) == []
    assert scrutinize(TWO, {0: deliver(0, 3, 2)}, alone) == []
    assert scrutinize(TWO, {0: deliver(0, 3, 2)}) == [("V-QUORUM", (0,))]


def test_a_heavy_chain_takes_the_sum_of_its_weights():
    chain = board((1, (5, 5)), (1, (5, 6)), agents=[(5, 2), (6, 2)])
    assert scrutinize(chain, {0: deliver(0, 1)}) == [("V-QUORUM", (0,))]
    assert scrutinize(chain, {0: deliver(0, 1, 2), 1: deliver(0, 1, 2)}) == []


ADJACENT = board((2, (5, 5)), agents=[(5, 4), (6, 2), (0, 0)])
WALLED = board((1, (5, 5)), agents=[(0, 0), (0, 1), (1, 0)])

REFUSED = [
    ("C-AVAIL", ONE, 0, {0: plan(PushBlock(block=0, steps=1))}),
    ("C-AVAIL", ONE, 0, {0: plan(Rendezvous(block=0, face=LEFT, count=1), PushBlock(block=0))}),
    ("C-AVAIL", ONE, 0, {0: plan(YieldBlock(block=0, face=LEFT))}),
    ("C-AVAIL", WALLED, 0, {0: plan(Move(direction=Direction.up))}),
    ("C-PATH", WALLED, 0, {0: deliver(0, 4), 1: plan(Idle(steps=3)), 2: plan(Idle(steps=3))}),
    ("C-WAIT", ADJACENT, 0, {0: plan(*deliver(0, 3, 2).actions[1:])}),
    ("C-WAIT", ADJACENT, 0, {0: plan(*deliver(0, 3, 2, timeout=1).actions[1:]), 1: deliver(0, 3, 2)}),
    ("C-PROG", ONE, 0, {0: deliver(0, 2, face=UP)}),
    ("C-IDLE", ONE, 0, {0: plan(Idle(steps=5))}),
    ("C-IDLE", ONE, 0, {0: plan(WaitAgents(count=2))}),
    ("C-AVAIL", ONE, 0, {0: plan(PushTowards(block=0, steps=1))}),
    ("C-PATH", WALLED, 0, {0: push(0, 4), 1: plan(Wait(steps=3)), 2: plan(Wait(steps=3))}),
    ("C-WAIT", ADJACENT, 0, {0: plan(PushTowards(block=0, steps=9))}),
    ("C-WAIT", ADJACENT, 0, {0: plan(PushTowards(block=0, steps=2)), 1: push(0, 3)}),
    ("C-IDLE", ONE, 0, {0: plan(Wait(steps=5))}),
]


@pytest.mark.parametrize(("code", "observation", "agent", "plans"), REFUSED)
def test_each_rule_of_confirmation_is_tripped_by_its_board(code, observation, agent, plans):
    assert confirm(observation, agent, plans) == code


CONFIRMED = [
    ("C-AVAIL", ADJACENT, 0, {0: plan(PushBlock(block=0, steps=1))}),
    ("C-AVAIL", ADJACENT, 0, {0: plan(YieldBlock(block=0, face=LEFT))}),
    ("C-PATH", WALLED, 0, {0: deliver(0, 4), 1: deliver(0, 4), 2: deliver(0, 4)}),
    ("C-WAIT", ADJACENT, 0, {0: plan(*deliver(0, 3, 2).actions[1:]), 1: deliver(0, 3, 2)}),
    ("C-PROG", ROW, 1, {1: deliver(1, 2, face=UP)}),
    ("C-IDLE", ONE, 1, {0: deliver(0, 4), 1: plan(Idle(steps=5))}),
    ("C-IDLE", TWO, 2, {2: plan(Idle(steps=5))}),
    ("C-PATH", WALLED, 0, {0: push(0, 4), 1: push(0, 4), 2: push(0, 4)}),
    ("C-WAIT", ADJACENT, 0, {0: plan(PushTowards(block=0, steps=9)), 1: push(0, 9)}),
    ("C-AVAIL", ONE, 0, {0: plan(Navigate(entity=Entity.goal))}),
]


@pytest.mark.parametrize(("code", "observation", "agent", "plans"), CONFIRMED)
def test_each_rule_of_confirmation_lets_the_board_beside_it_pass(code, observation, agent, plans):
    assert confirm(observation, agent, plans) is None


@pytest.mark.parametrize("steps", [0, 1, 30])
def test_a_roll_out_finds_what_fails_within_its_steps(steps):
    """Nobody comes to the meeting, which is given up after 10 steps; no push is planned, so no other rule looks."""
    joint = Joint({0: plan(MoveToBlock(block=0, face=LEFT), Rendezvous(block=0, face=LEFT, count=2, timeout=10))})
    found = CubeGates(steps).scrutinize(Sight(0, ONE, ()), joint)
    assert [(r.code, r.agents) for r in found] == ([("V-SIM", (0,))] if steps == 30 else [])


def test_a_roll_out_finds_blocks_by_their_ids_when_others_are_delivered():
    env = CubeEnv(layout=Layout(10, [(2, 7), (5, 2)], [(1, (2, 8)), (1, (5, 5))]), max_steps=50)
    env.reset(seed=0)
    env.step({"agent_0": 4, "agent_1": 0})
    left = env.symbolic_observation(None)
    assert [block.id for block in left.blocks] == [1]
    assert CubeGates(40).scrutinize(Sight(0, left, ()), Joint({1: push(1, 9)})) == []


def test_a_roll_out_lets_good_plans_pass_and_leaves_plans_under_way_alone():
    gates = CubeGates(40)
    for observation, plans in GOOD:
        assert gates.scrutinize(Sight(0, observation, ()), Joint(plans)) == []
    fails = {1: plan(Rendezvous(block=0, face=LEFT, count=1))}
    assert gates.scrutinize(Sight(0, TWO, ()), Joint({}, fails)) == []


def test_every_code_has_a_board_that_trips_it_and_one_that_does_not():
    tripped = {case[0] for case in (*TRIPS, *REFUSED)}
    assert tripped == {case[0] for case in (*PASSES, *CONFIRMED)} == set(GATES.rules) - {"V-SIM"}


def test_every_code_says_which_constraint_it_stands_for():
    assert all(code.constraint is not None for code in GATES.rules.values())
    assert {name for name, code in GATES.rules.items() if name.startswith("C-")} == {
        name for name, code in GATES.rules.items() if code.fault in (Fault.UNAVAILABLE, Fault.FRUITLESS)
    }
