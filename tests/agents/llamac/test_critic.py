"""The algorithm without a world: how many calls a decision takes, and what becomes of what the gates refuse."""

from __future__ import annotations

from itertools import pairwise

import pytest

from maeil import LoopSettings
from maeil.metrics import compute_metrics
from maeil.trace.reader import Trace
from quorum.agents.coordination.joint import GRAMMAR, Rejection
from quorum.agents.llamac import checks
from tests.agents.llamac.stage import (
    FEEDBACK,
    NOT_JSON,
    REST,
    Cast,
    CorridorGates,
    calls_of,
    choose,
    codes_of,
    committed,
    everybody,
    joint,
    run,
    take,
    walk,
)
from tests.agents.llamac.teams import config
from tests.maeil.corridor import Corridor

CROWD = everybody(2, walk(3, "crowd"))


def cast(agents=2, **changes):
    return Cast(
        **{
            "explorer": everybody(agents),
            "exploiter": everybody(agents),
            "assessor": take("exploiter", agents),
            "actor": FEEDBACK,
            **changes,
        }
    )


def end_of(events):
    return events[-1].event


def test_a_decision_that_passes_at_first_takes_three_calls(tmp_path):
    model = cast()
    events = run(model, tmp_path)
    assert model.calls == {"explorer": 1, "exploiter": 1, "assessor": 1}
    assert (end_of(events).outcome, end_of(events).steps) == ("success", 3)
    assert codes_of(events) == []


def test_the_best_case_takes_three_calls_whatever_the_number_of_agents(tmp_path):
    model = cast(50)
    events = run(model, tmp_path, 50)
    assert (model.total, end_of(events).outcome) == (3, "success")


@pytest.mark.parametrize("critic", ["explorer", "exploiter"])
def test_one_critic_with_bad_json_once_takes_five_calls(tmp_path, critic):
    model = cast(**{critic: [NOT_JSON, everybody(2)]})
    events = run(model, tmp_path)
    assert model.calls == {"explorer": 2, "exploiter": 2, "assessor": 1}
    assert codes_of(events) == ["V-FORM"]
    (feedback,) = model.asked("explorer")[1]["feedback"]
    assert (feedback["proposal"], feedback["code"]) == (critic, "V-FORM")


def test_one_accepted_objection_takes_five_calls(tmp_path):
    model = cast(
        exploiter=joint(agent_0=walk(1), agent_1=walk(3)),
        assessor=[take("exploiter", 2), choose("explorer", "agent_0")],
    )
    events = run(model, tmp_path)
    assert model.calls == {"explorer": 1, "exploiter": 1, "assessor": 2, "actor": 1}
    assert (codes_of(events), end_of(events).steps) == (["C-SHORT"], 3)
    (objection,) = model.asked("assessor")[1]["objections"]
    assert (objection["agent"], objection["code"], objection["issue"]) == ("agent_0", "C-SHORT", "too short")
    assert model.asked("assessor")[1]["asked"] == ["agent_0"]


def test_suggestions_are_directives_and_objections_are_feedback_between_coordinator_and_agents(tmp_path):
    model = cast(
        exploiter=joint(agent_0=walk(1), agent_1=walk(3)),
        assessor=[take("exploiter", 2), choose("explorer", "agent_0")],
    )
    sent = [s.event for s in run(model, tmp_path) if s.event.kind == "message_sent"]
    assert [(m.sender, list(m.recipients), m.what) for m in sent] == [
        (2, [0, 1], "directive"),
        (0, [2], "feedback"),
        (2, [0], "directive"),
    ]


@pytest.mark.parametrize(("on_exhaust", "done"), [("execute", ["walk"]), ("noop", ["rest"] * 5)])
def test_external_feedback_ends_after_its_retries_and_the_unconfirmed_act_only_if_they_may(tmp_path, on_exhaust, done):
    model = cast(
        exploiter=joint(agent_0=walk(1), agent_1=walk(3)),
        assessor=[take("exploiter", 2), choose("exploiter", "agent_0")],
    )
    events = run(model, tmp_path, world=Corridor(2, max_steps=1), on_exhaust=on_exhaust, external_retries=3)
    assert model.calls == {"explorer": 1, "exploiter": 1, "assessor": 4, "actor": 3}
    assert committed(events) == {0: done, 1: ["walk"]}


