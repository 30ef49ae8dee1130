"""Why attempts at blocks fail: each cause by hand in the real loop, and what holds of all traces."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cube_env import (
    CubeState,
    Face,
    Idle,
    MoveToBlock,
    PushBlock,
    PushTowards,
    Rendezvous,
    Wait,
    is_aligned_with_block,
)
from maeil import Plan, Task, Thought
from maeil.metrics import compute_metrics
from maeil.tasks import Constraint
from maeil.trace import Trace
from tests.cube_env.acting import world
from tests.cube_env.boards import dense_layout
from tests.cube_env.slow_constraints import slow_constraints
from tests.cube_env.test_symbolic_properties import CUBE, EMCOOP, team
from tests.maeil.scripted import Scripted, play

LEFT = Face.left
GO, PUSH = MoveToBlock(block=0, face=LEFT), PushBlock(block=0, timeout=1)
MEET = Rendezvous(block=0, face=LEFT, count=2, timeout=9)
STAY, WAIT = Idle(steps=9), Wait(steps=9)
HEAVY = "..AA...|\n0.AA...|\n.......|\n......1|"


def attempts(drawn, *plans, steps=1, vocabulary="cube"):
    """The attempts of the first steps as (agents, cause), and the trace; each agent then stays."""
    stay = STAY if vocabulary == "cube" else WAIT
    minds = [Scripted(Thought(Plan(tuple(plan))), Thought(Plan((stay,)))) for plan in plans]
    trace = Trace(tuple(play(minds, world(drawn, steps, vocabulary=vocabulary))))
    return [(sorted(one.agents), one.missing[:1]) for one in trace.story.attempts], trace


@pytest.mark.parametrize(
    ("drawn", "plans", "agents", "cause"),
    [
        ("0A1....|", ([PUSH], [STAY]), [0], "dependency"),
        (".0AA...|\n..AA...|\n......1|", ([PUSH], [STAY]), [0], "participation"),
        (".0AA...|\n..AA...|\n......1|", ([PUSH], [GO]), [0], "spatial"),
        (".0AA...|\n.1AA...|", ([PUSH], [MEET]), [0], "temporal"),
    ],
)
def test_each_cause_by_hand(drawn, plans, agents, cause):
    assert attempts(drawn, *plans)[0] == [(agents, (cause,))]


@pytest.mark.parametrize(
    ("drawn", "plans", "agents", "cause"),
    [
        ("0..A...|", ([PUSH],), [0], "spatial"),
        (HEAVY, ([PUSH], [STAY]), [0], "participation"),
        (HEAVY, ([PUSH], [GO]), [0], "spatial"),
        (HEAVY, ([PUSH], [PUSH]), [0, 1], "spatial"),
        (HEAVY, ([Rendezvous(block=0, face=LEFT, count=2)], [STAY]), [0], "participation"),
    ],
    ids=["alone at a light block", "alone", "a mate is on its way", "both", "at a meeting"],
)
def test_an_action_that_is_refused_in_the_wrong_place_is_an_attempt_of_the_step_that_it_was_meant_for(
    drawn, plans, agents, cause
):
    found, trace = attempts(drawn, *plans)
    assert found == [(agents, (cause,))]
    (tried,) = trace.story.attempts
    assert (tried.event.t, tried.unmet, tried.task[1]) == (0, True, "block_0/left")
    assert tried.state.participation == len(agents) + (GO in plans[-1])


def test_a_push_that_is_refused_is_one_at_the_face_at_which_its_agent_acted_last():
    away = [MoveToBlock(block=0, face=Face.up), Idle(steps=1), MoveToBlock(block=0, face=Face.up, timeout=1), PUSH]
    trace = attempts("..0....|\n..AA...|\n..AA...|", away, steps=3)[1]
    assert {one.task[1] for one in trace.story.attempts} == {"block_0/up"}


def test_a_push_by_name_that_touches_nothing_is_an_attempt_in_each_of_its_steps():
    push = [PushTowards(block=0, steps=2)]
    found, trace = attempts("0...A..|", push, steps=3, vocabulary="emcoop")
    assert found == [([0], ("spatial",))] * 2
    assert not any(one.unmet for one in trace.story.attempts)
    together = attempts(".0AA...|\n..AA...|\n1......|", push, push, vocabulary="emcoop")
    assert together[0] == [([0, 1], ("spatial",))], "one attempt a task and step, of both"


def test_what_mates_did_or_what_is_over_was_not_tried_in_vain():
    assert attempts(".0A....|\n.......|\n1......|", [PUSH], [PUSH])[0] == [([0], ())]
    late = [Idle(steps=1), PUSH]
    found, _ = attempts("0A.|\n...|\n1..|", [PushBlock(block=0, steps=2)], [*late], steps=3)
    assert found == [([0], ())] * 2, "in the step in which agent 1 is refused agent 0 delivers the block"


def test_of_several_refusals_in_one_instant_the_last_counts():
    minds = [Scripted(*(Thought(Plan((PushBlock(block=block),))) for block in (0, 1)), Thought(Plan((STAY,))))]
    trace = Trace(tuple(play(minds, world("0..A.B.|", 1))))
    assert [one.task[1] for one in trace.story.attempts] == ["block_1/left"]


IN_VAIN = {"push_block": "not_aligned", "rendezvous": ("not_aligned", "too_few_agents")}


def served(agent, plan, snapshot):
    """The face that a plan works at, from its record: of the first block there that it names.

    A push names no face: it counts for the one where its agent stands, else for the left one.
    """
    there = {block.id for block in snapshot.blocks}
    faces = {}
    for action in plan.actions:
        if action["action"] in ("move_to_block", "rendezvous"):
            faces.setdefault(action["block"], Face(action["face"]))
        elif action["action"] in ("push_block", "push") and action["block"] in there:
            at = [face for face in Face if is_aligned_with_block(snapshot, agent, action["block"], face)]
            faces.setdefault(action["block"], at[0] if at else LEFT)
        elif action["action"] == "navigate" and action["entity"] == "block":
            faces.setdefault(action["id"], Face.left)
    if plan.task is not None:
        faces.setdefault(int(plan.task["target"].removeprefix("block_")), LEFT)
    return next(((block, face) for block, face in faces.items() if block in there), None)


def check_trace(layout, trace):
    """Count again, from what was planned, started and done, all that the trace says of the constraints."""
    state = CubeState.from_layout(layout)
    n, blocks = len(layout.agents), len(layout.blocks)
    plans, running, vain, known = [None] * n, {}, set(), {}
    for place, stamped in enumerate(trace.events):
        event = stamped.event
        if event.kind == "plan":
            plans[event.agent] = event if event.status == "committed" else plans[event.agent]
        elif event.kind == "action" and event.status == "started":
            running[event.agent] = plans[event.agent].actions[event.index]
        elif event.kind == "action":
            if event.reason.startswith(IN_VAIN.get(event.action, "nothing else")):
                vain.add(event.agent)
        elif event.kind == "constraint":
            block, face = event.task["target"].removeprefix("block_").split("/")
            numbers = event.threshold, event.spatial, event.temporal, event.participation, event.joint
            known[int(block), Face(face)] = (*numbers, event.dependency, tuple(event.literal))
            assert event.temporal <= event.participation
            assert event.joint <= min(event.spatial, event.temporal)
        elif event.kind == "step":
            after = trace.events[place + 1].event
            tried = [one for one in after.attempts if one["unmet"]] if after.kind == "outcome" else []
            keys = [served(agent, plan, state.snapshot()) for agent, plan in enumerate(plans)]
            for one in tried:
                block, face = one["task"]["target"].removeprefix("block_").split("/")
                for agent in one["agents"]:
                    keys[agent] = int(block), Face(face)
                    vain.discard(agent)
            if not vain:  # of those who tried what was done or over the trace says only that they have tried
                pushes = [running[agent] for agent in range(n)]
                pushing = [one["block"] if one["action"] in ("push", "push_block") else -1 for one in pushes]
                assert known == slow_constraints(state.snapshot(), blocks, event.joint, pushing, keys)
            vain.clear()
            state.advance(np.array(event.joint))
    found = compute_metrics(trace)
    causes = [found[f"constraints.missing_{cause}"] for cause in (*Constraint, "none")]
    assert sum(causes) == found["constraints.failed_attempts"]


def check_team(seed, vocabulary, plans):
    layout = dense_layout(np.random.default_rng(seed), 9, 4, 5, 3)
    stay = STAY if vocabulary == "cube" else WAIT
    minds = [Scripted(*(Thought(Plan((action, stay))) for action in plan), Thought(Plan((stay,)))) for plan in plans]
    minds[0] = Scripted(Thought(Plan(tuple(plans[0]), Task("deliver", "block_0"))), Thought(Plan((stay,))))
    check_trace(layout, Trace(tuple(play(minds, world(f"{layout}", 25, vocabulary=vocabulary)))))


@given(st.integers(0, 10_000), team(CUBE))
def test_the_trace_says_of_the_constraints_what_a_slow_count_says(seed, plans):
    check_team(seed, "cube", plans)


@given(st.integers(0, 10_000), team(EMCOOP))
def test_the_trace_says_of_the_constraints_what_a_slow_count_says_with_emcoops_actions(seed, plans):
    check_team(seed, "emcoop", plans)
