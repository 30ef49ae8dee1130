"""Repair (COOP2-Repair, arXiv 2603.00349 v2): predicted violations of plans, actual violations, and costs.

A judged group is the set of plans for one task that a check judges together. Only the first verdict on a group counts,
and only if all its plans end by themselves, because the fate of plans replaced by a repair or a message is unknown.
Other agents keep acting, so a plan that they help may succeed against the prediction. The same rule,
`quorum.methods.repair.rules.violated`, decides predicted and actual violations.

The number of steps saved by repairs is not a metric of one episode: compare with runs without repair on equal boards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import ratio
from maeil.plans import PlanStatus, Task
from maeil.tasks import Constraint
from maeil.trace.events import MessageSent, PlanChange, StepOutcome, StepTaken, ThoughtEnd
from maeil.trace.reader import Trace, shared
from quorum.methods.repair.events import RepairChecked, RepairEnded, RepairStarted
from quorum.methods.repair.rules import violated

repair_metric = partial(metric, of=RepairChecked)

_FAILED = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)
_GIVEN_UP = (PlanStatus.INTERRUPTED, PlanStatus.REPLACED)


@dataclass(slots=True)
class JudgedGroup:
    """The plans for a task that were judged together.

    Attributes:
        task: the task.
        agents: the agents of the plans.
        expected: the constraints that they were expected to violate.
        left: the agent of each plan that is not over, by plan id.
        tries: the constraints missing in each failed attempt of the group at the task.
        succeeded: whether an attempt succeeded.
        failed: whether a plan failed.
        happened: the constraints that they violated; None if unknown.
    """

    task: Task
    agents: frozenset[int]
    expected: frozenset[Constraint]
    left: dict[str, int]
    tries: list[frozenset[Constraint]] = field(default_factory=list)
    succeeded: bool = False
    failed: bool = False
    happened: frozenset[Constraint] | None = None

    def note(self, attempt: Mapping[str, Any]) -> None:
        """Record an attempt of a step if it is one of the group's."""
        acting = set(self.left.values())
        whose = self.agents - acting if attempt.get("unmet") else acting
        if self.task != Task(**attempt["task"]) or whose.isdisjoint(attempt["agents"]):
            return
        if attempt["succeeded"]:
            self.succeeded = True
        else:
            self.tries.append(frozenset(map(Constraint, attempt["missing"])))

    def close(self) -> None:
        """Determine the group's violations, once all its plans are over."""
        self.happened = violated(self.tries, succeeded=self.succeeded, failed=self.failed)


@shared
def judged_groups(trace: Trace) -> tuple[JudgedGroup, ...]:
    """Return the judged groups of plans, in order."""
    found: list[JudgedGroup] = []
    known: set[tuple[Task, frozenset[str]]] = set()
    alive: list[JudgedGroup] = []
    ended: list[JudgedGroup] = []  # a plan's failed attempt is reported in the step after the plan ends
    for stamped in trace.among(RepairChecked, StepOutcome, StepTaken, PlanChange):
        match stamped.event:
            case RepairChecked() as event:
                for key, group in _groups(event):
                    if key not in known:
                        known.add(key)
                        alive.append(group)
                        found.append(group)
            case StepTaken():
                for group in ended:
                    group.close()
                ended = [group for group in alive if not group.left]
                alive = [group for group in alive if group.left]
            case StepOutcome(attempts=attempts):
                for attempt in attempts:
                    for group in (*alive, *ended):
                        group.note(attempt)
            case PlanChange(status=status, plan=plan) if PlanStatus(status).final:
                if status in _GIVEN_UP:
                    alive = [group for group in alive if plan not in group.left]
                for group in alive:
                    if plan in group.left:
                        del group.left[plan]
                        group.failed |= status in _FAILED
    for group in (*ended, *alive):
        if not group.left:
            group.close()
    return tuple(found)


def _groups(event: RepairChecked) -> Iterator[tuple[tuple[Task, frozenset[str]], JudgedGroup]]:
    """Yield the groups of a check, each with its key."""
    plans: dict[Task, dict[str, int]] = {}
    for judged in event.plans:
        if judged["task"] is not None:
            plans.setdefault(Task(**judged["task"]), {})[judged["plan"]] = judged["agent"]
    for task, members in plans.items():
        broken = frozenset(Constraint(one["constraint"]) for one in event.violations if Task(**one["task"]) == task)
        yield (task, frozenset(members)), JudgedGroup(task, frozenset(members.values()), broken, members)


def _known(trace: Trace) -> list[tuple[frozenset[Constraint], frozenset[Constraint]]]:
    """Return the predicted and actual violations of each group whose outcome is known."""
    return [(group.expected, group.happened) for group in judged_groups(trace) if group.happened is not None]


