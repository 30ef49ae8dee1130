"""The baselines that talk: who speaks when, what ends a dialogue, and what is done when nothing does."""

from __future__ import annotations

import pytest

from tests.agents.llamac.stage import NOT_JSON, Cast, codes_of, committed, everybody, joint, walk
from tests.maeil.corridor import Corridor
from tests.methods.baselines.stage import end_of, run, say, state

ALL = {"agent_0": walk(3), "agent_1": walk(3)}


def speakers(model):
    return [blocks["turn"]["you"] for blocks in model.asked("talker")]


def test_a_dialogue_ends_as_soon_as_one_states_the_joint_plan(tmp_path):
    model = Cast(talker=state(**ALL))
    events = run("dmas", model, tmp_path)
    assert (speakers(model), end_of(events).steps) == (["agent_0"], 3)
    model = Cast(talker=[say("who goes?"), say("both"), state(**ALL)])
    events = run("dmas", model, tmp_path)
    assert (speakers(model), end_of(events).steps) == (["agent_0", "agent_1", "agent_0"], 3)
    assert model.asked("talker")[2]["dialogue"] == [
        {"author": "agent_0", "message": "who goes?"},
        {"author": "agent_1", "message": "both"},
    ]


def test_when_nobody_states_a_joint_plan_all_are_idle_for_a_step(tmp_path):
    model = Cast(talker=say())
    events = run("dmas", model, tmp_path, world=Corridor(2, max_steps=1), pause=5)
    assert speakers(model) == ["agent_0", "agent_1"] * 4
    assert [blocks.get("turns_left", 0) for blocks in model.asked("talker")] == [3, 3, 2, 2, 1, 1, 0, 0]
    assert committed(events) == {0: ["rest"], 1: ["rest"]}


def test_a_joint_plan_that_the_world_refuses_is_asked_for_again(tmp_path):
    model = Cast(talker=[state(agent_0=walk(9)), NOT_JSON, state(**ALL)])
    events = run("dmas", model, tmp_path)
    assert (model.total, end_of(events).outcome) == (3, "success")
    assert codes_of(events) == ["V-WORLD", "V-FORM"]
    assert [entry["code"] for entry in model.asked("talker")[1]["feedback"]] == ["V-WORLD"]
    end = end_of(run("dmas", Cast(talker=NOT_JSON), tmp_path, syntax_retries=1))
    assert (end.outcome, end.reason.split(":")[0]) == ("failure", "NoJointPlan")


def test_an_agent_with_nobody_to_talk_to_makes_a_plan_for_itself(tmp_path):
    model = Cast(talker=state(agent_0=walk(3)))
    events = run("dmas", model, tmp_path, 1)
    assert (model.total, end_of(events).outcome) == (1, "success")
    events = run("dmas", Cast(talker=say()), tmp_path, 1, world=Corridor(1, max_steps=1))
    assert committed(events) == {0: ["rest"]}


def test_agents_that_are_on_their_way_are_not_woken_and_what_they_do_is_known(tmp_path):
    three = {"agent_0": walk(2), "agent_1": walk(2), "agent_2": walk(4)}
    model = Cast(talker=[state(**three), state(agent_2=walk(1)), state(agent_0=walk(2), agent_1=walk(2))])
    events = run("dmas", model, tmp_path, world=Corridor(3, length=4))
    second = model.asked("talker")[1]
    assert (second["asked"], list(second["commitments"])) == (["agent_0", "agent_1"], ["agent_2"])
    assert [pair["step"] for pair in second["history"]] == [0]
    assert codes_of(events) == ["V-ASKED"]
    assert not [s for s in events if s.event.kind == "stage" and s.event.to_stage == "I"]
    assert end_of(events).steps == 4


def test_hmas1_begins_with_the_coordinators_plan_which_one_of_the_named_may_replace(tmp_path):
    model = Cast(centre=everybody(2, walk(1)), talker=[say(), state(**ALL)])
    events = run("hmas1", model, tmp_path)
    assert (model.calls, end_of(events).steps) == ({"centre": 1, "talker": 2}, 3)
    assert model.asked("talker")[0]["proposal"]["agent_1"]["actions"][0]["steps"] == 1


def test_when_nobody_of_the_named_states_another_the_coordinators_plan_is_carried_out(tmp_path):
    model = Cast(centre=everybody(2), talker=say())
    events = run("hmas1", model, tmp_path)
    assert model.calls == {"centre": 1, "talker": 8}
    assert (end_of(events).outcome, end_of(events).steps) == ("success", 3)


def test_only_those_whom_the_coordinator_names_talk_and_the_others_wait(tmp_path):
    model = Cast(centre=joint(agent_0=walk(3), agent_2=walk(3)), talker=say())
    events = run("hmas1", model, tmp_path, 3, world=Corridor(3, max_steps=1))
    assert speakers(model) == ["agent_0", "agent_2"] * 4
    assert committed(events) == {0: ["walk"], 1: ["rest"] * 5, 2: ["walk"]}
    assert model.asked("talker")[0]["asked"] == ["agent_0", "agent_2"]


@pytest.mark.parametrize("plans", [{}, {"agent_1": walk(3)}])
def test_a_plan_that_names_fewer_than_two_is_not_talked_over(tmp_path, plans):
    model = Cast(centre=joint(**plans), talker=say())
    run("hmas1", model, tmp_path, world=Corridor(2, max_steps=1))
    assert model.calls == {"centre": 1}


def test_the_coordinator_hears_what_the_agents_have_come_to(tmp_path):
    model = Cast(centre=[everybody(2, walk(1)), joint()], talker=state(agent_0=walk(1), agent_1=walk(4, "far")))
    run("hmas1", model, tmp_path, world=Corridor(2, length=4, max_steps=2))
    second = model.asked("centre")[1]
    assert (second["asked"], second["commitments"]["agent_1"]["task"]["target"]) == (["agent_0"], "far")
    assert second["history"][0]["plans"]["agent_1"]["task"]["target"] == "far"
