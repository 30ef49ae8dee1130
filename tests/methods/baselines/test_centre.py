"""The baselines with a coordinator, without a world: how many calls a joint plan takes, and what becomes of it."""

from __future__ import annotations

import pytest

from maeil.metrics import compute_metrics
from maeil.trace.reader import Trace
from tests.agents.llamac.stage import NOT_JSON, Cast, calls_of, codes_of, committed, everybody, joint, walk
from tests.maeil.corridor import Corridor
from tests.methods.baselines.stage import agree, end_of, object_to, run


def sent(events):
    return [
        (e.sender, list(e.recipients), e.what)
        for e in (stamped.event for stamped in events)
        if e.kind == "message_sent"
    ]


@pytest.mark.parametrize("agents", [2, 50])
def test_cmas_takes_one_call_for_a_joint_plan_whatever_the_number_of_agents(tmp_path, agents):
    model = Cast(centre=everybody(agents))
    events = run("cmas", model, tmp_path, agents)
    assert (model.total, end_of(events).outcome, end_of(events).steps) == (1, "success", 3)
    assert sent(events) == [(agents, list(range(agents)), "directive")]


@pytest.mark.parametrize("failures", [1, 6])
def test_a_plan_that_cannot_be_read_is_asked_for_again(tmp_path, failures):
    model = Cast(centre=[NOT_JSON] * failures + [everybody(2)])
    events = run("cmas", model, tmp_path)
    assert (model.total, end_of(events).outcome) == (1 + failures, "success")
    assert codes_of(events) == ["V-FORM"] * failures
    metrics = compute_metrics(Trace(tuple(events)))
    assert metrics["gates.rejected_proposals"] == failures


def test_after_all_retries_the_episode_ends_unfinished_and_says_why(tmp_path):
    model = Cast(centre=NOT_JSON)
    end = end_of(run("cmas", model, tmp_path))
    assert model.total == 7
    assert (end.outcome, end.steps) == ("failure", 0)
    assert end.reason.startswith("NoJointPlan: no joint plan after 6 retries: V-FORM")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (joint(nobody=walk(3)), "V-STRANGER"),
        ({"thoughts": "so", "plans": [{"agent": "agent_0", "plan": walk(n)} for n in (2, 3)]}, "V-DUPLICATE"),
        (joint(agent_1=walk(9)), "V-WORLD"),
        (joint(agent_0={**walk(3), "actions": [{"action": "fly"}]}), "V-FORM"),
    ],
)
def test_what_is_wrong_is_reported_with_its_code(tmp_path, answer, code):
    model = Cast(centre=[answer, everybody(2)])
    run("cmas", model, tmp_path)
    first, second = model.asked("centre")
    assert "feedback" not in first
    assert "refused" not in first
    assert second.get("refused") == (answer if code != "V-FORM" else None), "what has not the form is no joint plan"
    assert {entry["code"] for entry in second["feedback"]} == {code}


def test_an_agent_that_is_on_its_way_is_not_asked_about_and_its_plan_is_a_commitment(tmp_path):
    late = joint(agent_0=walk(2), agent_1=walk(4))
    model = Cast(centre=[late, joint(agent_1=walk(1)), joint(agent_0=walk(3)), joint(agent_1=walk(1))])
    events = run("cmas", model, tmp_path, world=Corridor(2, length=5))
    second = model.asked("centre")[1]
    assert second["asked"] == ["agent_0"]
    assert second["commitments"]["agent_1"]["actions"] == [{"action": "walk", "steps": 4, "fails_at": None}]
    assert codes_of(events) == ["V-ASKED"]


def test_an_agent_without_a_part_waits_and_is_asked_about_again(tmp_path):
    model = Cast(centre=[joint(agent_0=walk(3)), joint(agent_1=walk(3))])
    events = run("cmas", model, tmp_path)
    assert committed(events) == {0: ["walk"], 1: ["rest"] * 5}
    assert model.asked("centre")[1]["asked"] == ["agent_0", "agent_1"]
    assert (end_of(events).outcome, end_of(events).steps) == ("success", 6)


@pytest.mark.parametrize("agents", [2, 5])
def test_hmas2_takes_one_call_and_one_for_each_agent_that_is_named(tmp_path, agents):
    model = Cast(centre=everybody(agents), reviewer=agree())
    events = run("hmas2", model, tmp_path, agents)
    assert model.calls == {"centre": 1, "reviewer": agents}
    assert end_of(events).outcome == "success"
    assert sent(events)[1:] == [(agent, [agents], "ack") for agent in range(agents)]


