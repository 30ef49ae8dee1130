"""DR. WELL's agents: what each sees when it proposes, commits itself and plans, and what of it others see."""

from __future__ import annotations

import random

import pytest

from maeil import Seeds, TeamContext
from maeil.trace import comparable
from quorum.agents.simulated.model import SimulatedModel
from quorum.methods.drwell import DrwellConfig, build, component
from quorum.topologies.plain import Individual
from tests.agents.naive_team import Delayed, cube, prompts, settings, shipped
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import play
from tests.methods.drwell.stage import Cast, choose, config, run, team, walk
from tests.topologies.room import Hallway

SURE = {"proposer": choose("gate", "It is shut."), "committer": choose("gate"), "planner": walk(3)}


def committed(events):
    return [(s.event.agent, s.event.task["target"]) for s in events if s.event.kind == "plan" and s.event.task]


def test_each_proposer_reads_the_earlier_proposals_in_its_prompt(tmp_path):
    answers = {f"agent_{i}": {**SURE, "proposer": choose("gate", f"Reason {i}.")} for i in range(3)}
    model = Cast(answers)
    run(model, tmp_path, 3)
    first, second, third = [text for _, role, text in model.prompts if role == "proposer"][:3]
    assert "Reason" not in first
    assert ("Reason 0." in second, "Reason 1." in second) == (True, False)
    assert ("Reason 0." in third, "Reason 1." in third) == (True, True)
    assert model.asked("proposer")[2]["room"] == ["agent_0", "agent_1", "agent_2"]


def opened(target):
    return {"kind": "open", "target": target}


def test_each_committer_reads_all_proposals_and_in_a_further_round_the_commitments(tmp_path):
    answers = {
        "agent_0": {**SURE, "committer": [choose("gate"), choose("gate")]},
        "agent_1": {**SURE, "proposer": choose("door", "It is near."), "committer": [choose("door"), choose("gate")]},
    }
    model = Cast(answers)
    events, _ = run(model, tmp_path)
    for blocks in model.asked("committer"):
        assert blocks["proposals"] == {
            "agent_0": {"task": opened("gate"), "why": "It is shut."},
            "agent_1": {"task": opened("door"), "why": "It is near."},
        }
    assert [blocks.get("commitments") for blocks in model.asked("committer")] == [
        None,
        None,
        *[{"agent_0": opened("gate"), "agent_1": opened("door")}] * 2,
    ]
    assert committed(events)[:2] == [(0, "gate"), (1, "gate")]


def test_the_planner_reads_its_task_and_who_shares_it_but_no_plan_of_another(tmp_path):
    answers = {"all": SURE, "agent_1": {**SURE, "planner": {**walk(2), "thoughts": "SECRET"}}}
    model = Cast(answers)
    events, _ = run(model, tmp_path)
    planner = model.asked("planner", "agent_0")[0]
    assert (planner["task"], planner["partners"]) == (opened("gate"), ["agent_1"])
    assert "SECRET" not in "".join(text for name, _, text in model.prompts if name == "agent_0")
    assert not [s for s in events if s.event.kind == "message_sent" and "walk" in s.event.content]


def test_all_agents_roles_and_turns_have_one_system_message(tmp_path):
    model = Cast({"all": SURE})
    run(model, tmp_path)
    assert len(model.systems) == 1


def test_a_plan_for_another_task_is_refused_and_asked_for_again_with_the_reason(tmp_path):
    model = Cast({"all": SURE, "agent_0": {**SURE, "planner": [walk(1), walk(9), walk(3)]}})
    events, _ = run(model, tmp_path)
    asked = model.asked("planner", "agent_0")
    assert asked[1]["feedback"] == ["its actions do not work at your task open:gate"]
    assert asked[1]["refused"]["plan"]["actions"][0]["steps"] == 1
    assert asked[2]["feedback"] == ["too far"]
    assert events[-1].event.steps == 3


def test_a_task_that_is_not_open_is_asked_for_again_and_in_the_end_no_answer(tmp_path):
    model = Cast({"all": {**SURE, "proposer": choose("window", "A draught.")}})
    events, _ = run(model, tmp_path)
    assert len(model.asked("proposer", "agent_0")) == 3
    assert "no open task; they are: open:door, open:gate" in model.asked("proposer")[1]["feedback"][0]
    assert any(
        "no valid answer" in reason for s in events if s.event.kind == "thought_end" for reason in s.event.refused
    )


def test_what_was_tried_is_told_to_those_who_choose_and_to_those_who_plan(tmp_path):
    answers = {"all": {**SURE, "planner": [walk(2, fails_at=1), walk(2, fails_at=1), walk(3)]}}
    model = Cast(answers)
    _, minds = run(model, tmp_path)
    first, later = model.asked("proposer", "agent_0")
    assert [given["attempts"] for given in first["tasks"]] == [0, 0]
    door, gate = later["tasks"]
    assert (door["attempts"], gate["attempts"], gate["success_rate"]) == (0, 1, 0.0)
    given = model.asked("planner", "agent_1")[1]
    assert given["prototypes"] == [{"kinds": ["walk"], "attempts": 2, "success_rate": 0.0}]
    assert given["instances"][0]["plan"]["actions"] == [{"action": "walk", "steps": 2, "fails_at": 1}]
    assert (given["instances"][0]["team"], given["instances"][0]["plan"]["reason"]) == (2, "walk: stumbled")
    assert given["past_plans"][0]["status"] == "failed"
    assert [each["succeeded"] for each in minds[0].remember()["instances"]] == [False, False, True, True]


def test_who_is_alone_in_the_room_chooses_and_plans_in_one_thought(tmp_path):
    model = Cast({"all": {**SURE, "proposer": choose("door", "It is near."), "planner": walk(1)}})
    events, _ = run(model, tmp_path, 1)
    assert [role for _, role, _ in model.prompts[:2]] == ["proposer", "planner"]
    assert not [s for s in events if s.event.kind == "message_sent"]
    assert committed(events)[0] == (0, "door")


def test_without_an_open_task_agents_wait_and_ask_nobody(tmp_path):
    model = Cast({"all": SURE})
    events, _ = run(model, tmp_path, world=Hallway({}, 2, max_steps=3))
    assert (model.prompts, events[-1].event.steps) == ([], 3)


def test_the_same_seeds_give_the_same_trace_whatever_comes_back_first(tmp_path):
    plain = SimulatedModel(settings(malformed=0.05, invalid=0.1, poor=0.2))
    found = []
    for name, model in (("one", plain), ("two", Delayed(plain, random.Random(1)))):
        world, topology, minds = team(model, tmp_path, world=cube(4, max_steps=60))
        play(minds, world, topology=topology, seed=2, path=tmp_path / name)
        found.append((comparable(tmp_path / name), minds[0].remember()))
    assert found[0] == found[1]
    assert len(found[0][0]) > 50


def test_a_world_without_tasks_is_refused(tmp_path):
    with pytest.raises(ValueError, match="reports none: set env=cube"):
        team(Cast({}), tmp_path, world=Corridor(2))


def test_a_topology_without_a_room_is_refused(tmp_path):
    with pytest.raises(ValueError, match="set topology=negotiation"):
        build(config(tmp_path), TeamContext(cube(2), Individual(), Seeds(0), lambda _: None))


def test_a_set_of_prompts_without_words_for_it_is_refused():
    chosen = DrwellConfig(**{**shipped("agents", "drwell"), "prompts": prompts("paper"), "repairs": 2})
    with pytest.raises(ValueError, match="Set prompts=default"):
        component.inputs(chosen, "cube")
