"""The gate before execution, rule by rule (COOP2-Repair): who is informed of what, when, and what it leaves as is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from maeil import Act, LoopSettings, Plan, Resume, Task, Thought, View, World
from maeil.judging import Advice, Moment, PlanRules, Violation
from maeil.messages import Draft
from maeil.tasks import Constraint
from quorum.methods.repair.events import RepairChecked, RepairEnded, RepairStarted
from quorum.methods.repair.gate import Repair, RepairConfig
from tests.maeil.corridor import Corridor, Rest, Walk
from tests.maeil.scripted import Scripted, lines, play, walk

TASK = Task("walk", "hall")


@dataclass
class Rules(PlanRules):
    """Expects what a test says, each time in turn, and then nothing; every plan that walks serves one task."""

    expected: list[Sequence[int]] = field(default_factory=list)
    advised: dict[int, Plan] = field(default_factory=dict)
    cooldown: int = 5
    moments: list[Moment] = field(default_factory=list)

    def task_of(self, world: World, agent: int, plan: Plan) -> Task | None:
        return TASK if isinstance(plan.actions[0], Walk) else None

    def predict(self, moment: Moment) -> Sequence[Violation]:
        self.moments.append(moment)
        agents = self.expected.pop(0) if self.expected else ()
        return [Violation(TASK, Constraint.TEMPORAL, tuple(agents), 1, 2)] if agents else []

    def advise(self, moment: Moment, failures: Sequence[Violation]) -> Advice | None:
        return Advice(TASK, self.advised) if self.advised else None


def repair(rules: Rules, **changes: Any) -> Repair:
    values = {
        "mode": "channel", "predictor": "heuristic", "horizon": 20, "cooldown": None, "guidance": True,
        "order": "ascending", "verifications": 1,
    }  # fmt: skip
    return Repair(RepairConfig(**(values | changes)), rules)


def member(*plans: Thought) -> Scripted:
    """A mind that says its name in a turn to speak, and else commits plans, the last one for ever."""
    left = list(plans)

    def answer(view: View) -> Thought:
        if Act.SPEAK in view.turn.acts:
            return Thought(messages=(Draft(view.turn.recipients, f"{view.name} walks"),))
        return left.pop(0) if len(left) > 1 else left[0]

    return Scripted(answer)


def events(found, *kinds):
    return [stamped.event for stamped in found if isinstance(stamped.event, kinds)]


def test_plans_that_are_expected_to_come_off_begin_as_they_are():
    found = play([member(walk(3)), member(walk(3))], extensions=[repair(Rules())])
    (check,) = events(found, RepairChecked)
    assert (check.verdict, check.violations, check.predictor) == ("passed", [], "heuristic")
    assert [(one["plan"], one["task"]) for one in check.plans] == [
        ("P0.1", {"kind": "walk", "target": "hall"}),
        ("P1.1", {"kind": "walk", "target": "hall"}),
    ]
    assert events(found, RepairStarted) == []


def test_each_states_its_intention_in_order_then_all_plan_again_and_the_world_stands_still():
    minds = [member(walk(1), walk(3)) for _ in range(3)]
    found = play(minds, extensions=[repair(Rules([(0, 2)]))])
    reported = lines(found, "message_sent", "plan", "step")
    assert reported[3:11] == [
        "t=0 t^=2: agent 0 says 'agent_0 walks' to [2]",
        "t=0 t^=3: agent 2 says 'agent_2 walks' to [0]",
        "t=0 t^=4: P0.1 replaced (new_plan)",
        "t=0 t^=4: P0.2 committed",
        "t=0 t^=4: P2.1 replaced (new_plan)",
        "t=0 t^=4: P2.2 committed",
        "t=0 t^=4: P0.2 running",
        "t=0 t^=4: P1.1 running",
    ]
    assert [m.content for m in minds[2].views[1].unread] == ["agent_0 walks"], "the second has heard the first"
    assert [m.content for m in minds[0].views[2].unread] == ["agent_2 walks"]
    (notice,) = minds[0].views[1].noted("repair")
    assert (notice.channel, notice.replan) == ((0, 2), True)
    assert [one.id for one in notice.plans.values()] == ["P0.1", "P1.1", "P2.1"], "all plans are shown (published)"
    assert not minds[1].views[1].notes, "who is not concerned is not asked"
    assert events(found, RepairEnded)[0].replaced == ["P0.1", "P2.1"]


def test_together_nobody_has_heard_another():
    minds = [member(walk(1), walk(3)), member(walk(1), walk(3))]
    play(minds, extensions=[repair(Rules([(0, 1)]), order="together")])
    speaking = [view for mind in minds for view in mind.views if Act.SPEAK in view.turn.acts]
    assert [view.unread for view in speaking] == [(), ()]
    assert all(len(view.unread) == 1 for mind in minds for view in mind.views[2:3])


@pytest.mark.parametrize(("mode", "agents"), [("channel", (1,)), ("wide_channel", (0, 1))])
def test_the_published_channel_is_the_advised_agents_and_the_wide_one_also_those_whose_plans_fail(mode, agents):
    minds = [member(walk(1), walk(3)) for _ in range(3)]
    advice = {1: Plan((Walk(steps=2),))}
    found = play(minds, extensions=[repair(Rules([(0,)], advice), mode=mode)])
    (started,), (ended,) = events(found, RepairStarted), events(found, RepairEnded)
    assert (started.agents, list(started.advice["plans"])) == (agents, ["agent_1"])
    assert ended.replaced == [f"P{agent}.1" for agent in agents]
    (notice,) = minds[1].views[1].noted("repair")
    assert notice.advice == Advice(TASK, advice)


def test_without_guidance_nothing_is_advised():
    minds = [member(walk(1), walk(3)) for _ in range(2)]
    found = play(minds, extensions=[repair(Rules([(0,)], {1: Plan((Walk(),))}), guidance=False)])
    assert (events(found, RepairStarted)[0].advice, events(found, RepairStarted)[0].agents) == (None, (0,))


def test_advice_that_the_world_would_refuse_is_none():
    minds = [member(walk(1), walk(3)) for _ in range(2)]
    found = play(minds, extensions=[repair(Rules([(0,)], {1: Plan((Walk(steps=9),))}))])
    assert events(found, RepairStarted)[0].advice is None


def test_a_channel_refuses_to_resume():
    stubborn = Scripted(lambda view: Thought(Resume.RESUME) if view.plan is not None and not view.problems else walk(3))
    found = play([stubborn], extensions=[repair(Rules([(0,)]))])
    refused = [e.refused for e in (s.event for s in found) if e.kind == "thought_end" and e.refused]
    assert refused == [("this turn asks for a new plan",)]
    assert events(found, RepairEnded)[0].replaced == ["P0.1"]


def test_a_notice_is_told_to_those_concerned_who_may_go_on_and_nobody_speaks():
    calm = Scripted(lambda view: Thought(Resume.RESUME) if view.plan is not None else walk(3))
    other = member(walk(3))
    found = play([calm, other], extensions=[repair(Rules([(0,)]), mode="notice")])
    assert lines(found, "message_sent") == []
    assert events(found, RepairEnded)[0].replaced == []
    (notice,) = calm.views[1].noted("repair")
    assert (notice.replan, notice.advice, len(other.views)) == (False, None, 1)
    assert "t=0 t^=2: agent 0 I->W resumed" in lines(found, "stage")


def test_rules_commit_the_advised_plan_without_a_thought():
    minds = [member(walk(1)), member(walk(3))]
    found = play(minds, extensions=[repair(Rules([(0,)], {0: Plan((Walk(steps=3),))}), mode="rules")])
    assert "t=0 t^=1: P0.2 committed [advised]" in lines(found, "plan")
    assert [len(mind.views) for mind in minds] == [1, 1]


def test_rules_without_another_plan_leave_all_as_it_is():
    same = {0: Plan((Walk(steps=3),))}
    for advice in ({}, same):
        found = play([member(walk(3)), member(walk(3))], extensions=[repair(Rules([(0,)], advice), mode="rules")])
        assert [check.verdict for check in events(found, RepairChecked)] == ["no_advice"]
        assert events(found, RepairStarted) == []


def test_rules_without_guidance_judge_and_change_nothing():
    def minds():
        return [member(walk(1), walk(2)), member(walk(3))]

    judge = repair(Rules([(0,)], {0: Plan((Walk(steps=3),))}), mode="rules", guidance=False)
    judged = play(minds(), extensions=[judge])
    assert events(judged, RepairChecked)[0].verdict == "no_advice"
    kinds = ("message_sent", "plan", "stage", "action", "step", "thought_end")
    assert lines(judged, *kinds) == lines(play(minds()), *kinds)


@pytest.mark.parametrize(
    ("cooldown", "verdicts"),
    [
        (None, ["repair", "cooldown", "cooldown", "repair"]),  # that of the rules: 5 steps
        (0, ["repair"] * 4),
        (4, ["repair", "cooldown", "repair", "cooldown"]),
    ],
)
def test_a_repaired_task_is_left_alone_until_it_has_cooled_down(cooldown, verdicts):
    minds = [member(walk(2)), member(Thought(Plan((Rest(steps=50),))))]
    found = play(minds, Corridor(2, length=2, max_steps=8), extensions=[repair(Rules([(0,)] * 9), cooldown=cooldown)])
    assert [(s.t, s.event.verdict) for s in found if isinstance(s.event, RepairChecked)] == list(
        zip((0, 2, 4, 6), verdicts, strict=True)
    )


def test_what_was_repaired_is_judged_again_only_when_the_settings_say_so():
    for verifications, checks in ((1, ["repair"]), (2, ["repair", "repair"]), (3, ["repair", "repair", "passed"])):
        found = play([member(walk(3))], extensions=[repair(Rules([(0,)] * 2), verifications=verifications)])
        assert [check.verdict for check in events(found, RepairChecked)] == checks


def test_nothing_is_judged_while_every_plan_is_under_way():
    slow, quick = member(walk(3)), member(walk(1))
    found = play([slow, quick], extensions=[repair(Rules())])
    checks = [(s.t, [p["plan"] for p in s.event.plans]) for s in found if isinstance(s.event, RepairChecked)]
    assert checks == [(0, ["P0.1", "P1.1"]), (1, ["P0.1", "P1.2"]), (2, ["P0.1", "P1.3"])]


def test_a_plan_under_way_that_is_resumed_goes_on_where_it_was():
    steady = Scripted(lambda view: Thought(Resume.RESUME) if view.plan is not None else walk(3))
    world = Corridor(2)
    found = play([steady, member(walk(1))], world, extensions=[repair(Rules([(), (0,)]), mode="notice")])
    assert "t=1 t^=2: agent 0 X->I repair" in lines(found, "stage")
    assert [line for line in lines(found, "action") if "P0.1" in line] == [
        "t=0 t^=1: P0.1 walk started",
        "t=3 t^=4: P0.1 walk success",
    ]


def test_who_has_used_up_its_thoughts_goes_on_with_the_plan_that_it_has():
    found = play(
        [member(walk(3)), member(walk(3))],
        settings=LoopSettings(max_thoughts_per_step=1),
        extensions=[repair(Rules([(0, 1)]))],
    )
    assert lines(found, "forced_ready") == ["t=0 t^=1: agent 0 forced", "t=0 t^=1: agent 1 forced"]
    assert found[-1].event.outcome == "success"
