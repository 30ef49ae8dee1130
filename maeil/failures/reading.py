"""Makes a `History` of a trace, in two passes: which tasks there are, and what happened."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from maeil.failures.history import Closure, Course, History, PlanLife, Refusal, Said, Tried, target_of
from maeil.failures.wording import Wording
from maeil.mind import Act
from maeil.plans import PlanStatus
from maeil.trace.events import (
    ActionChange,
    ConstraintChange,
    MessageRead,
    MessageSent,
    PlanChange,
    Stamped,
    StepOutcome,
    ThoughtEnd,
    ThoughtStart,
)
from maeil.trace.reader import Trace


def read_history(trace: Trace) -> History:
    """Read what the rules look at."""
    targets: set[str] = set()
    standing: set[str] = set()
    for change in trace.of(ConstraintChange):
        targets.add(target_of(change.task))
        if change.threshold and not change.temporal:
            standing.add(change.task["kind"])
    for outcome in trace.of(StepOutcome):
        targets.update(target_of(attempt["task"]) for attempt in outcome.attempts)
    names = (*trace.start.agents, *trace.start.coordinators)
    return _Reader(names, Wording(targets, names), standing).read(trace)


class _Reader:
    """Goes through a trace.

    Args:
        names: of the participants.
        wording: reads messages.
        standing: kinds of tasks that are there while nobody does them. Those of other kinds, such as the craft of a
            tool, are reported in the steps in which somebody does them, so that they are over says nothing.
    """

    def __init__(self, names: tuple[str, ...], wording: Wording, standing: set[str]) -> None:
        self._wording = wording
        self._standing = standing
        self._lives: dict[str, PlanLife] = {}
        self._thinking: dict[int, Stamped] = {}
        self._acts: dict[int, Sequence[str]] = {}
        self._messages: dict[int, Said] = {}
        self._ways: defaultdict[str, dict[tuple[str, str], ConstraintChange]] = defaultdict(dict)
        self._plans_for: defaultdict[str, list[PlanLife]] = defaultdict(list)
        self._refusals: defaultdict[int, list[Refusal]] = defaultdict(list)
        self._plans: defaultdict[int, list[PlanLife]] = defaultdict(list)
        self._said: defaultdict[int, list[Said]] = defaultdict(list)
        self._about: defaultdict[str, list[Said]] = defaultdict(list)
        self._read: defaultdict[int, list[tuple[Stamped, Said]]] = defaultdict(list)
        self._speaking: defaultdict[int, list[Stamped]] = defaultdict(list)
        self._tried: defaultdict[str, list[Tried]] = defaultdict(list)
        self._courses: defaultdict[str, Course] = defaultdict(Course)
        self._edges: set[tuple[int, int]] = set()
        self._names = names

    def read(self, trace: Trace) -> History:
        for stamped in trace.among(
            ThoughtStart, ThoughtEnd, MessageSent, MessageRead, PlanChange, ActionChange, StepOutcome, ConstraintChange
        ):
            match stamped.event:
                case ThoughtStart(agent=agent, acts=acts):
                    self._thinking[agent], self._acts[agent] = stamped, acts
                case ThoughtEnd(agent=agent, refused=refused):
                    if refused:
                        self._refusals[agent].append(Refusal(stamped, refused))
                    elif Act.SPEAK in self._acts.get(agent, ()):
                        self._speaking[agent].append(stamped)
                case MessageSent() as message:
                    self._send(stamped, message)
                case MessageRead(message=number, agent=agent):
                    self._read[agent].append((stamped, self._messages[number]))
                case PlanChange() as change:
                    self._change_plan(stamped, change)
                case ActionChange(plan=plan, index=index, status=status) if status != "started":
                    self._lives[plan].stopped_at = index
                case StepOutcome() as outcome:
                    self._try(stamped, outcome)
                case ConstraintChange() as change:
                    self._change_task(stamped, change)
        return History(
            names=self._names,
            wording=self._wording,
            plans=self._plans,
            plans_for=self._plans_for,
            said=self._said,
            about=self._about,
            read=self._read,
            speaking=self._speaking,
            edges=frozenset(self._edges),
            refusals=self._refusals,
            tried=self._tried,
            courses=self._courses,
        )

    def _send(self, stamped: Stamped, message: MessageSent) -> None:
        named = self._wording.named(message.content)
        said = Said(stamped, message, named, self._wording.taken(message.content, message.sender))
        self._messages[message.message] = said
        self._said[message.sender].append(said)
        for target in named:
            self._about[target].append(said)
        self._edges.update((message.sender, recipient) for recipient in message.recipients)

    def _change_plan(self, stamped: Stamped, change: PlanChange) -> None:
        status = PlanStatus(change.status)
        if status is PlanStatus.COMMITTED:
            life = PlanLife(stamped, change, self._thinking.get(change.agent) if not change.flag else None)
            self._lives[change.plan] = life
            self._plans[change.agent].append(life)
            if life.target:
                self._plans_for[life.target].append(life)
        elif status is PlanStatus.RUNNING:
            self._lives[change.plan].begun = True
        else:
            life = self._lives[change.plan]
            life.end, life.status, life.reason = stamped, status, change.reason

    def _try(self, stamped: Stamped, outcome: StepOutcome) -> None:
        for attempt in outcome.attempts:
            target, name = target_of(attempt["task"]), (attempt["task"]["kind"], attempt["task"]["target"])
            state = self._ways[target].get(name)
            tried = Tried(
                event=stamped,
                task=name,
                needs=state.threshold if state is not None else 0,
                agents=frozenset(attempt["agents"]),
                missing=frozenset(attempt.get("missing", ())),
                succeeded=attempt["succeeded"],
            )
            self._tried[target].append(tried)

    def _change_task(self, stamped: Stamped, change: ConstraintChange) -> None:
        target, name = target_of(change.task), (change.task["kind"], change.task["target"])
        ways, course = self._ways[target], self._courses[target]
        course.kinds.add(change.task["kind"])
        stands = change.task["kind"] in self._standing
        if change.threshold:
            ways[name] = change
            if course.closures and course.closures[-1].reopened is None:
                course.closures[-1].reopened = stamped.seq
        elif ways.pop(name, None) is not None and not ways and stands:
            course.closures.append(Closure(stamped))
        course.steps.append(stamped.t)
        course.doable.append(any(way.dependency and way.participation >= way.threshold for way in ways.values()))
