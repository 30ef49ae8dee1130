"""Constraints, attempts and capabilities by hand."""

from dataclasses import replace

import pytest

from maeil.metrics import compute_metrics
from maeil.tasks import CapabilityChange
from maeil.trace import Trace
from tests.maeil.reporting import Report, ReportingCorridor, attempt, over, state
from tests.maeil.scripted import Scripted, play, walk


def run(reports, steps):
    """Play an episode of so many steps with these reports by step."""
    return Trace(tuple(play([Scripted(walk(steps))], ReportingCorridor(1, reports, length=steps))))


# a needs two agents, b one. Step by step: in place, acting, both at once; every agent is involved, but for step 4.
LIFTS = {
    # b is attempted from the wrong place, and depends on something
    0: Report([state("a", 2, 1, 0, 0), state("b", 1, 0, 1, 0, ready=False)], (attempt("b", 0),)),
    # two stand at a, only one of them lifts
    1: Report([state("a", 2, 2, 1, 1)], (attempt("a", 0),)),
    # two stand at a and two lift, but only one does both; b is right and yet does not move
    2: Report([state("a", 2, 2, 2, 1), state("b", 1, 1, 1, 1)], (attempt("a", 0, 1), attempt("b", 2))),
    # a is lifted; everybody leaves b
    3: Report([state("a", 2, 2, 2, 2), state("b", 1, 0, 0, 0)], (attempt("a", 0, 1, succeeded=True),)),
    # c takes two: one is involved, in place and acts; two are involved, one in place and acting
    4: Report([over("a"), state("c", 2, 1, 1, 1, involved=1)], (attempt("c", 0),)),
    5: Report([state("c", 2, 1, 1, 1, involved=2)], (attempt("c", 0),)),
}
LIFTED = {
    "attempts": 7,
    "failed_attempts": 6,
    "attempt_success_rate": 1 / 7,
    # the pairs (0, b), (1, a), (2, a), (2, b), (3, a), (4, c), (5, c)
    "satisfied_spatial": 4 / 7,
    "satisfied_temporal": 4 / 7,
    "satisfied_participation": 6 / 7,
    "satisfied_dependency": 6 / 7,
    "satisfied_joint": 2 / 7,
    "violation_spatial": (1 + 0 + 0 + 0 + 0 + 1 / 2 + 1 / 2) / 7,
    "violation_temporal": (0 + 1 / 2 + 0 + 0 + 0 + 1 / 2 + 1 / 2) / 7,
    "violation_participation": (1 / 2) / 7,
    "violation_dependency": (1 + 0 + 0 + 0 + 0 + 0 + 0) / 7,
    "violation_joint": (1 + 1 / 2 + 1 / 2 + 0 + 0 + 1 / 2 + 1 / 2) / 7,
    # each failed attempt once, by what it lacked first
    "missing_spatial": 1,
    "missing_temporal": 1,
    "missing_participation": 1,
    "missing_dependency": 1,
    "missing_joint": 1,
    "missing_none": 1,
    "share_spatial": 1 / 6,
    "share_temporal": 1 / 6,
    "share_participation": 1 / 6,
    "share_dependency": 1 / 6,
    "share_joint": 1 / 6,
    # a: spatial in step 1, temporal in step 2; b: spatial and dependency in step 2, spatial and temporal away in step 3
    "improvement_ratio_spatial": 2 / 3,
    "improvement_ratio_temporal": 1 / 2,
    "improvement_ratio_participation": 1.0,
    "improvement_ratio_dependency": 1.0,
    "quorums": 2,
    # a: somebody is there from step 0, all are at step 3; b: at once
    "time_to_quorum": (3 + 0) / 2,
}


def test_constraints_by_hand():
    found = compute_metrics(run(LIFTS, steps=6))
    constraints = {name.removeprefix("constraints."): value for name, value in found.items() if "constraints." in name}
    assert constraints == {
        name: pytest.approx(value) if isinstance(value, float) else value for name, value in LIFTED.items()
    }


def test_coop2_constraints_by_hand():
    found = compute_metrics(run(LIFTS, steps=6))
    # after the step: b 0 of 1, a 2 of 2, a 2 of 2, b 0 of 1, c 1 of 2; a is over after step 3
    assert found["coop2.violation_spatial"] == pytest.approx(2.5 / 5)
    assert found["coop2.violation_participation"] == found["coop2.violation_spatial"]
    # b depends on something that is not there, once in seven
    assert found["coop2.violation_dependency"] == pytest.approx(1 / 7)
    tools = {0: Report([replace(state("a", 4, 1, 1, 1, ready=False), literal=(4, 1, 3))], (attempt("a", 0),))}
    assert compute_metrics(run(tools, steps=1))["coop2.violation_dependency"] == 1 / 4


