"""The input of the rules: the story of a trace by agent and task, the tasks that messages name, and when tasks end.

Claims and orders come from the typed fields of messages, or from a judge's readings; of a text, only the names of tasks
are read. The target that the world reports (`block_3`) identifies a task.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeVar, cast

from maeil.mind import Act
from maeil.tasks import fewest
from maeil.trace.events import ConstraintChange, MessageSent, MessagesRead, Stamped
from maeil.trace.reader import Trace
from maeil.trace.story import Attempt, PlanLife, ThoughtLife, name_of, target_of

_WORD = re.compile(r"[^\W_]+")
_TOKEN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Reading:
    """The claims and orders of a message: from its typed fields, or from a judge that reads its text.

    Attributes:
        task: `kind` and `target` of what its sender claims to do itself; None for nothing.
        asks: its orders to others, records of `agent` and `task`.
    """

    task: Mapping[str, str] | None
    asks: Sequence[Mapping[str, Any]]

    @classmethod
    def typed(cls, message: MessageSent) -> Reading | None:
        """Return the reading of a message's fields; None if it has only text."""
        return cls(message.task, message.asks) if message.asks is not None else None

    def taken(self, sender: int) -> Mapping[int, str]:
        """Return the task of each agent; an agent with two different tasks has none."""
        found: defaultdict[int, set[str]] = defaultdict(set)
        if self.task is not None:
            found[sender].add(target_of(self.task))
        for ask in self.asks:
            found[ask["agent"]].add(target_of(ask["task"]))
        return {agent: targets.pop() for agent, targets in found.items() if len(targets) == 1}


class TextReader:
    """Finds the names of tasks and participants in texts.

    Args:
        targets: targets of all tasks of the trace.
        names: names of the participants.
    """

    def __init__(self, targets: Collection[str], names: Sequence[str]) -> None:
        self._targets = frozenset(targets)
        self._agents: Mapping[str, int] = {name: index for index, name in enumerate(names)}
        self._folded = {tuple(word.lower() for word in _WORD.findall(target)): target for target in targets}
        self._lengths = sorted({len(words) for words in self._folded})

    def named(self, text: str) -> frozenset[str]:
        """Return the targets that a text names, in any spelling: `block_3`, `Block 3`, `block-3`."""
        words = [word.lower() for word in _WORD.findall(text)]
        found = set()
        for length in self._lengths:
            for place in range(len(words) - length + 1):
                target = self._folded.get(tuple(words[place : place + length]))
                if target is not None:
                    found.add(target)
        return frozenset(found)

    def mentions(self, text: str, agent: int) -> bool:
        """Whether a text names a participant."""
        return any(self._agents.get(token) == agent for token in _TOKEN.findall(text))


@dataclass(frozen=True, slots=True)
class Said:
    """A message.

    Attributes:
        sent: the stamped event.
        message: the event.
        named: targets of the tasks that it names.
        taken: the task of each agent according to it; empty if it has only text that no judge has read.
    """

    sent: Stamped
    message: MessageSent
    named: frozenset[str]
    taken: Mapping[int, str]


@dataclass(slots=True)
class Closure:
    """A period in which a target is over: nothing can be done to it.

    Attributes:
        event: the event with which the period starts.
        reopened: number of the event with which it ends; None if it does not end.
    """

    event: Stamped
    reopened: int | None = None


@dataclass(slots=True)
class Course:
    """The world's reports about a target, step by step.

    Attributes:
        kinds: kinds of its tasks.
        steps: the steps in which its tasks changed, ascending.
        doable: for each of these, whether one of its tasks could be done: its dependencies held, and the team is large
            enough.
        closures: the periods in which it was over.
    """

    kinds: set[str] = field(default_factory=set)
    steps: list[int] = field(default_factory=list)
    doable: list[bool] = field(default_factory=list)
    closures: list[Closure] = field(default_factory=list)


