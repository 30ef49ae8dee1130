"""The story of a trace: the history of each plan, message, thought and attempt, computed in one pass.

It is available as `Trace.story`. Metrics, failures, reports and the replay use these records instead of pairing events.
All sequences are in the order of the trace. A record without an end was still open at the end of the trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from maeil.errors import TraceError
from maeil.plans import PlanStatus
from maeil.tasks import fewest
from maeil.trace.events import (
    CUT_SHORT,
    ActionChange,
    ConstraintChange,
    MessageSent,
    MessagesRead,
    PlanChange,
    Stamped,
    StepOutcome,
    ThoughtEnd,
    ThoughtStart,
)

TaskName = tuple[str, str]
"""Kind and target of a task."""

_FAILED = (PlanStatus.FAILED, PlanStatus.TIMED_OUT)
_STARTED = "started"


def name_of(task: Mapping[str, str]) -> TaskName:
    """Return the name of a task from an event."""
    return task["kind"], task["target"]


def target_of(task: Mapping[str, str] | None) -> str:
    """Return the object of a task: its target without the part that names one way of doing it.

    For `block_0/left` it is `block_0`, since all ways are the same piece of work. Empty without a task.
    """
    return task["target"].partition("/")[0] if task is not None else ""


@dataclass(slots=True, eq=False)
class ThoughtLife:
    """A thought.

    Attributes:
        start: its first event.
        end: its last event; None if it did not end.
    """

    start: Stamped
    end: Stamped | None = None

    @property
    def agent(self) -> int:
        """Index of the participant."""
        return cast(ThoughtStart, self.start.event).agent

    @property
    def acts(self) -> Sequence[str]:
        """The acts of its turn."""
        return cast(ThoughtStart, self.start.event).acts

    @property
    def calls(self) -> Sequence[Mapping[str, Any]]:
        """Records of its language model calls."""
        return cast(ThoughtEnd, self.end.event).calls if self.end is not None else ()

    @property
    def without_effect(self) -> Sequence[str]:
        """The reasons why it had no effect; empty if it had an effect, or did not end."""
        return cast(ThoughtEnd, self.end.event).refused if self.end is not None else ()

    @property
    def refused(self) -> bool:
        """Whether it was refused for its answer. A thought cut short by the end of the episode is not refused."""
        return list(self.without_effect) not in ([], [CUT_SHORT])

    @property
    def took_effect(self) -> bool:
        """Whether it ended and had an effect."""
        return self.end is not None and not self.without_effect


@dataclass(slots=True, eq=False)
class MessageLife:
    """A message.

    Attributes:
        sent: the event of sending.
        thought: the start of its sender's latest thought; None if there was none.
        readings: the events of participants reading it.
    """

    sent: Stamped
    thought: Stamped | None
    readings: list[Stamped] = field(default_factory=list)

    @property
    def message(self) -> MessageSent:
        """The message's event, with content, sender and recipients."""
        return cast(MessageSent, self.sent.event)


