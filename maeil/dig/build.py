"""Builds the interaction graph event by event, in linear time; a trace and the loop yield the same graph."""

from __future__ import annotations

from dataclasses import dataclass

from maeil.dig.graph import Activation, InteractionGraph, Reaction, SentMessage, Subjects
from maeil.messages import MessageKind
from maeil.plans import PlanStatus
from maeil.stages import Stage, Trigger
from maeil.trace.events import (
    ConstraintChange,
    EpisodeStart,
    MessageSent,
    MessagesRead,
    PlanChange,
    StageChange,
    Stamped,
    StepTaken,
    ThoughtStart,
)
from maeil.trace.story import target_of

_FINAL = frozenset(status.value for status in PlanStatus if status.final)


@dataclass(slots=True, eq=False)
class _Reading:
    """A message that an agent has read since its last plan; `said` counts the messages that it had sent before."""

    message: SentMessage
    agent: int
    said: int
    resumed: bool = False


@dataclass(slots=True)
class _Decided:
    """A reading followed by a plan: the plan's subject, and the messages sent in between; None for the loop's plans."""

    reading: _Reading
    subject: str
    said: tuple[SentMessage, ...] | None


class GraphBuilder:
    """Builds an interaction graph.

    Reactions are determined when the team acts, since only then the active tasks and their numbers of agents are known.

    Args:
        start: the first event of the episode.

    Attributes:
        graph: the graph so far.
        subjects: the subjects of tasks.
        live: the subject of each agent's live plan, empty if the plan has no task; agents without a plan are left out.
        lineage: for each participant, a bit set of the agents that it has heard of, including itself, since the world
            last made it think: at the start of the episode, or at the end of its last plan. A coordinator sees the
            whole world, so it has all bits.
    """

    def __init__(self, start: EpisodeStart) -> None:
        n, everybody = len(start.agents), len(start.agents) + len(start.coordinators)
        self.graph = InteractionGraph(n)
        self.subjects = Subjects()
        self.live: dict[int, str] = {}
        self._base = [1 << agent for agent in range(n)] + [(1 << n) - 1] * (everybody - n)
        self.lineage = list(self._base)
        self._thought: dict[int, Activation] = {}
        self._readings: list[list[_Reading]] = [[] for _ in range(everybody)]
        self._said: list[list[SentMessage]] = [[] for _ in range(everybody)]
        self._decided: list[_Decided] = []
        self._resumed: list[_Reading] = []
        self._about: dict[int, tuple[int, frozenset[str]]] = {}

    def take(self, stamped: Stamped) -> list[tuple[SentMessage, int]]:
        """Process the next event.

        Returns:
            Pairs of a message and a recipient whose reaction is now known, in the order of the messages.
        """
        event = stamped.event
        match event:
            case ThoughtStart():
                self._thought[event.agent] = thought = Activation(len(self.graph.activations), event.agent)
                self.graph.activations.append(thought)
            case MessageSent():
                self._send(stamped, event)
            case MessagesRead(agent=reader, messages=numbers):
                for number in numbers:
                    self._read(number, reader)
            case PlanChange():
                self._change_plan(event)
            case StageChange():
                self._change_stage(event)
            case ConstraintChange():
                self.subjects.learn(event)
            case StepTaken():
                return self._settle()
        return []

    def readings(self, agent: int) -> list[SentMessage]:
        """Return the messages that an agent has read since its last plan, in order."""
        return [reading.message for reading in self._readings[agent]]

    def about(self, message: SentMessage) -> frozenset[str]:
        """Return the subjects of a message, as far as they are known now."""
        known, about = self._about.get(message.id, (-1, frozenset()))
        if known != self.subjects.known:
            about = self.subjects.named(message.content)
            self._about[message.id] = self.subjects.known, about
        return about

    def asks(self, message: SentMessage) -> bool:
        """Whether a message asks its recipients to do something, as far as is known now."""
        return self.subjects.asks(message.kind, self.about(message))

    def _send(self, stamped: Stamped, event: MessageSent) -> None:
        source = self._thought.get(event.sender)
        message = SentMessage(
            id=event.message,
            sender=event.sender,
            recipients=tuple(event.recipients),
            kind=event.what,
            content=event.content,
            t=stamped.t,
            source=source.number if source is not None else None,
            lineage=self.lineage[event.sender],
            thread=event.message,
            reactions=dict.fromkeys(event.recipients, Reaction.PENDING),
        )
        if source is not None:
            source.outputs.append(message.id)
        self.graph.messages[message.id] = message
        self._said[event.sender].append(message)

    def _read(self, number: int, reader: int) -> None:
        message = self.graph.messages.get(number)
        thought = self._thought.get(reader)
        if message is None or thought is None:
            return
        thought.inputs.append(message.id)
        self.lineage[reader] |= message.lineage
        message.reactions[reader] = Reaction.WAIT
        self._readings[reader].append(_Reading(message, reader, len(self._said[reader])))

    def _change_plan(self, event: PlanChange) -> None:
        if event.status in _FINAL:
            self.live.pop(event.agent, None)
            return
        if event.status != PlanStatus.COMMITTED:
            return
        self.subjects.learn(event)
        self.live[event.agent] = subject = target_of(event.task)
        self._decide(event.agent, subject, thought=not event.flag)

    def _decide(self, agent: int, subject: str, *, thought: bool) -> None:
        said, readings = self._said[agent], self._readings[agent]
        self._decided += [
            _Decided(reading, subject, tuple(said[reading.said :]) if thought else None) for reading in readings
        ]
        readings.clear()
        said.clear()

    def _change_stage(self, event: StageChange) -> None:
        if event.to_stage == Stage.REASON:
            self.lineage[event.agent] = self._base[event.agent]
        elif event.reason == Trigger.RESUMED and event.agent in self._thought:
            for reading in self._readings[event.agent]:
                if not reading.resumed:
                    reading.resumed = True
                    self._resumed.append(reading)

    def _settle(self) -> list[tuple[SentMessage, int]]:
        """Determine the reactions of agents that planned since the last step, or whose plan does what was asked."""
        for reading in self._resumed:
            subject = self.live.get(reading.agent, "")
            if subject and subject in self.about(reading.message) and reading in self._readings[reading.agent]:
                self._readings[reading.agent].remove(reading)
                self._decided.append(_Decided(reading, subject, ()))
        self._resumed.clear()
        for coordinator in range(self.graph.agents, len(self._readings)):
            self._decide(coordinator, "", thought=True)
        settled = sorted(self._decided, key=lambda one: (one.reading.message.id, one.reading.agent))
        self._decided.clear()
        for one in settled:
            one.reading.message.reactions[one.reading.agent] = self._reaction(one)
        return [(one.reading.message, one.reading.agent) for one in settled]

    def _reaction(self, one: _Decided) -> Reaction:
        message, agent = one.reading.message, one.reading.agent
        about = self.about(message)
        if one.said is None:
            return Reaction.DISCARD
        if agent >= self.graph.agents:
            return Reaction.CONSUME if one.said else Reaction.WAIT
        if not self.subjects.asks(message.kind, about) or not about or one.subject in about:
            return Reaction.CONSUME
        for answer in one.said:
            if message.sender in answer.recipients and (
                message.kind == MessageKind.REQUEST or not about.isdisjoint(self.about(answer))
            ):
                return Reaction.CONSUME
        reached = {message.sender, agent, *message.recipients}
        passed_on = [
            other
            for other in one.said
            if not about.isdisjoint(self.about(other)) and not reached.issuperset(other.recipients)
        ]
        for other in passed_on:
            other.thread = message.thread
        return Reaction.REROUTE if passed_on else Reaction.DISCARD
