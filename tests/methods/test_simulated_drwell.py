"""The simulated model of DR. WELL: it explores what is not known, and goes by what the prompt says was tried."""

from __future__ import annotations

import numpy as np
import orjson
import pytest

from maeil.plans import Task
from quorum.agents.prompting.answers import task_value
from quorum.agents.skills import Chooser, skills_of
from quorum.methods.drwell.simulated import play
from tests.agents.naive_team import cube


def entry(block, needs=1, planned=(), attempts=0, rate=None, steps=None, before=()):
    task = {"task": {"kind": "push", "target": f"block_{block}/left"}, "needs": needs, "attempts": attempts}
    known = {"success_rate": rate, "mean_steps": steps, "planned": list(planned), "before": list(before)}
    return {**task, **{key: value for key, value in known.items() if value not in (None, [])}}


def proposal(block):
    return {"task": entry(block)["task"], "why": "so."}


def ask(role, seed=0, poor=0.0, **blocks):
    turn = {"role": role, "you": "agent_0", "team": ["agent_0", "agent_1", "agent_2"], "step": 0, "world": "cube"}
    given = {"turn": turn, "room": turn["team"], **blocks}
    speaker = skills_of("cube").speaker()
    written = {name: orjson.dumps(value).decode() for name, value in given.items()}
    return play(written, speaker, Chooser(np.random.default_rng(seed), poor))


def proposed(*tasks, **blocks):
    return ask("proposer", tasks=tasks, **blocks)["task"]["target"]


def test_it_proposes_what_nobody_has_tried_and_then_what_came_off_most_often_and_soonest():
    good, slow = entry(1, attempts=2, rate=1.0, steps=9), entry(2, attempts=2, rate=1.0, steps=30)
    bad = entry(3, attempts=4, rate=0.25, steps=3)
    assert proposed(bad, slow, good, entry(4)) == "block_4/left"
    assert proposed(bad, slow, good) == "block_1/left"
    assert proposed(bad, slow) == "block_2/left"


def test_it_stands_by_a_proposal_that_is_short_of_agents_and_proposes_nothing_that_too_few_are_free_for():
    said = {"agent_1": proposal(2)}
    assert proposed(entry(1), entry(2, needs=2), proposals=said) == "block_2/left"
    assert proposed(entry(1), entry(2), proposals=said) == "block_1/left"
    assert proposed(entry(3, needs=4), entry(1)) == "block_1/left"
    assert proposed(entry(3, before=["block_1"]), entry(1)) == "block_1/left"


def test_it_commits_itself_where_the_proposals_need_it():
    said = {"agent_0": proposal(1), "agent_1": proposal(2), "agent_2": proposal(2)}
    tasks = [entry(1), entry(2, needs=3)]
    assert ask("committer", tasks=tasks, proposals=said)["task"]["target"] == "block_2/left"
    assert ask("committer", tasks=[entry(1), entry(2, needs=2)], proposals=said)["task"]["target"] == "block_1/left"


@pytest.fixture(scope="module")
def board():
    world = cube(3)
    world.reset(1)
    block = world.observe(0).blocks[0]
    observation = world.observe(0).shown()
    task = Task("push", f"block_{block.id}/left")
    drafts = skills_of("cube").speaker().drafts(world.observe(0), 0, task, Chooser(np.random.default_rng(0)))
    shown = [[action.model_dump(mode="json") for action in draft.actions] for draft in drafts]
    return observation, task_value(task), shown


def plan(board, seed=0, **blocks):
    return ask("planner", seed=seed, observation=board[0], task=board[1], **blocks)["plan"]["actions"]


def instance(actions, rate, steps=10, attempts=2):
    return {"plan": {"actions": actions}, "success_rate": rate, "mean_steps": steps, "attempts": attempts, "team": 1}


def test_what_nobody_has_tried_it_draws_by_lot(board):
    drawn = {orjson.dumps(plan(board, seed)) for seed in range(30)}
    assert drawn == {orjson.dumps(draft) for draft in board[2]}


def test_it_repeats_the_best_instance_and_gives_up_what_has_failed(board):
    first, second, *rest = board[2]
    assert {orjson.dumps(plan(board, seed, instances=[instance(second, 1.0)])) for seed in range(9)} == {
        orjson.dumps(second)
    }
    failed = [instance(first, 0.0), instance(second, 0.0)]
    assert {orjson.dumps(plan(board, seed, instances=failed)) for seed in range(30)} == {
        orjson.dumps(draft) for draft in rest
    }


def test_of_plans_that_came_off_it_takes_the_quicker_one(board):
    first, second, *_ = board[2]
    known = [instance(first, 1.0, steps=30), instance(second, 1.0, steps=12)]
    assert plan(board, instances=known) == second


def test_a_prototype_stands_for_instances_with_other_numbers(board):
    kinds = [action["action"] for action in board[2][0]]
    tried = [{"kinds": kinds, "attempts": 3, "success_rate": 1.0, "mean_steps": 9}]
    assert plan(board, prototypes=tried) == board[2][0]


def test_it_does_not_try_again_what_it_has_just_tried_in_vain(board):
    first = board[2][0]
    past = [{"actions": first, "status": "failed", "reason": "x", "task": {"kind": "push", "target": "block_0/left"}}]
    assert first not in [plan(board, seed, past_plans=past, instances=[instance(first, 1.0)]) for seed in range(9)]


def test_in_a_world_without_rules_for_it_the_way_out_is_reported():
    with pytest.raises(ValueError, match="agents=drwell"):
        skills_of("transport").speaker().drafts(None, 0, Task("move", "red"), Chooser(np.random.default_rng(0)))