def test_what_cannot_be_done_is_not_done_after_all_retries(tmp_path):
    model = cast(
        exploiter=joint(agent_0=REST, agent_1=walk(3)), assessor=[take("exploiter", 2), choose("exploiter", "agent_0")]
    )
    events = run(model, tmp_path, world=Corridor(2, max_steps=1))
    assert committed(events)[0] == ["rest"] * 5, "the pause, not the plan of one rest"


def test_on_exhaust_fail_ends_the_episode_unfinished(tmp_path):
    model = cast(exploiter=joint(agent_0=walk(1)), assessor=[choose("exploiter", "agent_0")])
    end = end_of(run(model, tmp_path, on_exhaust="fail", external_retries=1))
    assert (end.outcome, end.steps) == ("failure", 0)
    assert end.reason.startswith("ConfirmationFailed: agent_0: C-SHORT")


def test_an_unreadable_critic_fails_the_episode_after_all_internal_retries(tmp_path):
    model = cast(explorer=NOT_JSON)
    events = run(model, tmp_path, internal_retries=2)
    end = end_of(events)
    assert model.calls == {"explorer": 3, "exploiter": 3}
    assert len(calls_of(events)) == 6, "what has been paid for is on the trace"
    assert (end.outcome, end.steps) == ("failure", 0)
    assert end.reason.startswith("ScrutinyFailed: no joint plan after 2 retries: V-FORM")


def test_conflicts_left_after_all_internal_retries_are_repaired_by_dropping_the_lowest_index(tmp_path):
    model = cast(explorer=CROWD, exploiter=CROWD)
    model._answers["assessor"] = [choose("exploiter", "agent_1")]
    events = run(model, tmp_path, world=Corridor(2, max_steps=1), internal_retries=1)
    assert model.calls == {"explorer": 2, "exploiter": 2, "assessor": 1}
    assert [call["repaired"] for call in calls_of(events) if "repaired" in call] == [[0, 0]], "one of each critic"
    assert committed(events) == {0: ["rest"] * 5, 1: ["walk"]}


def test_after_all_internal_retries_an_earlier_proposal_of_a_role_stands_in_for_one_that_cannot_be_read(tmp_path):
    model = cast(explorer=[everybody(2), NOT_JSON], exploiter=[CROWD, everybody(2)])
    assert end_of(run(model, tmp_path, internal_retries=1)).outcome == "success"
    model = cast(explorer=[CROWD, NOT_JSON])
    events = run(model, tmp_path, internal_retries=1)
    assert [call["repaired"] for call in calls_of(events) if "repaired" in call] == [[0]]
    assert end_of(events).outcome == "success"
    assert end_of(run(cast(explorer=NOT_JSON), tmp_path, internal_retries=1)).reason.startswith("ScrutinyFailed")


def test_strict_fails_the_episode_on_conflicts_too(tmp_path):
    model = cast(explorer=CROWD, exploiter=CROWD)
    end = end_of(run(model, tmp_path, internal_retries=1, strict=True))
    assert end.reason.startswith("ScrutinyFailed: no joint plan after 1 retries: V-CROWD")
    assert model.total == 4


def test_no_internal_retries_repairs_at_once(tmp_path):
    model = cast(explorer=CROWD)
    events = run(model, tmp_path, internal_retries=0)
    assert (model.calls["explorer"], end_of(events).outcome) == (1, "success")


def test_a_rejected_suggestion_is_asked_for_again_from_the_assessor_alone(tmp_path):
    crowd = [choose("new", "agent_0", "agent_1", plan=walk(3, "crowd")), take("exploiter", 2)]
    model = cast(assessor=list(crowd))
    events = run(model, tmp_path)
    assert model.calls == {"explorer": 1, "exploiter": 1, "assessor": 2}
    assert codes_of(events) == ["V-CROWD"]
    model = cast(assessor=list(crowd))
    run(model, tmp_path, scrutinize_suggestion=False)
    assert model.calls["assessor"] == 1


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (joint(nobody=walk(3)), "V-STRANGER"),
        ({"thoughts": "so", "plans": [{"agent": "agent_0", "plan": walk(n)} for n in (2, 3)]}, "V-DUPLICATE"),
        (joint(agent_0=walk(9)), "V-WORLD"),
        (joint(agent_0={**walk(3), "actions": [{"action": "fly"}]}), "V-FORM"),
        ({"thoughts": "so", "plans": [{"agent": "agent_0", "plan": {**walk(3), "actions": []}}]}, "V-FORM"),
        ("[1, 2]", "V-FORM"),
    ],
)
def test_every_fault_of_grammar_is_refused_with_its_code(tmp_path, answer, code):
    model = cast(explorer=[answer, everybody(2)])
    events = run(model, tmp_path)
    assert set(codes_of(events)) == {code}
    assert code in GRAMMAR
    assert model.calls == {"explorer": 2, "exploiter": 2, "assessor": 1}


