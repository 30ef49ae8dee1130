"""What the rules look at: plans, messages, attempts and ends of tasks, each with the event that tells it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from maeil.failures.wording import Wording
from maeil.plans import PlanStatus
from maeil.trace.events import MessageSent, PlanChange, Stamped

_FAILED = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)


def target_of(task: Mapping[str, str] | None) -> str:
    """Return the target of a task without the part of it that one way of doing it names; empty without a task."""
    return task["target"].partition("/")[0] if task is not None else ""


@dataclass(slots=True)
class PlanLife:
    """A plan from its commitment to its end.

    Attributes:
        committed: the event that has its content.
        content: that event.
        thought: the beginning of the thought that gave it; None where the loop did.
        begun: whether it came to run.
        end: the event of its end; None when the trace ends before.
        status: its final status.
        reason: why it ended.
        stopped_at: index of the action at which it ended.
    """

    committed: Stamped
    content: PlanChange
    thought: Stamped | None
    begun: bool = False
    end: Stamped | None = None
    status: PlanStatus | None = None
    reason: str = ""
    stopped_at: int = -1

    @property
    def agent(self) -> int:
        """Whose it is."""
        return self.content.agent

    @property
    def id(self) -> str:
        """Its id."""
        return self.content.plan

    @property
    def ended(self) -> Stamped:
        """The event of its end, of a plan that has one."""
        assert self.end is not None
        return self.end

    @property
    def target(self) -> str:
        """Target of its task; empty where it names none."""
        return target_of(self.content.task)

    @property
    def failed(self) -> bool:
        """Whether it has failed or run out of time."""
        return self.status in _FAILED

    @property
    def own(self) -> bool:
        """Whether its agent's mind gave it, and not the loop or a repair in its stead."""
        return not self.content.flag

    @property
    def actions(self) -> Sequence[Mapping[str, Any]]:
        """Its symbolic actions."""
        return self.content.actions or ()


@dataclass(frozen=True, slots=True)
class Said:
    """A message.

    Attributes:
        sent: the event.
        message: that event.
        named: targets of the tasks that it names.
        taken: who is to do which task by it.
    """

    sent: Stamped
    message: MessageSent
    named: frozenset[str]
    taken: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Tried:
    """An attempt at a task.

    Attributes:
        event: the event.
        task: kind and target, as the world reports it.
        needs: how many agents it takes.
        agents: who took part.
        missing: what it lacked; empty when it succeeded, or nothing is known.
        succeeded: whether it came off.
    """

    event: Stamped
    task: tuple[str, str]
    needs: int
    agents: frozenset[int]
    missing: frozenset[str]
    succeeded: bool


@dataclass(slots=True)
class Closure:
    """A time in which all that can be done to a target is over.

    Attributes:
        event: that it is over.
        reopened: number of the event with which it is no longer; None when it stays so.
    """

    event: Stamped
    reopened: int | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A thought that the world refused.

    Attributes:
        event: its end.
        reasons: why, in the world's words.
    """

    event: Stamped
    reasons: Sequence[str]


@dataclass(slots=True)
class Course:
    """What the world reported of a target, step by step.

    Attributes:
        kinds: of its tasks.
        steps: those in which its tasks have changed, ascending.
        doable: for each, whether one of its tasks could be done: what it depends on held, and enough were able.
        closures: the times in which it was over.
    """

    kinds: set[str] = field(default_factory=set)
    steps: list[int] = field(default_factory=list)
    doable: list[bool] = field(default_factory=list)
    closures: list[Closure] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class History:
    """What happened, by whom and to what it happened. All lists are in the order of the trace.

    Attributes:
        names: of the participants.
        wording: reads messages.
        plans: of each agent.
        plans_for: each target.
        said: of each sender.
        about: messages that name a target, by target.
        read: of each reader: the event, and what was read.
        speaking: ends of the turns of each participant in which it might speak.
        edges: (sender, recipient) of all messages: who can reach whom.
        refusals: of each agent.
        tried: at each target.
        courses: of each target.
    """

    names: tuple[str, ...]
    wording: Wording
    plans: Mapping[int, list[PlanLife]]
    plans_for: Mapping[str, list[PlanLife]]
    said: Mapping[int, list[Said]]
    about: Mapping[str, list[Said]]
    read: Mapping[int, list[tuple[Stamped, Said]]]
    speaking: Mapping[int, list[Stamped]]
    edges: frozenset[tuple[int, int]]
    refusals: Mapping[int, list[Refusal]]
    tried: Mapping[str, list[Tried]]
    courses: Mapping[str, Course]

    def over(self, target: str, moment: Stamped) -> Closure | None:
        """Return since when a target is over at an event; None where it is not.

        The world reports that a task is over before the step that follows, so a report of the same `t` tells what was
        so already.
        """
        course = self.courses.get(target)
        for closure in course.closures if course is not None else ():
            if closure.event.t <= moment.t and (closure.reopened is None or moment.seq < closure.reopened):
                return closure
        return None

    def last_try(self, plan: PlanLife) -> Tried | None:
        """Return the last attempt of a plan that is over at its target."""
        tried = self.tried.get(plan.target, ())
        found = None
        # A wait in vain is told right behind the end of its plan, so its number is the larger one.
        for one in tried[bisect_right(tried, plan.committed.seq, key=lambda one: one.event.seq) :]:
            if one.event.t > plan.ended.t:
                break
            if plan.agent in one.agents:
                found = one
        return found

    def names_of(self, agents: Collection[int]) -> str:
        """Name some participants, for a sentence."""
        return " and ".join(self.names[agent] for agent in sorted(agents))

    def at_odds(self, wanted: str, planned: str, moment: Stamped) -> bool:
        """Whether a plan for one target contradicts that another was wanted.

        It does when both are of one kind, and the wanted one could be done in that step: what has to come before it is
        no contradiction.
        """
        if wanted == planned or wanted not in self.courses or planned not in self.courses:
            return False
        course = self.courses[wanted]
        if course.kinds.isdisjoint(self.courses[planned].kinds):
            return False
        place = bisect_right(course.steps, moment.t)
        return bool(place) and course.doable[place - 1]

    def told(self, target: str, hearer: int, after: int, before: int) -> bool:
        """Whether a message that names a target was sent to somebody between two events, given by their numbers."""
        found = between(self.about.get(target, ()), after, before, lambda said: said.sent.seq)
        return any(hearer in said.message.recipients for said in found)

    def news(self, agent: int, after: int, before: int, *targets: str) -> bool:
        """Whether an agent has read a message between two events that names it or one of some targets."""
        return any(
            not said.named.isdisjoint(targets) or self.wording.mentions(said.message.content, agent)
            for _, said in self.read_between(agent, after, before)
        )

    def read_between(self, agent: int, after: int, before: int) -> Sequence[tuple[Stamped, Said]]:
        """Return what an agent has read between two events."""
        return between(self.read.get(agent, ()), after, before, lambda one: one[0].seq)

    def said_between(self, agent: int, after: int, before: int) -> Sequence[Said]:
        """Return what a participant has said between two events."""
        return between(self.said.get(agent, ()), after, before, lambda said: said.sent.seq)


T = TypeVar("T")


def between(items: Sequence[T], after: int, before: int, number: Callable[[T], int]) -> Sequence[T]:
    """Return the items, ascending by the number of their event, that lie between two events, these not included."""
    return items[bisect_right(items, after, key=number) : bisect_left(items, before, key=number)]