@repair_metric("repair.checks", "checks")
def checks(trace: Trace) -> Value:
    """Checks of the team's plans before new ones began."""
    return len(trace.stamped(RepairChecked))


@repair_metric("repair.repairs", "repairs")
def repairs(trace: Trace) -> Value:
    """Repairs that started."""
    return len(trace.stamped(RepairStarted))


@repair_metric("repair.cooldowns", "checks")
def cooldowns(trace: Trace) -> Value:
    """Checks that found violations, but only for tasks that were repaired recently."""
    return sum(check.verdict == "cooldown" for check in trace.of(RepairChecked))


@repair_metric("repair.expected_violations", "constraints")
def expected_violations(trace: Trace) -> Value:
    """Constraints that judged groups were expected to violate, each group counted once."""
    return sum(len(group.expected) for group in judged_groups(trace))


@repair_metric("repair.known_groups", "groups")
def known_groups(trace: Trace) -> Value:
    """Judged groups whose outcome is known; precision and recall are computed over these."""
    return len(_known(trace))


@repair_metric("repair.true_positives", "constraints")
def true_positives(trace: Trace) -> Value:
    """Constraints of known groups that were expected to be violated, and were."""
    return sum(len(expected & happened) for expected, happened in _known(trace))


@repair_metric("repair.false_positives", "constraints")
def false_positives(trace: Trace) -> Value:
    """Constraints of known groups that were expected to be violated, and were not."""
    return sum(len(expected - happened) for expected, happened in _known(trace))


@repair_metric("repair.false_negatives", "constraints")
def false_negatives(trace: Trace) -> Value:
    """Constraints of known groups that were violated, and not expected to be."""
    return sum(len(happened - expected) for expected, happened in _known(trace))


@repair_metric("repair.precision", better="higher", rate=True)
def precision(trace: Trace) -> Value:
    """Share of the expected violations of known groups that happened: TP / (TP + FP)."""
    hits = sum(len(expected & happened) for expected, happened in _known(trace))
    return ratio(hits, sum(len(expected) for expected, _ in _known(trace)))


@repair_metric("repair.recall", better="higher", rate=True)
def recall(trace: Trace) -> Value:
    """Share of the violations of known groups that were expected: TP / (TP + FN)."""
    hits = sum(len(expected & happened) for expected, happened in _known(trace))
    return ratio(hits, sum(len(happened) for _, happened in _known(trace)))


@repair_metric("repair.group_precision", better="higher", rate=True)
def group_precision(trace: Trace) -> Value:
    """Of the known groups that were expected to violate a constraint, the share that did."""
    flagged = [happened for expected, happened in _known(trace) if expected]
    return ratio(sum(map(bool, flagged)), len(flagged))


@repair_metric("repair.group_recall", better="higher", rate=True)
def group_recall(trace: Trace) -> Value:
    """Of the known groups that violated a constraint, the share that was expected to."""
    broken = [expected for expected, happened in _known(trace) if happened]
    return ratio(sum(map(bool, broken)), len(broken))


@repair_metric("repair.replaced_plans", "plans")
def replaced_plans(trace: Trace) -> Value:
    """Plans replaced by repairs."""
    return sum(len(ended.replaced) for ended in trace.of(RepairEnded))


@shared
def _costs(trace: Trace) -> dict[str, float]:
    """Return the messages, thoughts, tokens and time spent during repairs."""
    found = {"messages": 0.0, "thoughts": 0.0, "tokens": 0.0, "time": 0.0}
    started_at: float | None = None
    for stamped in trace.among(RepairStarted, RepairEnded, MessageSent, ThoughtEnd):
        match stamped.event:
            case RepairStarted():
                started_at = stamped.t_hat
            case RepairEnded() if started_at is not None:
                found["time"] += stamped.t_hat - started_at
                started_at = None
            case MessageSent() if started_at is not None:
                found["messages"] += 1
            case ThoughtEnd(calls=calls) if started_at is not None:
                found["thoughts"] += 1
                found["tokens"] += sum(
                    call.get("prompt_tokens", 0) + call.get("completion_tokens", 0) for call in calls
                )
    return found


def _cost(what: str, trace: Trace) -> Value:
    cost = _costs(trace)[what]
    return int(cost) if cost == int(cost) else cost


for _what, _unit, _doc in (
    ("messages", "messages", "Messages in repair channels; `communication.messages` includes them."),
    ("thoughts", "thoughts", "Thoughts in repairs."),
    ("tokens", "tokens", "Tokens read and written by the calls of these thoughts."),
    ("time", "cognitive time", "Cognitive time spent on repairs."),
):
    repair_metric(f"repair.{_what}", _unit, better="lower", doc=_doc)(partial(_cost, _what))