def test_json_in_a_code_fence_is_read(tmp_path):
    fenced = '```json\n{"thoughts": "so", "plans": []}\n```'
    model = cast(explorer=f"Here it is:\n{fenced}\nGood luck.")
    assert end_of(run(model, tmp_path)).outcome == "success"
    assert model.total == 3


def test_the_assessor_may_not_choose_what_no_critic_has_proposed_nor_for_others(tmp_path):
    model = cast(explorer=joint(), assessor=[choose("explorer", "agent_0"), take("exploiter", 2)])
    assert codes_of(run(model, tmp_path)) == ["V-FORM"]
    model = cast(
        exploiter=joint(agent_0=walk(1), agent_1=walk(3)),
        assessor=[take("exploiter", 2), take("explorer", 2), choose("explorer", "agent_0")],
    )
    assert codes_of(run(model, tmp_path)) == ["C-SHORT", "V-ASKED"]


@pytest.mark.parametrize(
    ("switches", "calls"),
    [
        ({"critics": "explorer"}, {"explorer": 1}),
        ({"critics": "exploiter"}, {"exploiter": 1}),
        ({"belief_correction": False}, {"explorer": 1, "exploiter": 1}),
    ],
)
def test_with_one_critic_or_without_belief_correction_nobody_assesses(tmp_path, switches, calls):
    model = cast()
    assert end_of(run(model, tmp_path, **switches)).outcome == "success"
    assert model.calls == calls


def test_an_agent_whose_plan_the_repair_of_a_replan_drops_is_told_and_waits(tmp_path):
    crowd = walk(3, "crowd")
    model = cast(
        exploiter=joint(agent_0=crowd, agent_1=walk(1)),
        assessor=[take("exploiter", 2), choose("new", "agent_1", plan=crowd)],
    )
    events = run(model, tmp_path, world=Corridor(2, max_steps=1), internal_retries=0)
    assert [call["repaired"] for call in calls_of(events) if "repaired" in call] == [[0]]
    sent = [list(s.event.recipients) for s in events if s.event.kind == "message_sent" and s.event.what == "directive"]
    assert sent == [[0, 1], [0, 1]], "agent 0 has not objected, and hears of it all the same"
    assert committed(events) == {0: ["rest"] * 5, 1: ["walk"]}


def test_without_belief_correction_the_exploiter_comes_first_and_the_explorer_fills_in(tmp_path):
    model = cast(explorer=everybody(2, walk(3, "far")), exploiter=joint(agent_1=walk(3, "near")))
    events = run(model, tmp_path, belief_correction=False)
    tasks = {s.event.agent: s.event.task["target"] for s in events if s.event.kind == "plan" and s.event.task}
    assert tasks == {0: "far", 1: "near"}


def test_without_scrutiny_conflicts_pass_and_grammar_does_not(tmp_path):
    model = cast(exploiter=CROWD, explorer=[joint(nobody=walk(3)), CROWD])
    events = run(model, tmp_path, scrutiny=False)
    assert codes_of(events) == ["V-STRANGER"]
    assert end_of(events).outcome == "success"


def test_without_confirmation_actors_do_what_they_are_told(tmp_path):
    model = cast(exploiter=everybody(2, walk(1)))
    events = run(model, tmp_path, world=Corridor(2, max_steps=1), confirmation=False)
    assert (model.total, committed(events)) == (3, {0: ["walk"], 1: ["walk"]})


def test_without_external_retries_nobody_objects_and_the_rule_decides(tmp_path):
    model = cast(exploiter=everybody(2, walk(1)))
    events = run(model, tmp_path, world=Corridor(2, max_steps=1), external_retries=0, on_exhaust="noop")
    assert (model.total, committed(events)) == (3, {0: ["rest"] * 5, 1: ["rest"] * 5})


