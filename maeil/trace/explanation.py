"""Why an episode did not succeed, in one to three sentences that its trace proves.

The first sentence says what ended the run, and how far the team got. The others name tasks that were open at the end,
with how many agents each needs, and what the team did about them. An attempt is what the world reports as one
(`maeil.tasks.Attempt`). What the trace does not prove is left out: a task that may have ended in the last step, and
tasks that are no goals, unless attempts at them failed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any, cast

from maeil.outcomes import Outcome
from maeil.plans import PlanStatus
from maeil.tasks import Constraint, fewest
from maeil.trace.events import ActionChange, ConstraintChange, ScoreChange, Stamped, StepOutcome, StepTaken
from maeil.trace.reader import Trace, shared
from maeil.trace.story import Attempt, PlanLife

MOST = 3
"""Maximum number of sentences."""
_NAMED = 3
"""Maximum number of names in a list."""
_LONGEST = 200
"""Maximum characters of a reason that a sentence quotes."""

_ENDS = {
    Outcome.TRUNCATED: "Time was up",
    Outcome.BUDGET: "The budget was used up",
    Outcome.ERROR: "An error ended the run",
    Outcome.FAILURE: "The run ended in failure",
}
_LACKS = {
    Constraint.DEPENDENCY: "its prerequisites were not met",
    Constraint.PARTICIPATION: "too few agents were committed to it",
    Constraint.SPATIAL: "too few agents were in place",
    Constraint.TEMPORAL: "too few agents acted at the same time",
    Constraint.JOINT: "too few agents were in place, able and acting at once",
}
_FALLBACKS = frozenset({"invalid_plan", "parse_failure", "empty_answer", "forced_ready"})
"""The flags of plans that the loop commits because a mind has none."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence on why an episode did not succeed.

    Attributes:
        t: environment step that it is about.
        words: its text; it may quote text of models.
    """

    t: int
    words: str

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {"t": self.t, "words": self.words}


@shared
def explain_failure(trace: Trace) -> tuple[Sentence, ...]:
    """Explain why an episode did not succeed; empty if it did, if it is not over, or if nothing is certain."""
    end = trace.end
    if end is None or end.outcome == Outcome.SUCCESS:
        return ()
    run = _Run(trace)
    found = [*run.ending()]
    if end.outcome != Outcome.ERROR:
        found += run.inaction() or [*run.refusals(), *run.open_tasks()] or run.failed_plans()
    return tuple(found[:MOST])


class _Run:
    """The facts of an episode that has ended."""

    def __init__(self, trace: Trace) -> None:
        assert trace.end is not None
        self.trace, self.end, self.story = trace, trace.end, trace.story
        self.steps = self.end.steps
        self.names = (*trace.start.agents, *trace.start.coordinators)
        self.scores = [(stamped.t, cast(ScoreChange, stamped.event)) for stamped in trace.stamped(ScoreChange)]
        self.ways: defaultdict[str, dict[str, list[Stamped]]] = defaultdict(dict)
        for (_, way), reports in self.story.tasks.items():
            self.ways[way.partition("/")[0]].setdefault(way, []).extend(reports)
        self.attempts: defaultdict[str, list[Attempt]] = defaultdict(list)
        for attempt in self.story.attempts:
            self.attempts[attempt.target].append(attempt)
        self.named = all(plan.target or plan.content.flag in _FALLBACKS for plan in self.story.plans)
        """Whether all plans name a task. If not, a plan may be for a task without naming it."""
        self.changes: defaultdict[str, list[Stamped]] = defaultdict(list)
        for stamped in trace.stamped(ActionChange):
            self.changes[cast(ActionChange, stamped.event).plan].append(stamped)

    def ending(self) -> Iterator[Sentence]:
        """Yield what ended the run, and the goals that were reached; nothing if no goal was set and nothing broke."""
        outcome, reason = self.end.outcome, _quoted(self.end.reason)
        score = self.scores[-1][1] if self.scores else None
        if outcome not in _ENDS or (outcome == Outcome.TRUNCATED and not (score and score.goals)):
            return
        if outcome == Outcome.FAILURE and not reason:
            last = [cast(StepOutcome, one.event) for one in self.trace.stamped(StepOutcome) if one.t == self.steps - 1]
            kinds = sorted({str(one["what"]) for step in last for one in step.outcomes if "what" in one})
            reason = f"last step: {_listed(kinds)}" if kinds else ""
        words = f"{_ENDS[outcome]} after {_count(self.steps, 'step')}{f' ({reason})' if reason else ''}"
        if score is not None and score.goals:
            words += f", with {score.reached} of {_count(score.goals, 'goal')} reached"
            rises = [t for (_, one), (t, other) in pairwise(self.scores) if other.reached > one.reached and t]
            if score.reached and rises:
                words += f", the last in step {rises[-1] - 1}"
            most, t = max((one.reached, t) for t, one in self.scores)
            if most > score.reached:
                words += f", after {most} in step {t - 1}"
        yield Sentence(self.steps, f"{words}.")

    def inaction(self) -> list[Sentence]:
        """Return why nobody did anything: all answers were refused, or all plans had one action and served no task."""
        plans = self.story.plans
        if all(plan.content.flag in _FALLBACKS for plan in plans) and (refused := self.refusals(0, "Nobody acted: ")):
            return refused
        names = {str(action.get("action")) for plan in plans for action in plan.content.actions or ()}
        if len(names) == 1 and self.ways and not self.attempts and not any(plan.target for plan in plans):
            return [Sentence(0, f"Nobody tried a task: every plan was only {names.pop()}.")]
        return []

    def refusals(self, least: float = 0.5, result: str = "") -> list[Sentence]:
        """Return how many answers were refused, and the most frequent reason, if their share is large enough."""
        thoughts = [thought for thought in self.story.thoughts if thought.end is not None]
        refused = [thought for thought in thoughts if thought.refused]
        if not refused or len(refused) < least * len(thoughts):
            return []
        ((reason, times),) = Counter(why for thought in refused for why in thought.without_effect).most_common(1)
        share = f"{len(refused)} of {_count(len(thoughts), 'answer')} {'was' if len(thoughts) == 1 else 'were'} refused"
        words = f"{result}{share}, {_count(times, 'time')} because {_quoted(reason)}."
        return [Sentence(refused[0].start.t, words)]

    def failed_plans(self) -> list[Sentence]:
        """Return the most frequent reason why plans failed, if at least half of them did."""
        plans, failed = self.story.plans, [plan for plan in self.story.plans if plan.failed]
        if not failed or 2 * len(failed) < len(plans):
            return []
        ((reason, times),) = Counter(_quoted(plan.reason) for plan in failed).most_common(1)
        share = f"{len(failed)} of {_count(len(plans), 'plan')} failed"
        return [Sentence(failed[0].ended.t, f"{share}, {times} of them with {reason}.")]

    def open_tasks(self) -> list[Sentence]:
        """Explain the tasks that were open at the end: the impossible ones, waits, vain attempts, then the others."""
        are_goals, still_open = self._open()
        found: list[tuple[int, Sentence]] = []
        untouched = []
        for target in still_open:
            plans = [plan for plan in self.story.plans if plan.target == target]
            attempts = self.attempts.get(target, [])
            succeeded = any(attempt.succeeded for attempt in attempts)
            early = bool(plans) and 2 * plans[0].committed.t <= self.steps
            if not are_goals and (succeeded or not (attempts or early)):
                continue
            if team := self._beyond_the_team(target):
                found.append((0, Sentence(0, f"{self._needs(target)}, and the team has {team}.")))
            elif waiting := self._waiting(target, plans):
                found.append((1, waiting))
            elif attempts:
                found.append((2 + succeeded, self._tried(target, attempts, plans)))
            elif plans:
                found.append((2, self._planned(target, plans)))
            else:
                untouched.append(f"{target} ({self._needs(target).removeprefix(target).strip()})")
        if untouched:
            others, verbs = self._instead("", self.steps), "planned or tried" if self.named else "tried"
            found.append((4, Sentence(0, f"Nobody {verbs} {_listed(untouched)}{others and f'; {others}'}.")))
        return [sentence for _, sentence in sorted(found, key=lambda one: one[0])]

    def _open(self) -> tuple[bool, list[str]]:
        """Return whether the targets of tasks are the goals, and the targets that were surely open at the end.

        They are the goals if there are as many of both, at the start and before the last step. The world reports the
        end of a task only before the next step, so a target that an attempt in the last step may have finished is
        left out.
        """
        if self.end.outcome not in _ENDS or not (self.scores and self.scores[-1][1].goals):
            return False, []
        active = [target for target in self.ways if self._reports(target)]
        first = {target for target, ways in self.ways.items() if any(one[0].t == 0 for one in ways.values())}
        before = next((score for t, score in reversed(self.scores) if t < self.steps), self.scores[0][1])
        are_goals = len(first) == self.scores[0][1].goals and len(active) == before.goals - before.reached
        maybe_over = {
            attempt.target for attempt in self.story.attempts if attempt.succeeded and attempt.event.t == self.steps - 1
        }
        if are_goals and self.scores[-1][1].reached <= before.reached:
            maybe_over = set()
        return are_goals, [target for target in active if target not in maybe_over]

    def _reports(self, target: str) -> dict[str, ConstraintChange]:
        """Return the last report of each way of doing a task that is active at the end."""
        last = {way: cast(ConstraintChange, reports[-1].event) for way, reports in self.ways[target].items()}
        return {way: report for way, report in last.items() if report.threshold}

    def _needs(self, target: str) -> str:
        """Return the start of a sentence: how many agents a task needs at the end of the run."""
        reports = self._reports(target).values()
        counts = {fewest(report.threshold, report.weights) for report in reports}
        weighted = any(report.weights for report in reports)
        if weighted and min(counts) > len(self.trace.start.agents):
            return f"{target} needs more than all agents together"
        exact = len(counts) == 1 and not weighted
        return f"{target} needs {'' if exact else 'at least '}{_count(min(counts), 'agent')}"

    def _beyond_the_team(self, target: str) -> int:
        """Return the size of the team if it was always too small for a task; else 0."""
        team = len(self.trace.start.agents)
        reports = (cast(ConstraintChange, one.event) for ways in self.ways[target].values() for one in ways)
        enough = any(report.threshold and fewest(report.threshold, report.weights) <= team for report in reports)
        return 0 if enough else team

    def _waiting(self, target: str, plans: Sequence[PlanLife]) -> Sentence | None:
        """Explain a wait that lasted until the end.

        At some ways of doing the task, fewer agents were committed than it needs, all in place, and nobody worked on
        it. The agents that waited are those whose plan for the task ran until the end; they must account for all
        commitments, and have taken one primitive all the time. If another agent stood still with a different
        primitive, it may have been the one in place, so nothing is said.
        """
        reports = self._reports(target)
        ways = [way for way, report in reports.items() if 0 < report.participation < report.threshold]
        live = {plan.agent: plan for plan in plans if plan.status is PlanStatus.CANCELLED}
        weights = next((report.weights for report in reports.values()), None)
        committed = sum(reports[way].participation for way in ways)
        if not ways or committed != sum(weights[agent] if weights else 1 for agent in live):
            return None
        since = max(self._started(plan) for plan in live.values())
        for way, changes in self.ways[target].items():
            for change in reversed(changes):
                report = cast(ConstraintChange, change.event)
                short = way not in ways or (0 < report.participation < report.threshold)
                if report.temporal or not short or (way in ways and report.spatial < report.participation):
                    since = max(since, next((one.t for one in changes if one.seq > change.seq), self.steps))
                    break
        taken = [cast(StepTaken, step.event).joint for step in self.trace.stamped(StepTaken) if step.t >= since]
        still = {agent: taken[0][agent] for agent in range(len(self.trace.start.agents)) if len(taken) > 1}
        still = {agent: one for agent, one in still.items() if all(joint[agent] == one for joint in taken)}
        if not still or not still.keys() >= live.keys() or any(one != still[min(live)] for one in still.values()):
            return None
        needed = min(reports[way].threshold for way in ways)
        apart = len(live) > 1 and len(ways) > 1 and committed >= needed
        where = f"{'for each other ' if apart else ''}at {_listed(ways)} from step {since} on"
        others = "" if apart else ", and too few others joined"
        return Sentence(since, f"{self._needs(target)}; {self._names(live)} waited {where}{others}.")

    def _started(self, plan: PlanLife) -> int:
        """Return the step in which the last action of a plan started; the end of the run if none did."""
        starts = (one.t for one in self.changes[plan.id] if cast(ActionChange, one.event).status == "started")
        return max(starts, default=self.steps)

    def _running(self, plan: PlanLife) -> Stamped | None:
        """Return the start of the action that a plan was in during the last step; None if it was in none."""
        last = next((one for one in reversed(self.changes[plan.id]) if one.t < self.steps), None)
        return last if last is not None and cast(ActionChange, last.event).status == "started" else None

    def _tried(self, target: str, attempts: Sequence[Attempt], plans: Sequence[PlanLife]) -> Sentence:
        """Explain a task that somebody attempted, and that was not finished."""
        first, last, number = attempts[0].event.t, attempts[-1].event.t, len(attempts)
        failed = [attempt for attempt in attempts if not attempt.succeeded]
        parts = [self._needs(target)]
        if late := 2 * first >= self.steps and first > 0:
            parts.append(
                f"there was no attempt before step {first}, {_count(self.steps - first, 'step')} before the end"
            )
            parts += [f"until then, {others}"] if (others := self._instead(target, first)) else []
        when = "" if late else f" from step {first} to step {last}" if first < last else f" in step {first}"
        if len(failed) == number:
            parts.append(f"{_all(number)} at it{when} failed{self._apart(failed) or self._why(failed)}")
        else:
            share = f"{number - len(failed)} of {number} attempts" if failed else _all(number)
            parts.append(f"{share} at it{when} succeeded, which did not finish it")
            if vain := [*takewhile(lambda attempt: not attempt.succeeded, reversed(attempts))]:
                parts.append(f"the last {len(vain) if len(vain) > 1 else 'one'} failed{self._why(vain)}")
        later = [plan for plan in plans if plan.committed.seq > attempts[-1].event.seq]
        parts += [f"after that, {only}"] if (only := _carried_out(later)) else []
        return Sentence(first, f"{'; '.join(parts)}.")

    def _apart(self, failed: Sequence[Attempt]) -> str:
        """Return the way that each agent tried, if each tried one way, and together they would have been enough."""
        tried: defaultdict[int, set[str]] = defaultdict(set)
        for attempt in failed:
            for agent in attempt.agents:
                tried[agent].add(attempt.task[1])
        ways = {way for own in tried.values() for way in own}
        needs = max(attempt.needs for attempt in failed)
        if len(ways) < 2 or any(len(own) > 1 for own in tried.values()) or not 0 < needs <= len(tried):
            return ""
        return ": " + _listed([f"{self.names[agent]} tried only {own.pop()}" for agent, own in sorted(tried.items())])

    def _why(self, failed: Sequence[Attempt]) -> str:
        """Return why attempts failed: more agents than the team has, or the most frequent cause; empty if unknown."""
        reports, team = self._reports(failed[0].target).values(), len(self.trace.start.agents)
        needs = sorted(attempt.needs for attempt in failed)
        then = f"it then needed {'at least ' if needs[0] < needs[-1] else ''}{_count(needs[0], 'agent')}"
        more = needs[0] > min(fewest(report.threshold, report.weights) for report in reports)
        if more and needs[0] > team:
            return f": {then}, and the team has {team}"
        causes = Counter(attempt.missing[0] for attempt in failed if attempt.missing and attempt.missing[0] in _LACKS)
        if not causes:
            return ""
        ((cause, times),) = causes.most_common(1)
        share = f"in {times} of them, " if times < len(failed) else ""
        lack = _LACKS[Constraint(cause)]
        if any(report.weights for report in reports):
            lack = lack.replace("too few", "too few or too weak")
        ends = Counter(self._ended(attempt) for attempt in failed if attempt.unmet)
        refused = f" ({ends.most_common(1)[0][0]})" if ends.total() == len(failed) and "" not in ends else ""
        return f": {share}{lack}{refused}{f', and {then}' if more else ''}"

    def _ended(self, attempt: Attempt) -> str:
        """Return why the plan of an unmet attempt ended; empty if several plans of its agents ended in that step."""
        plans = [plan for plan in self.story.plans if plan.agent in attempt.agents and plan.end is not None]
        reasons = [
            plan.reason for plan in plans if plan.ended.t == attempt.event.t and plan.ended.seq < attempt.event.seq
        ]
        return _quoted(reasons[0]) if len(reasons) == 1 else ""

    def _planned(self, target: str, plans: Sequence[PlanLife]) -> Sentence:
        """Explain a task that somebody planned, and nobody attempted."""
        first = plans[0].committed.t
        parts = [self._needs(target)]
        if first > 0 and 2 * first >= self.steps:
            parts.append(f"no plan named it before step {first}, {_count(self.steps - first, 'step')} before the end")
            parts += [f"until then, {others}"] if (others := self._instead(target, first)) else []
            parts.append("there was no attempt at it")
        else:
            began: defaultdict[int, list[int]] = defaultdict(list)
            for agent, step in {plan.agent: plan.committed.t for plan in reversed(plans)}.items():
                began[step].append(agent)
            planned = " first planned it" if self.named else " planned it"
            earliest, *later = [f"{self._names(began[step])}{planned} in step {step}" for step in sorted(began)]
            who = _listed([earliest, *(one.replace(planned, "") for one in later)])
            parts.append(f"{who}, but there was no attempt at it")
        live = [self._running(plan) for plan in plans if plan.status is PlanStatus.CANCELLED]
        if running := min((one for one in live if one is not None), key=lambda one: one.t, default=None):
            change = cast(ActionChange, running.event)
            parts.append(f"{self.names[change.agent]} was in {change.action} from step {running.t} to the end")
        elif last := max((plan for plan in plans if plan.failed), key=lambda plan: plan.ended.seq, default=None):
            parts.append(f"the last failure of a plan for it was in step {last.ended.t} ({_quoted(last.reason)})")
        elif only := _carried_out(plans):
            parts.append(only)
        elif plans[-1].status in (PlanStatus.INTERRUPTED, PlanStatus.REPLACED):
            parts.append(f"the last plan for it gave way to another in step {plans[-1].ended.t}")
        if not any(report.dependency for report in self._reports(target).values()):
            parts.append(f"in the last step, {_LACKS[Constraint.DEPENDENCY]}")
        return Sentence(first, f"{'; '.join(parts)}.")

    def _instead(self, target: str, before: int) -> str:
        """Return where all attempts before a step were, if they were at other targets; empty if there were none."""
        earlier = [one.target for one in self.story.attempts if one.event.t < before and one.target != target]
        verb = "was" if len(earlier) == 1 else "were"
        return f"{_all(len(earlier))} {verb} at {_listed(sorted(set(earlier)))}" if earlier else ""

    def _names(self, agents: Iterable[int]) -> str:
        return _listed([self.names[agent] for agent in sorted(agents)])


def _carried_out(plans: Sequence[PlanLife]) -> str:
    """Say that plans were all carried out, and had only one kind of action; empty if that is not so."""
    names = {str(action.get("action")) for plan in plans for action in plan.content.actions or ()}
    done = len(names) == 1 and all(plan.status is PlanStatus.SUCCEEDED for plan in plans)
    return f"{_all(len(plans), 'plan')} for it succeeded, with no action but {names.pop()}" if done else ""


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _all(number: int, what: str = "attempt") -> str:
    return (f"the only {what}", f"both {what}s")[number - 1] if number < 3 else f"all {number} {what}s"


def _listed(names: Sequence[str]) -> str:
    """Join names: `a`, `a and b`, `a, b, c and 4 others`."""
    shown = [*names] if len(names) <= _NAMED + 1 else [*names[:_NAMED], f"{len(names) - _NAMED} others"]
    return " and ".join(part for part in (", ".join(shown[:-1]), shown[-1]) if part)


def _quoted(reason: str) -> str:
    line = reason.partition("\n")[0].rstrip(".")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}\u2026"
