"""What a group of plans has violated, and the metrics that hold it against what was expected."""

from __future__ import annotations

import pytest

from maeil.metrics import METRICS, compute_metrics
from maeil.tasks import Constraint
from maeil.trace import SCHEMA
from maeil.trace.events import EpisodeStart, MessageSent, PlanChange, Stamped, StepOutcome, StepTaken, ThoughtEnd
from maeil.trace.reader import Trace
from quorum.methods.repair.events import RepairChecked, RepairEnded, RepairStarted
from quorum.methods.repair.metrics import judged_groups
from quorum.methods.repair.rules import violated

S, T, P, D, J = (
    Constraint.SPATIAL,
    Constraint.TEMPORAL,
    Constraint.PARTICIPATION,
    Constraint.DEPENDENCY,
    Constraint.JOINT,
)
TASK = {"kind": "push", "target": "block_0/left"}


@pytest.mark.parametrize(
    ("tries", "succeeded", "failed", "expected"),
    [
        ([{S, T}, {T}], False, True, {T}),  # at its best attempt the agents were in place
        ([{S}, {D}], False, True, {J}),  # each was satisfied once, never together
        ([{S, T}], True, True, set()),  # it came off
        ([], False, True, {S}),  # nobody came so far as to try
        ([], False, False, set()),  # nobody was to try
        ([{P}], False, False, {P}),
    ],
)
def test_a_constraint_is_violated_that_no_attempt_satisfied(tries, succeeded, failed, expected):
    assert violated(tries, succeeded=succeeded, failed=failed) == expected


def trace(*happened) -> Trace:
    start = EpisodeStart(SCHEMA, 0, "w", "individual", ["agent_0", "agent_1"], [], "tokens", {})
    stamped = [Stamped(seq, 0, seq, 0.0, event) for seq, event in enumerate((start, *happened))]
    return Trace(tuple(stamped))


def repair_metrics(found: Trace):
    """The metrics of repair; the events that are written down here are not enough for all others."""
    return {name: METRICS[name].function(found) for name in METRICS if name.startswith("repair.")}


def check(plans, *broken, verdict="passed"):
    judged = [{"plan": plan, "agent": int(plan[1]), "task": TASK} for plan in plans]
    violations = [{"task": TASK, "constraint": c.value, "agents": [0], "expected": 0, "needed": 1} for c in broken]
    return RepairChecked("heuristic", judged, violations, verdict)


def attempt(*missing, succeeded=False, unmet=False):
    record = {"task": TASK, "agents": [0], "succeeded": succeeded, "missing": list(missing), "unmet": unmet}
    return StepOutcome([], [record])


def end(plan, status):
    return PlanChange(plan, int(plan[1]), status)


def test_precision_and_recall_count_constraints_of_groups_whose_end_is_known():
    metrics = repair_metrics(
        trace(
            check(["P0.1", "P1.1"], S, T),
            StepTaken([0], 0),
            attempt(T, D),
            end("P0.1", "failed"),
            end("P1.1", "timed_out"),
            StepTaken([0], 0),
            check(["P0.2", "P1.2"]),
            attempt(succeeded=True),
            end("P0.2", "succeeded"),
            end("P1.2", "succeeded"),
        )
    )
    names = ("known_groups", "true_positives", "false_positives", "false_negatives", "precision", "recall")
    assert [metrics[f"repair.{name}"] for name in names] == [2, 1, 1, 1, 0.5, 0.5]
    assert (metrics["repair.group_precision"], metrics["repair.group_recall"]) == (1, 1)


def test_what_was_in_vain_counts_for_the_plan_that_has_ended_and_what_was_tried_for_the_one_that_lives():
    ended = [check(["P0.1"]), StepTaken([0], 0), end("P0.1", "timed_out"), check(["P0.2"]), StepTaken([0], 0)]
    first, second = judged_groups(trace(*ended, attempt(S), attempt(P, unmet=True), end("P0.2", "failed")))
    assert (first.happened, second.happened) == ({P}, {S})
    (late,) = judged_groups(trace(*ended[:3], StepTaken([0], 0), StepTaken([0], 0), attempt(P, unmet=True)))
    assert late.happened == {S}, "what comes a step later is of another plan"


@pytest.mark.parametrize("behind", [(end("P0.1", "replaced"),), ()], ids=["replaced", "still alive"])
def test_of_plans_that_did_not_end_by_themselves_nothing_is_known(behind):
    group, *_ = judged_groups(trace(check(["P0.1"], S), *behind))
    assert group.happened is None


def test_who_joins_a_group_afterwards_changes_what_happens_and_not_what_was_expected():
    helped = check(["P0.1", "P1.1"]), attempt(succeeded=True), end("P0.1", "succeeded")
    group, _ = judged_groups(trace(check(["P0.1"], S), *helped))
    assert (group.expected, group.happened) == ({S}, set())


def test_a_group_counts_once_by_what_was_said_first():
    assert len(judged_groups(trace(check(["P0.1"], S), check(["P0.1"]), end("P0.1", "failed")))) == 1


def test_costs_are_what_lies_between_begin_and_end_of_repairs():
    said = MessageSent(0, 0, [1], "inform", "x", 1)
    thought = ThoughtEnd(0, 7, [{"prompt_tokens": 100, "completion_tokens": 7}], [], 0.1)
    metrics = repair_metrics(
        trace(
            said, thought, RepairStarted("channel", [0, 1], None), said, thought, RepairEnded(["P0.1"]), said, check([])
        )
    )
    found = [
        metrics[f"repair.{name}"] for name in ("repairs", "messages", "thoughts", "tokens", "time", "replaced_plans")
    ]
    assert found == [1, 1, 1, 107, 3, 1]


def test_a_trace_without_repairs_has_no_metrics_of_them():
    assert not [name for name in compute_metrics(trace()) if name.startswith("repair.")]