def test_idle_only_asks_about_agents_without_a_plan_and_passes_the_others_as_commitments(tmp_path):
    model = cast(
        exploiter=[joint(agent_0=walk(3), agent_1=walk(4)), joint(agent_0=walk(3))],
        assessor=[take("exploiter", 2), choose("exploiter", "agent_0")],
    )
    run(model, tmp_path, world=Corridor(2, length=5))
    second = model.asked("exploiter")[1]
    assert second["asked"] == ["agent_0"]
    assert second["commitments"]["agent_1"]["actions"] == [{"action": "walk", "steps": 4, "fails_at": None}]


def test_all_asks_about_everybody_and_an_agent_told_to_do_what_it_does_resumes(tmp_path):
    both = joint(agent_0=walk(3), agent_1=walk(4))
    model = cast(exploiter=both, explorer=both)
    events = run(model, tmp_path, world=Corridor(2, length=5), replan="all")
    assert model.asked("exploiter")[1]["asked"] == ["agent_0", "agent_1"]
    resumed = [s.event.agent for s in events if s.event.kind == "stage" and s.event.reason == "resumed"]
    assert resumed == [1, 0], "each while the other needs a new plan"


def test_an_agent_that_only_waits_is_asked_about_again(tmp_path):
    model = cast(
        exploiter=[joint(agent_0=walk(3)), joint(agent_1=walk(3))],
        explorer=joint(),
        assessor=[choose("exploiter", "agent_0"), choose("exploiter", "agent_1")],
    )
    events = run(model, tmp_path)
    assert model.asked("exploiter")[1]["asked"] == ["agent_0", "agent_1"]
    assert (end_of(events).outcome, end_of(events).steps) == ("success", 6)


@pytest.mark.parametrize(("length", "kept"), [(2, 2), (0, 0), (None, 4)])
def test_the_memory_holds_the_last_epochs_with_what_came_of_them(tmp_path, length, kept):
    model = cast(1, exploiter=everybody(1, walk(1)), explorer=everybody(1, walk(1)))
    run(model, tmp_path, 1, world=Corridor(1, length=5), epochs=length, confirmation=False)
    epochs = model.asked("exploiter")[-1].get("memory", [])
    assert len(epochs) == kept
    if kept:
        assert epochs[-1] == {
            "step": 3,
            "steps": 1,
            "state": 3,
            "plans": {
                "agent_0": {
                    "task": {"kind": "walk", "target": "end"},
                    "actions": [{"action": "walk", "steps": 1, "fails_at": None}],
                    "status": "succeeded",
                }
            },
            "reward": 1.0,
            "reached": 0,
        }


def test_with_transitions_the_memory_holds_the_states_that_critics_saw_before_and_after(tmp_path):
    model = cast(1, exploiter=everybody(1, walk(1)), explorer=everybody(1, walk(1)))
    run(model, tmp_path, 1, world=Corridor(1, length=4), transitions=True, confirmation=False)
    deciding = model.asked("exploiter")
    states = [blocks["state"] for blocks in deciding]
    first, last = deciding[0], deciding[-1]
    assert "memory" not in first
    assert [(epoch["state"], epoch["next_state"]) for epoch in last["memory"]] == list(pairwise(states))
    assert [(set(epoch["plans"]), epoch["reward"]) for epoch in last["memory"]] == [({"agent_0"}, 1.0)] * 3


def test_the_memory_holds_the_suggestion_that_stood_in_the_end(tmp_path):
    model = cast(
        1,
        exploiter=[joint(agent_0=walk(1)), everybody(1)],
        explorer=everybody(1, walk(4)),
        assessor=[take("exploiter", 1), take("explorer", 1), take("exploiter", 1)],
    )
    run(model, tmp_path, 1, world=Corridor(1, length=6))
    (epoch,) = model.asked("exploiter")[-1]["memory"]
    assert epoch["plans"]["agent_0"]["actions"] == [{"action": "walk", "steps": 4, "fails_at": None}]
    assert epoch["plans"]["agent_0"]["status"] == "succeeded"


def test_rejections_are_counted_as_metrics(tmp_path):
    model = cast(
        explorer=[CROWD, NOT_JSON, everybody(2)],
        exploiter=joint(agent_0=walk(1), agent_1=walk(3)),
        assessor=[take("exploiter", 2), choose("explorer", "agent_0")],
    )
    events = run(model, tmp_path)
    metrics = compute_metrics(Trace(tuple(events)))
    found = {name.removeprefix("gates."): value for name, value in metrics.items() if name.startswith("gates.")}
    assert found == {
        "rejections": 3,
        "rejected_proposals": 2,
        "actor_calls": 1,
        "feedback_rounds": 1,
        "repaired_plans": 0,
    }