@dataclass(slots=True, eq=False)
class PlanLife:
    """A plan from its commitment to its end.

    Attributes:
        committed: the event of commitment, which contains the plan.
        thought: the start of its agent's latest thought; None if there was none.
        started: the event of its start; None if it never ran.
        end: the event of its end; None if it did not end.
        stopped_at: index of the last action that ended; -1 if none did.
    """

    committed: Stamped
    thought: Stamped | None
    started: Stamped | None = None
    end: Stamped | None = None
    stopped_at: int = -1

    @property
    def content(self) -> PlanChange:
        """The event of commitment, with task, actions, rationale and flag."""
        return cast(PlanChange, self.committed.event)

    @property
    def agent(self) -> int:
        """Index of the agent."""
        return self.content.agent

    @property
    def id(self) -> str:
        """Name of the plan in the trace."""
        return self.content.plan

    @property
    def target(self) -> str:
        """Object of its task; empty without a task."""
        return target_of(self.content.task)

    @property
    def own(self) -> bool:
        """Whether the agent's mind made it, rather than the loop or a repair."""
        return not self.content.flag

    @property
    def status(self) -> PlanStatus | None:
        """Its final status; None if it did not end."""
        return PlanStatus(cast(PlanChange, self.end.event).status) if self.end is not None else None

    @property
    def reason(self) -> str:
        """Why it ended; empty if it did not end."""
        return cast(PlanChange, self.end.event).reason if self.end is not None else ""

    @property
    def failed(self) -> bool:
        """Whether it failed or ran out of time."""
        return self.status in _FAILED

    @property
    def ended(self) -> Stamped:
        """The event of its end; only for a plan that has ended."""
        assert self.end is not None
        return self.end


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at a cooperative task.

    Attributes:
        event: the outcome event of the step, which reports it.
        known: the event from which its agents know of it: the same event or, for an unmet attempt, the end of their
            last plan.
        task: name of the task.
        agents: agents that took part.
        succeeded: whether it succeeded.
        missing: constraints that a failed attempt lacked, the cause first.
        unmet: whether it failed before any primitive, because it was refused or the agents waited for others.
        state: the constraints of the task under the joint action of that step; None if none were reported.
    """

    event: Stamped
    known: Stamped
    task: TaskName
    agents: frozenset[int]
    succeeded: bool
    missing: tuple[str, ...]
    unmet: bool
    state: ConstraintChange | None

    @property
    def target(self) -> str:
        """Object of the task."""
        return self.task[1].partition("/")[0]

    @property
    def needs(self) -> int:
        """How many agents the task takes; 0 if it is not reported."""
        return fewest(self.state.threshold, self.state.weights) if self.state is not None else 0


@dataclass(frozen=True, slots=True)
class Story:
    """The history of an episode.

    Attributes:
        thoughts: all thoughts, in order of start.
        messages: all messages, in order of sending.
        plans: all plans, in order of commitment.
        attempts: attempts at cooperative tasks.
        tasks: all reports of the constraints of each task.
    """

    thoughts: list[ThoughtLife]
    messages: list[MessageLife]
    plans: list[PlanLife]
    attempts: list[Attempt]
    tasks: dict[TaskName, list[Stamped]]


TYPES = (
    ThoughtStart, ThoughtEnd, MessageSent, MessagesRead, PlanChange, ActionChange, StepOutcome,
    ConstraintChange,
)  # fmt: skip
"""The types of events that make up a story."""


def tell_story(events: Iterable[Stamped]) -> Story:
    """Compute the story of an episode.

    Args:
        events: the events of the types `TYPES` in the trace, or in a prefix of it, in order.

    Raises:
        TraceError: the events contradict each other.
    """
    teller = _Teller()
    for stamped in events:
        teller.take(stamped)
    return teller.story


class _Teller:
    """Pairs the events of a trace: each event starts a record, or adds to one."""

    def __init__(self) -> None:
        self.story = Story([], [], [], [], {})
        self._thoughts: dict[int, ThoughtLife] = {}
        """The latest thought of each participant."""
        self._messages: dict[int, MessageLife] = {}
        self._plans: dict[str, PlanLife] = {}
        self._ends: dict[int, Stamped] = {}
        """The end of the last plan of each agent."""

    def take(self, stamped: Stamped) -> None:
        """Process the next event."""
        match stamped.event:
            case ThoughtStart(agent=agent):
                self._thoughts[agent] = thought = ThoughtLife(stamped)
                self.story.thoughts.append(thought)
            case ThoughtEnd(agent=agent):
                if agent not in self._thoughts:
                    raise TraceError(f"a thought of participant {agent} ends but never started")
                self._thoughts[agent].end = stamped
            case MessageSent(message=number, sender=sender):
                self._messages[number] = message = MessageLife(stamped, self._thinks(sender))
                self.story.messages.append(message)
            case MessagesRead(messages=numbers):
                for number in numbers:
                    if number not in self._messages:
                        raise TraceError(f"message {number} is read but was never sent")
                    self._messages[number].readings.append(stamped)
            case PlanChange() as change:
                self._change_plan(stamped, change)
            case ActionChange(plan=plan, index=index, status=status) if plan in self._plans and status != _STARTED:
                self._plans[plan].stopped_at = index
            case StepOutcome(attempts=attempts):
                self.story.attempts.extend(self._attempt(stamped, attempt) for attempt in attempts)
            case ConstraintChange(task=task):
                self.story.tasks.setdefault(name_of(task), []).append(stamped)

    def _thinks(self, participant: int) -> Stamped | None:
        """Return the start of the latest thought of a participant."""
        thought = self._thoughts.get(participant)
        return thought.start if thought is not None else None

    def _change_plan(self, stamped: Stamped, change: PlanChange) -> None:
        status = PlanStatus(change.status)
        if status is PlanStatus.COMMITTED:
            self._plans[change.plan] = plan = PlanLife(stamped, self._thinks(change.agent))
            self.story.plans.append(plan)
        elif change.plan not in self._plans:
            raise TraceError(f"plan {change.plan} is {status} but was never committed")
        elif status is PlanStatus.RUNNING:
            self._plans[change.plan].started = stamped
        else:
            self._plans[change.plan].end = self._ends[change.agent] = stamped

    def _attempt(self, stamped: Stamped, attempt: Mapping[str, Any]) -> Attempt:
        task = name_of(attempt["task"])
        reports = self.story.tasks.get(task)
        state = cast(ConstraintChange, reports[-1].event) if reports else None
        unmet = attempt.get("unmet", False)
        ends = [self._ends[agent] for agent in attempt["agents"] if agent in self._ends] if unmet else []
        return Attempt(
            event=stamped,
            known=max(ends, key=lambda end: end.seq, default=stamped),
            task=task,
            agents=frozenset(attempt["agents"]),
            succeeded=attempt["succeeded"],
            missing=tuple(attempt.get("missing", ())),
            unmet=unmet,
            state=state if state is not None and state.threshold else None,
        )
