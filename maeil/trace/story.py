"""The story of a trace: what became of each plan, message, thought and attempt, read in one pass for all who ask.

`Trace.story` holds it. Metrics, failures, reports and the replay read these records instead of pairing events.
All sequences are in the order of the trace. A record without an end was still open when the trace ended.
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
    """Return the name of a task as an event writes it."""
    return task["kind"], task["target"]


def target_of(task: Mapping[str, str] | None) -> str:
    """Return what a task is done to, without the part of the target that names one way of doing it.

    `block_0` of `block_0/left`: it is one piece of work. Empty without a task.
    """
    return task["target"].partition("/")[0] if task is not None else ""


@dataclass(slots=True, eq=False)
class ThoughtLife:
    """A thought.

    Attributes:
        start: the event with which it began.
        end: the event with which it ended.
    """

    start: Stamped
    end: Stamped | None = None

    @property
    def agent(self) -> int:
        """Index of the participant."""
        return cast(ThoughtStart, self.start.event).agent

    @property
    def acts(self) -> Sequence[str]:
        """What its turn allowed."""
        return cast(ThoughtStart, self.start.event).acts

    @property
    def calls(self) -> Sequence[Mapping[str, Any]]:
        """Records of its calls of language models."""
        return cast(ThoughtEnd, self.end.event).calls if self.end is not None else ()

    @property
    def without_effect(self) -> Sequence[str]:
        """Why it had no effect; empty where it had one, or goes on."""
        return cast(ThoughtEnd, self.end.event).refused if self.end is not None else ()

    @property
    def refused(self) -> bool:
        """Whether its answer was at fault. A thought that the end of the episode cut short is not refused."""
        return list(self.without_effect) not in ([], [CUT_SHORT])

    @property
    def took_effect(self) -> bool:
        """Whether it ended and had an effect."""
        return self.end is not None and not self.without_effect


@dataclass(slots=True, eq=False)
class MessageLife:
    """A message.

    Attributes:
        sent: the event that sent it.
        thought: the start of the latest thought of its sender; None where there was none.
        readings: the events in which participants read it.
    """

    sent: Stamped
    thought: Stamped | None
    readings: list[Stamped] = field(default_factory=list)

    @property
    def message(self) -> MessageSent:
        """Its content, sender and recipients."""
        return cast(MessageSent, self.sent.event)


@dataclass(slots=True, eq=False)
class PlanLife:
    """A plan from its commitment to its end.

    Attributes:
        committed: the event that commits it and holds its content.
        thought: the start of the last thought of its agent; None where its agent had not thought.
        started: the event with which it came to run.
        end: the event with which it ended.
        stopped_at: index of the last action that ended; -1 without any.
    """

    committed: Stamped
    thought: Stamped | None
    started: Stamped | None = None
    end: Stamped | None = None
    stopped_at: int = -1

    @property
    def content(self) -> PlanChange:
        """Its task, actions, rationale and flag."""
        return cast(PlanChange, self.committed.event)

    @property
    def agent(self) -> int:
        """Index of its agent."""
        return self.content.agent

    @property
    def id(self) -> str:
        """Its name in the trace."""
        return self.content.plan

    @property
    def target(self) -> str:
        """Target of its task; empty without a task."""
        return target_of(self.content.task)

    @property
    def own(self) -> bool:
        """Whether its agent's mind gave it, and not the loop or a repair in the mind's place."""
        return not self.content.flag

    @property
    def status(self) -> PlanStatus | None:
        """Its final status; None where it has none."""
        return PlanStatus(cast(PlanChange, self.end.event).status) if self.end is not None else None

    @property
    def reason(self) -> str:
        """Why it ended."""
        return cast(PlanChange, self.end.event).reason if self.end is not None else ""

    @property
    def failed(self) -> bool:
        """Whether it failed or ran out of time."""
        return self.status in _FAILED

    @property
    def ended(self) -> Stamped:
        """The event of its end, of a plan that has one."""
        assert self.end is not None
        return self.end


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at a cooperative task.

    Attributes:
        event: the outcome of the step that reports it.
        known: the event from which its agents know of it: the same, or of one in vain the end of their last plan.
        task: its name.
        agents: who took part.
        succeeded: whether it succeeded.
        missing: the constraints that a failed one lacked, the cause first.
        unmet: whether it was in vain before any primitive: refused, or a wait for others.
        state: the constraints of the task under the joint action of that step; None where none are reported.
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
        """What the task is done to."""
        return self.task[1].partition("/")[0]

    @property
    def needs(self) -> int:
        """How many agents the task takes; 0 where that is not reported."""
        return fewest(self.state.threshold, self.state.weights) if self.state is not None else 0


@dataclass(frozen=True, slots=True)
class Story:
    """What happened in an episode.

    Attributes:
        thoughts: in the order of their starts.
        messages: in the order in which they were sent.
        plans: in the order in which they were committed.
        attempts: at all cooperative tasks.
        tasks: every report of the constraints of each task.
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
"""The events that a story is made of."""


def tell_story(events: Iterable[Stamped]) -> Story:
    """Read the story of an episode.

    Args:
        events: of the types `TYPES`, in the order of the trace, all of them or those of a prefix.

    Raises:
        TraceError: the events contradict each other.
    """
    teller = _Teller()
    for stamped in events:
        teller.take(stamped)
    return teller.story


class _Teller:
    """Pairs the events of a trace: each either begins a life, or adds to one."""

    def __init__(self) -> None:
        self.story = Story([], [], [], [], {})
        self._thoughts: dict[int, ThoughtLife] = {}
        """The latest thought of each participant."""
        self._messages: dict[int, MessageLife] = {}
        self._plans: dict[str, PlanLife] = {}
        self._ends: dict[int, Stamped] = {}
        """The end of the last plan of each agent."""

    def take(self, stamped: Stamped) -> None:
        """Take the next event."""
        match stamped.event:
            case ThoughtStart(agent=agent):
                self._thoughts[agent] = thought = ThoughtLife(stamped)
                self.story.thoughts.append(thought)
            case ThoughtEnd(agent=agent):
                if agent not in self._thoughts:
                    raise TraceError(f"a thought of participant {agent} ends and never started")
                self._thoughts[agent].end = stamped
            case MessageSent(message=number, sender=sender):
                self._messages[number] = message = MessageLife(stamped, self._thinks(sender))
                self.story.messages.append(message)
            case MessagesRead(messages=numbers):
                for number in numbers:
                    if number not in self._messages:
                        raise TraceError(f"message {number} is read and was never sent")
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
            raise TraceError(f"plan {change.plan} is {status} and was never committed")
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