def test_a_critic_out_of_thoughts_leaves_the_agents_waiting(tmp_path):
    model = cast(exploiter=everybody(2, walk(1)))
    events = run(model, tmp_path, world=Corridor(2, max_steps=1), loop=LoopSettings(max_thoughts_per_step=1))
    assert end_of(events).outcome == "truncated"


def test_a_retry_shows_the_rejected_joint_plan_beside_the_objections(tmp_path):
    model = cast(explorer=[CROWD, everybody(2)])
    run(model, tmp_path)
    for role in ("explorer", "exploiter"):
        assert "refused" not in model.asked(role)[0]
        assert model.asked(role)[1]["refused"] == {"explorer": CROWD}
        assert [entry["code"] for entry in model.asked(role)[1]["feedback"]] == ["V-CROWD"]


def test_the_assessor_sees_its_refused_choices(tmp_path):
    crowd = choose("new", "agent_0", "agent_1", plan=walk(3, "crowd"))
    model = cast(assessor=[crowd, choose("explorer", "nobody"), take("exploiter", 2)])
    run(model, tmp_path)
    assert [blocks.get("refused") for blocks in model.asked("assessor")[:3]] == [
        None,
        crowd,
        choose("explorer", "nobody"),
    ]


@pytest.mark.parametrize(
    ("retry", "calls"),
    [
        ("both", {"explorer": 3, "exploiter": 3, "assessor": 1}),
        ("failed", {"explorer": 2, "exploiter": 3, "assessor": 1}),
    ],
)
def test_retry_decides_who_is_asked_again(tmp_path, retry, calls):
    model = cast(explorer=[CROWD, everybody(2, walk(3, "far"))], exploiter=[NOT_JSON, NOT_JSON, everybody(2)])
    events = run(model, tmp_path, retry=retry)
    assert (model.calls, end_of(events).outcome) == (calls, "success")
    assert model.asked("assessor")[0]["explorer"]["plans"]["agent_0"]["task"]["target"] == "far", "it stands"


class Stale(CorridorGates):
    """Plans to walk to the place `stale` were fine when they were made, and conflict by now."""

    def scrutinize(self, sight, joint):
        late = tuple(agent for agent, plan in joint.running.items() if plan.task.target == "stale" and sight.t)
        return [Rejection("V-CROWD", late, "no longer")] if late else []


@pytest.mark.parametrize(("retries", "fate"), [(3, "walk"), (0, "rest")])
def test_plans_under_way_that_conflict_are_recalled_and_their_agents_are_told(tmp_path, retries, fate):
    first = joint(agent_0=walk(1), agent_1=walk(4, "stale"))
    model = cast(
        explorer=[first, joint(agent_0=walk(1)), joint(agent_0=walk(1), agent_1=walk(1, "new"))],
        exploiter=[first, joint(agent_0=walk(1)), joint(agent_0=walk(1), agent_1=walk(1, "new"))],
        assessor=[take("exploiter", 2), take("exploiter", 2) if retries else choose("exploiter", "agent_0")],
    )
    world = Corridor(2, length=9, max_steps=2)
    events = run(model, tmp_path, world=world, gates=Stale(), confirmation=False, internal_retries=retries)
    assert committed(events, 1) == {0: ["walk"], 1: [fate]}
    assert model.asked("assessor")[1]["asked"] == ["agent_0", "agent_1"]
    repaired = [call["repaired"] for call in calls_of(events) if "repaired" in call]
    assert repaired == ([] if retries else [[1]])


@pytest.mark.parametrize(
    ("switches", "codes"),
    [
        ({}, {"V-CROWD", "C-SHORT", "C-REST"}),
        ({"scrutiny": False}, {"C-SHORT", "C-REST"}),
        ({"confirmation": False}, {"V-CROWD"}),
    ],
)
def test_the_rules_of_the_gates_that_are_in_force_are_reported(switches, codes):
    given = checks(config(**switches), CorridorGates())
    assert {rule["code"] for rules in given.values() for rule in rules} == codes
