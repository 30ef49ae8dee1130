"""Repair (COOP2-Repair, arXiv 2603.00349 v2): what was expected of plans, what has become of them, and what it cost.

A judged group is the plans for one task that a check has judged together. What a check says of a group counts once, the
first time, and only where the group's plans end by themselves: of plans that a repair or a message has replaced, nobody
knows what would have become. Others act meanwhile, and a plan that they help may come off against what was expected.
What a group has violated is decided by `quorum.methods.repair.rules.violated`, for what was expected and for what has
happened alike.

Steps that repairs save are no metric of one episode: compare with runs without repair on equal boards.
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
        agents: whose plans they are.
        expected: the constraints that they were expected to violate.
        left: the agent of each plan that is not over, by its id.
        tries: what each failed attempt of the group at the task was missing.
        succeeded: whether an attempt came off.
        failed: whether a plan failed.
        happened: the constraints that they have violated; None where nobody knows.
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
        """Take in an attempt of a step, if it is one of the group's."""
        acting = set(self.left.values())
        whose = self.agents - acting if attempt.get("unmet") else acting
        if self.task != Task(**attempt["task"]) or whose.isdisjoint(attempt["agents"]):
            return
        if attempt["succeeded"]:
            self.succeeded = True
        else:
            self.tries.append(frozenset(map(Constraint, attempt["missing"])))

    def close(self) -> None:
        """Note what the group has violated: all its plans are over."""
        self.happened = violated(self.tries, succeeded=self.succeeded, failed=self.failed)


@shared
def judged_groups(trace: Trace) -> tuple[JudgedGroup, ...]:
    """Return the groups of plans that were judged, in order."""
    found: list[JudgedGroup] = []
    known: set[tuple[Task, frozenset[str]]] = set()
    alive: list[JudgedGroup] = []
    ended: list[JudgedGroup] = []  # what a plan has tried in vain is reported with the step after its end
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
    """The groups of a check, each with what it is known by."""
    plans: dict[Task, dict[str, int]] = {}
    for judged in event.plans:
        if judged["task"] is not None:
            plans.setdefault(Task(**judged["task"]), {})[judged["plan"]] = judged["agent"]
    for task, members in plans.items():
        broken = frozenset(Constraint(one["constraint"]) for one in event.violations if Task(**one["task"]) == task)
        yield (task, frozenset(members)), JudgedGroup(task, frozenset(members.values()), broken, members)


def _known(trace: Trace) -> list[tuple[frozenset[Constraint], frozenset[Constraint]]]:
    """What was expected of each group of which it is known what has happened, and that."""
    return [(group.expected, group.happened) for group in judged_groups(trace) if group.happened is not None]


@repair_metric("repair.checks", "checks")
def checks(trace: Trace) -> Value:
    """How often the plans of the team were judged before new ones began."""
    return len(trace.stamped(RepairChecked))


@repair_metric("repair.repairs", "repairs")
def repairs(trace: Trace) -> Value:
    """Repairs that started."""
    return len(trace.stamped(RepairStarted))


@repair_metric("repair.cooldowns", "checks")
def cooldowns(trace: Trace) -> Value:
    """Checks that found something, and no task that was not repaired a short while ago."""
    return sum(check.verdict == "cooldown" for check in trace.of(RepairChecked))


@repair_metric("repair.expected_violations", "constraints")
def expected_violations(trace: Trace) -> Value:
    """Constraints that judged groups were expected to violate, each group counted once."""
    return sum(len(group.expected) for group in judged_groups(trace))


@repair_metric("repair.known_groups", "groups")
def known_groups(trace: Trace) -> Value:
    """Judged groups of which it is known what has become: what precision and recall are made of."""
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
    """Of the known groups that were expected to violate something, the share that did violate something."""
    flagged = [happened for expected, happened in _known(trace) if expected]
    return ratio(sum(map(bool, flagged)), len(flagged))


@repair_metric("repair.group_recall", better="higher", rate=True)
def group_recall(trace: Trace) -> Value:
    """Of the known groups that have violated something, the share that was expected to violate something."""
    broken = [expected for expected, happened in _known(trace) if happened]
    return ratio(sum(map(bool, broken)), len(broken))


@repair_metric("repair.replaced_plans", "plans")
def replaced_plans(trace: Trace) -> Value:
    """Plans that repairs have put others in the place of."""
    return sum(len(ended.replaced) for ended in trace.of(RepairEnded))


@shared
def _costs(trace: Trace) -> dict[str, float]:
    """What was said and thought between the begins and the ends of repairs."""
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
    ("messages", "messages", "Messages of repair channels: they count among `communication.messages`, too."),
    ("thoughts", "thoughts", "Thoughts in repairs."),
    ("tokens", "tokens", "Tokens that the calls of these thoughts have read and written."),
    ("time", "cognitive time", "Cognitive time that repairs have taken."),
):
    repair_metric(f"repair.{_what}", _unit, better="lower", doc=_doc)(partial(_cost, _what))