class History:
    """The history of a trace by agent and by target. All lists are in the order of the trace.

    Args:
        trace: complete or a prefix.
        judged: a judge's readings of messages, by message number; they replace the fields.

    Attributes:
        names: names of the participants.
        text: reads the texts of messages.
        plans: plans of each agent.
        plans_for: plans for each target.
        said: messages of each sender.
        about: messages that name a target, by target.
        read: for each reader, the reading event and the message.
        speaking: ends of the turns in which each participant could speak.
        reaches: (sender, recipient) of all messages: who can reach whom.
        refused: thoughts without effect, and the end of each.
        attempts: attempts at each target.
        courses: course of each target.
    """

    def __init__(self, trace: Trace, judged: Mapping[int, Reading] = MappingProxyType({})) -> None:
        story = trace.story
        self.names = (*trace.start.agents, *trace.start.coordinators)
        targets = {*(target.partition("/")[0] for _, target in story.tasks), *(one.target for one in story.attempts)}
        self.text = text = TextReader(targets, self.names)
        self.plans: defaultdict[int, list[PlanLife]] = defaultdict(list)
        self.plans_for: defaultdict[str, list[PlanLife]] = defaultdict(list)
        for plan in story.plans:
            self.plans[plan.agent].append(plan)
            if plan.target:
                self.plans_for[plan.target].append(plan)
        self.said: defaultdict[int, list[Said]] = defaultdict(list)
        self.about: defaultdict[str, list[Said]] = defaultdict(list)
        self.read: defaultdict[int, list[tuple[Stamped, Said]]] = defaultdict(list)
        for life in story.messages:
            message = life.message
            reading = judged.get(message.message) or Reading.typed(message)
            taken = reading.taken(message.sender) if reading is not None else {}
            one = Said(life.sent, message, text.named(message.content) | {*taken.values()}, taken)
            self.said[message.sender].append(one)
            for target in one.named:
                self.about[target].append(one)
            for read in life.readings:
                self.read[cast(MessagesRead, read.event).agent].append((read, one))
        for readings in self.read.values():
            readings.sort(key=lambda reading: reading[0].seq)
        self.reaches = frozenset((one.message.sender, to) for one in story.messages for to in one.message.recipients)
        self.speaking: defaultdict[int, list[Stamped]] = defaultdict(list)
        self.refused: list[tuple[ThoughtLife, Stamped]] = []
        for thought in story.thoughts:
            if thought.end is not None and thought.without_effect:
                self.refused.append((thought, thought.end))
            elif thought.end is not None and Act.SPEAK in thought.acts:
                self.speaking[thought.agent].append(thought.end)
        self.attempts: defaultdict[str, list[Attempt]] = defaultdict(list)
        for attempt in story.attempts:
            self.attempts[attempt.target].append(attempt)
        for attempts in self.attempts.values():
            attempts.sort(key=lambda attempt: attempt.known.seq)
        self.courses = _courses(trace)

    def successive_plans(self) -> Iterator[tuple[PlanLife | None, PlanLife]]:
        """Return each plan after the previous plan of its agent; None before its first one."""
        for plans in self.plans.values():
            yield from zip((None, *plans), plans, strict=False)

    def over(self, target: str, moment: Stamped) -> Closure | None:
        """Return the period in which a target is over at an event; None if it is not over.

        The world reports the end of a task before the next step, so a report with the same `t` already applies.
        """
        course = self.courses.get(target)
        for closure in course.closures if course is not None else ():
            if closure.event.t <= moment.t and (closure.reopened is None or moment.seq < closure.reopened):
                return closure
        return None

    def last_attempt(self, plan: PlanLife) -> Attempt | None:
        """Return the last attempt of an ended plan at its target."""
        tried = between(
            self.attempts.get(plan.target, ()), plan.committed.seq, plan.ended.seq + 1, lambda one: one.known.seq
        )
        return next((one for one in reversed(tried) if plan.agent in one.agents), None)

    def names_of(self, agents: Collection[int]) -> str:
        """Join the names of some participants, for a sentence."""
        return " and ".join(self.names[agent] for agent in sorted(agents))

    def said_nothing_of(self, target: str, agent: int) -> str:
        """Return the sentence that a participant did not name a target in its turn to speak."""
        return f"{self.names[agent]} had a turn to speak, and has not named {target}"

    def at_odds(self, wanted: str, planned: str, moment: Stamped) -> bool:
        """Whether a plan for one target contradicts a wish for another.

        It does if both are of one kind, and the wanted one could be done in that step: doing its dependencies first is
        no contradiction.
        """
        if wanted == planned or wanted not in self.courses or planned not in self.courses:
            return False
        course = self.courses[wanted]
        if course.kinds.isdisjoint(self.courses[planned].kinds):
            return False
        place = bisect_right(course.steps, moment.t)
        return bool(place) and course.doable[place - 1]

    def heard_of(self, target: str, hearer: int, after: int, before: int) -> bool:
        """Whether a message that names a target was sent to a participant between two events, given by number."""
        found = between(self.about.get(target, ()), after, before, lambda said: said.sent.seq)
        return any(hearer in said.message.recipients for said in found)

    def read_between(self, agent: int, after: int, before: int) -> Sequence[tuple[Stamped, Said]]:
        """Return the messages that an agent read between two events."""
        return between(self.read.get(agent, ()), after, before, lambda one: one[0].seq)

    def said_between(self, agent: int, after: int, before: int) -> Sequence[Said]:
        """Return the messages that a participant sent between two events."""
        return between(self.said.get(agent, ()), after, before, lambda said: said.sent.seq)


T = TypeVar("T")


def between(items: Sequence[T], after: int, before: int, number: Callable[[T], int]) -> Sequence[T]:
    """Return the items strictly between two events; the items are in ascending order of their event numbers."""
    return items[bisect_right(items, after, key=number) : bisect_left(items, before, key=number)]


def _courses(trace: Trace) -> Mapping[str, Course]:
    """Follow the world's reports about each target.

    Kinds of tasks that exist while no agent does them can be over. The world reports tasks of other kinds, such as
    crafting a tool, only in the steps in which an agent does them, so their end proves nothing.
    """
    team = len(trace.start.agents)
    reports = [cast(ConstraintChange, stamped.event) for stamped in trace.stamped(ConstraintChange)]
    standing = {change.task["kind"] for change in reports if change.threshold and not change.temporal}
    ways: defaultdict[str, dict[tuple[str, str], ConstraintChange]] = defaultdict(dict)
    courses: defaultdict[str, Course] = defaultdict(Course)
    for stamped, change in zip(trace.stamped(ConstraintChange), reports, strict=True):
        target, name = target_of(change.task), name_of(change.task)
        active, course = ways[target], courses[target]
        course.kinds.add(change.task["kind"])
        if change.threshold:
            active[name] = change
            if course.closures and course.closures[-1].reopened is None:
                course.closures[-1].reopened = stamped.seq
        elif active.pop(name, None) is not None and not active and change.task["kind"] in standing:
            course.closures.append(Closure(stamped))
        course.steps.append(stamped.t)
        course.doable.append(
            any(way.dependency and fewest(way.threshold, way.weights) <= team for way in active.values())
        )
    return courses