def test_hmas2_asks_only_those_whom_the_plan_names(tmp_path):
    model = Cast(centre=[joint(agent_1=walk(3)), joint(agent_0=walk(3))], reviewer=agree())
    run("hmas2", model, tmp_path)
    assert [blocks["turn"]["you"] for blocks in model.asked("reviewer")] == ["agent_1", "agent_0"]


def test_on_easy_boards_an_objection_is_answered_once_and_nobody_is_asked_again(tmp_path):
    model = Cast(
        centre=[joint(agent_0=walk(1), agent_1=walk(3)), everybody(2)],
        reviewer=[object_to("too short", walk(3)), agree()],
    )
    events = run("hmas2", model, tmp_path, rounds=1)
    assert model.calls == {"centre": 2, "reviewer": 2}
    assert end_of(events).steps == 3, "the revised plan is carried out"
    revised = model.asked("centre")[1]
    assert revised["objections"] == [{"agent": "agent_0", "issue": "too short", "proposal": walk(3)}]
    assert revised["suggestion"]["agent_0"]["actions"][0]["steps"] == 1
    assert revised["asked"] == ["agent_0", "agent_1"], "the whole joint plan is made again"
    assert sent(events) == [(2, [0, 1], "directive"), (0, [2], "feedback"), (1, [2], "ack"), (2, [0, 1], "directive")]


def test_on_hard_boards_all_named_are_asked_again_after_each_answer_but_the_last(tmp_path):
    model = Cast(centre=everybody(2), reviewer=[object_to("no"), agree(), agree(), agree()])
    run("hmas2", model, tmp_path, rounds=3)
    assert model.calls == {"centre": 2, "reviewer": 4}
    model = Cast(centre=everybody(2), reviewer=object_to("never"))
    events = run("hmas2", model, tmp_path, rounds=3)
    assert model.calls == {"centre": 4, "reviewer": 6}
    assert end_of(events).outcome == "success", "what is objected to for ever is carried out"
    assert len(model.asked("centre")[3]["dialogue"]) == 2


def test_a_revised_plan_is_read_like_a_first_one(tmp_path):
    model = Cast(centre=[everybody(2), NOT_JSON, joint(nobody=walk(3)), everybody(2)], reviewer=object_to("no"))
    events = run("hmas2", model, tmp_path)
    assert model.calls["centre"] == 4
    assert codes_of(events) == ["V-FORM", "V-STRANGER"]


def test_an_agent_that_a_revised_plan_leaves_out_is_told_and_waits(tmp_path):
    model = Cast(centre=[everybody(2), joint(agent_0=walk(3))], reviewer=[object_to("no"), agree()])
    events = run("hmas2", model, tmp_path, world=Corridor(2, max_steps=1))
    assert committed(events) == {0: ["walk"], 1: ["rest"] * 5}


def test_a_review_that_cannot_be_read_is_no_objection(tmp_path):
    model = Cast(centre=everybody(2), reviewer=[NOT_JSON, {**agree(), "agrees": "yes"}])
    events = run("hmas2", model, tmp_path)
    assert model.calls == {"centre": 1, "reviewer": 2}
    assert [bool(call.get("parse_failure")) for call in calls_of(events)] == [False, True, True]


def test_rounds_of_feedback_and_calls_of_agents_are_counted_as_those_of_llamac_are(tmp_path):
    model = Cast(centre=[everybody(3), NOT_JSON, everybody(3)], reviewer=[object_to("no"), agree()])
    metrics = compute_metrics(Trace(tuple(run("hmas2", model, tmp_path, 3))))
    found = {name.removeprefix("gates."): value for name, value in metrics.items() if name.startswith("gates.")}
    assert {name: value for name, value in found.items() if value} == {
        "feedback_rounds": 1,
        "actor_calls": 3,
        "rejected_proposals": 1,
        "rejections": 1,
    }
    assert metrics["model.calls"] == 6


@pytest.mark.parametrize(("name", "remembers"), [("cmas", False), ("hmas2", True)])
def test_only_those_that_remember_are_shown_earlier_states_and_plans(tmp_path, name, remembers):
    model = Cast(centre=everybody(1, walk(1)), reviewer=agree())
    run(name, model, tmp_path, 1)
    last = model.asked("centre")[-1]
    assert ("history" in last) is remembers
    if remembers:
        assert [pair["step"] for pair in last["history"]] == [0, 1]
        assert last["history"][1]["state"] == {"cell": 1}
        assert last["history"][1]["plans"]["agent_0"]["actions"][0]["steps"] == 1