def test_emcoops_literal_constraints_by_hand():
    def lift(name, p, *counts, literal):
        return replace(state(name, p, *counts), literal=literal)

    lifts = {
        # two are near, one of whom acts; p is 3 with what stands in front, 2 by itself
        0: Report([lift("a", 3, 1, 1, 0, literal=(2, 2, 2))], (attempt("a", 0),)),
        # two act and two are near, not the same ones
        1: Report([lift("a", 3, 1, 2, 0, literal=(2, 2, 2))], (attempt("a", 0),)),
        2: Report([lift("a", 3, 0, 0, 0, literal=(2, 1, 2))]),
    }
    found = {name: value for name, value in compute_metrics(run(lifts, steps=3)).items() if name.startswith("emcoop.")}
    assert found == {
        # after the step: 2 of 2, then 1 of 2
        "emcoop.violation_spatial": pytest.approx(1 / 4),
        "emcoop.violation_temporal": pytest.approx(1 / 4),
        "emcoop.violation_participation": 0.0,
        "emcoop.violation_dependency": 0.0,
        "emcoop.cooperative": 1 / 2,
        "emcoop.improvement_ratio_spatial": 0.0,
        "emcoop.improvement_ratio_temporal": 0.5,
        "emcoop.improvement_ratio_participation": 0.5,
        "emcoop.improvement_ratio_dependency": 0.5,
    }
    # a world that gives no literal counts is counted as we count; one without tasks is not counted
    same = run({0: Report([state("a", 2, 1, 1, 0)], (attempt("a", 0),))}, steps=2)
    assert compute_metrics(same)["emcoop.violation_spatial"] == 1 / 2
    none = compute_metrics(run({}, steps=2))
    assert {value for name, value in none.items() if name.startswith("emcoop.")} == {None}


def test_nothing_to_cooperate_on():
    found = compute_metrics(run({}, steps=2))
    assert (found["constraints.attempts"], found["constraints.missing_none"]) == (0, 0)
    for name in ("violation_spatial", "satisfied_joint", "attempt_success_rate", "time_to_quorum"):
        assert found[f"constraints.{name}"] is None
    assert found["coop2.violation_spatial"] is None


def test_two_attempts_at_a_task_in_a_step_are_one_pair():
    tried = (attempt("a", 0), attempt("a", 1), attempt("b", 2, succeeded=True))
    lifts = {0: Report([state("a", 4, 1, 1, 1), state("b", 1, 1, 1, 1)], tried)}
    found = compute_metrics(run(lifts, steps=1))
    assert (found["constraints.attempts"], found["constraints.missing_spatial"]) == (3, 2)
    assert found["constraints.violation_spatial"] == pytest.approx((3 / 4 + 0) / 2)
    # no step follows, so nothing is counted after it
    assert found["coop2.violation_spatial"] is None


def test_more_agents_than_it_takes_make_up_for_nothing():
    lifts = {
        0: Report(
            [state("a", 1, 3, 3, 3), state("b", 2, 1, 1, 1)], (attempt("a", 0, 1, 2, succeeded=True), attempt("b"))
        )
    }
    found = compute_metrics(run(lifts, steps=1))
    assert found["constraints.violation_spatial"] == pytest.approx(1 / 4)


def test_the_joint_condition_needs_the_dependency():
    lifts = {0: Report([state("a", 1, 1, 1, 1, ready=False)], (attempt("a", 0),))}
    found = compute_metrics(run(lifts, steps=1))
    assert (found["constraints.satisfied_joint"], found["constraints.violation_joint"]) == (0.0, 1.0)
    assert (found["constraints.missing_dependency"], found["constraints.missing_joint"]) == (1, 0)
    assert found["constraints.quorums"] == 0


def test_those_who_have_left_do_not_wait_for_the_quorum():
    lifts = {
        0: Report([state("a", 2, 1, 0, 0), state("b", 2, 1, 0, 0)]),
        1: Report([state("a", 2, 0, 0, 0)]),
        2: Report([state("a", 2, 1, 0, 0)]),
        4: Report([state("a", 2, 2, 2, 2)]),
        5: Report([state("a", 2, 1, 0, 0)]),
        6: Report([state("a", 2, 2, 2, 2)]),
    }
    found = compute_metrics(run(lifts, steps=7))
    # from step 2 to step 4; the second quorum of a is not another first one, and b has none
    assert found["constraints.time_to_quorum"] == 2
    assert found["constraints.quorums"] == 1


def test_a_task_that_comes_back_starts_again():
    lifts = {
        0: Report([state("a", 1, 1, 1, 1)]),
        1: Report([over("a")]),
        2: Report([state("a", 1, 0, 0, 0)]),
        3: Report([state("a", 1, 1, 1, 1)]),
    }
    found = compute_metrics(run(lifts, steps=4))
    assert found["constraints.quorums"] == 1
    # neither its end nor its return is a change for the worse
    assert found["constraints.improvement_ratio_spatial"] == 1.0


def test_capabilities_by_hand():
    reports = {
        0: Report(capabilities=(CapabilityChange(0, "pickaxe", True), CapabilityChange(0, "sword", True))),
        2: Report(capabilities=(CapabilityChange(0, "pickaxe", False),)),
    }
    found = compute_metrics(run(reports, steps=4))
    assert (found["capability.gains"], found["capability.losses"]) == (2, 1)
    assert found["capability.gain_rate"] == 2 / 4
