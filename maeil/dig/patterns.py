"""Finds the failure patterns of DIG to Heal (arXiv 2603.00309) in the interaction graph, event by event.

The same rules apply to a trace and to healers in the loop. All of them are adapted to the loop; for the originals and
the reasons see `docs/dig.md`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from maeil.dig.build import GraphBuilder
from maeil.dig.graph import InteractionGraph, Reaction, SentMessage
from maeil.plans import PlanStatus
from maeil.trace.events import (
    EpisodeStart,
    MessageSent,
    MessagesRead,
    Number,
    PlanChange,
    ScoreChange,
    Stamped,
    StepOutcome,
    StepTaken,
)
from maeil.trace.reader import Trace

_Origin = tuple[int, frozenset[str]]
"""The origin of a message that waits for a plan: how many thoughts ago its work entered the graph, and its subjects."""


class Pattern(StrEnum):
    """A way in which cooperation fails (DIG to Heal)."""

    ORPHAN = "orphan"
    EXCESSIVE_REROUTING = "excessive_rerouting"
    REPEATED_EFFORT = "repeated_effort"
    MISSING_DEPENDENCY = "missing_dependency"
    INCOMPLETE_COVERAGE = "incomplete_coverage"
    MISSED_SUBMISSION = "missed_submission"
    DEADLOCK = "deadlock"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The numbers in the rules.

    Attributes:
        orphan_steps: environment steps after which a message that no recipient has taken up is an orphan (published:
            5 s).
        reroutes: maximum number of agents that may pass a message on (published: 2).
        depth: maximum number of thoughts to search back from a message for the origin of its work (published: 10).
        idle_steps: environment steps without progress that do not count as a deadlock yet (published: 40 ticks).
    """

    orphan_steps: int
    reroutes: int
    depth: int
    idle_steps: int


PUBLISHED = Thresholds(orphan_steps=5, reroutes=2, depth=10, idle_steps=40)
"""The published numbers, with environment steps instead of the seconds and ticks of the original runtime."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An occurrence of a pattern.

    Attributes:
        pattern: the pattern.
        t: environment step.
        t_hat: cognitive time.
        agents: the agents concerned. orphan: the sender, then the recipients; excessive_rerouting: the last agent that
            passed the message on, then the others; repeated_effort: the agents at work on the task, the sender first if
            it is one of them; missing_dependency: the reader, then the sources of the work; incomplete_coverage: the
            agent of the plan; missed_submission: the agents that know of the task; deadlock: the team.
        messages: ids of the messages that prove it, in order.
        subject: its subject; empty if that is unknown or not unique.
        count: in the order of the patterns: age in steps; agents that passed the message on; agents at work; sources;
            agents heard of; agents that know of the task; steps without progress.
        needed: how many agents the task takes, if the rule depends on it; otherwise 0.
    """

    pattern: Pattern
    t: int
    t_hat: Number
    agents: tuple[int, ...]
    messages: tuple[int, ...]
    subject: str
    count: int
    needed: int = 0


class PatternFinder:
    """Builds the graph, and finds patterns as they occur.

    Args:
        start: the first event of the episode.
        thresholds: the numbers in the rules.

    Attributes:
        builder: builds the graph.
        settled: messages and recipients whose reaction became known with the last event.
    """

    def __init__(self, start: EpisodeStart, thresholds: Thresholds = PUBLISHED) -> None:
        self.builder = GraphBuilder(start)
        self.settled: list[tuple[SentMessage, int]] = []
        self._thresholds = thresholds
        self._now: Stamped
        self._ageing: deque[SentMessage] = deque()
        self._aged: set[int] = set()
        self._rerouters: dict[int, list[int]] = {}
        self._waiting: dict[int, dict[_Origin, dict[int, SentMessage]]] = {}
        self._mixed: set[int] = set()
        self._working: dict[str, set[int]] = {}
        self._begun: list[tuple[int, int, str]] = []
        self._said: list[SentMessage] = []
        self._missed: set[str] = set()
        self._serving: set[str] = set()
        self._idle = 0

    @property
    def graph(self) -> InteractionGraph:
        """The graph so far."""
        return self.builder.graph

    def take(self, stamped: Stamped) -> list[Finding]:
        """Process the next event, and return the patterns that it completes."""
        self.settled = self.builder.take(stamped)
        self._now = stamped
        match stamped.event:
            case MessageSent(message=number):
                self._ageing.append(self.graph.messages[number])
                self._said.append(self.graph.messages[number])
            case MessagesRead(agent=reader, messages=numbers) if reader < self.graph.agents:
                return [finding for number in numbers for finding in self._mixing(number, reader)]
            case PlanChange(status=PlanStatus.COMMITTED) as commitment:
                self._commit(commitment)
            case PlanChange(status=PlanStatus.SUCCEEDED, plan=plan) if plan in self._serving:
                self._idle = 0
            case ScoreChange():
                self._idle = 0
            case StepOutcome(attempts=attempts) if any(one.get("succeeded") for one in attempts):
                self._idle = 0
            case StepTaken():
                rules = (
                    self._rerouting, self._repeating, self._uncovered, self._unsubmitted, self._orphans, self._deadlock,
                )  # fmt: skip
                found = [finding for rule in rules for finding in rule()]
                self._begun.clear()
                return found
        return []

    def _found(
        self,
        pattern: Pattern,
        agents: Sequence[int],
        *,
        proof: Sequence[SentMessage] = (),
        subject: str = "",
        count: int | None = None,
        needed: int = 0,
    ) -> Finding:
        """Return a finding at the current time; `count` is by default the number of agents."""
        ids = tuple(message.id for message in proof)
        now, number = self._now, len(agents) if count is None else count
        return Finding(pattern, now.t, now.t_hat, tuple(agents), ids, subject, number, needed)

    def _commit(self, event: PlanChange) -> None:
        self._waiting.pop(event.agent, None)
        self._mixed.discard(event.agent)
        subject = self.builder.live[event.agent]
        if subject and not event.flag:
            self._serving.add(event.plan)
            self._begun.append((event.agent, self.builder.lineage[event.agent], subject))

    def _mixing(self, number: int, reader: int) -> Iterator[Finding]:
        """`dependency_warning`: messages that wait for an agent's plan have different subjects and different sources.

        Found once for each plan of an agent.
        """
        new = self.graph.messages.get(number)
        if new is None or reader in self._mixed:
            return
        about = self.builder.about(new)
        source = self.graph.generator(new.id, self._thresholds.depth) if about and self.builder.asks(new) else None
        if source is None:
            return
        agent, depth = source
        waiting = self._waiting.setdefault(reader, {})
        waiting.setdefault((depth, about), {}).setdefault(agent, new)
        for (other_depth, other_about), sources in waiting.items():
            if other_depth == depth and other_about.isdisjoint(about):
                for other, message in sources.items():
                    if other != agent:
                        self._mixed.add(reader)
                        concerned, proof = (reader, other, agent), (message, new)
                        yield self._found(Pattern.MISSING_DEPENDENCY, concerned, proof=proof, count=2)
                        return

    def _rerouting(self) -> Iterator[Finding]:
        for message, agent in self.settled:
            if message.reactions[agent] is not Reaction.REROUTE:
                continue
            rerouters = self._rerouters.setdefault(message.thread, [])
            if agent not in rerouters:
                rerouters.append(agent)
                if len(rerouters) == self._thresholds.reroutes + 1:
                    first, subject = self.graph.messages[message.thread], self._one_of(message)
                    proof = [first] if first is message else [first, message]
                    concerned = (agent, *rerouters[:-1])
                    yield self._found(Pattern.EXCESSIVE_REROUTING, concerned, proof=proof, subject=subject)

    def _repeating(self) -> Iterator[Finding]:
        """More agents that took up one message work on a subject than its task takes.

        Found once for each subject, and again when another agent joins.
        """
        build = self.builder
        readers: dict[int, list[int]] = {}
        for message, agent in self.settled:
            if len(message.recipients) > 1 and message.reactions[agent] is Reaction.CONSUME:
                readers.setdefault(message.id, []).append(agent)
        most: dict[str, tuple[tuple[int, ...], SentMessage]] = {}
        for number, agents in readers.items():
            message = self.graph.messages[number]
            for subject in build.about(message):
                workers = tuple(agent for agent in (message.sender, *agents) if build.live.get(agent) == subject)
                if subject not in most or len(workers) > len(most[subject][0]):
                    most[subject] = workers, message
        for subject, (workers, message) in sorted(most.items()):
            takes = build.subjects.takes(subject)
            if takes and len(workers) > takes and not self._working.get(subject, set()).issuperset(workers):
                self._working[subject] = set(workers)
                yield self._found(Pattern.REPEATED_EFFORT, workers, proof=[message], subject=subject, needed=takes)

    def _uncovered(self) -> Iterator[Finding]:
        """A plan starts for a task of several agents, but its agent has not heard of as many agents."""
        for agent, lineage, subject in self._begun:
            takes, heard = self.builder.subjects.takes(subject), lineage.bit_count()
            if heard < takes and self.builder.live.get(agent) == subject:
                yield self._found(Pattern.INCOMPLETE_COVERAGE, (agent,), subject=subject, count=heard, needed=takes)

    def _unsubmitted(self) -> Iterator[Finding]:
        """Enough agents know that a task was asked for, but no agent works on it."""
        build = self.builder
        heard: dict[str, tuple[set[int], list[SentMessage]]] = {}
        for message in self._said:
            for subject in build.about(message) if build.asks(message) else ():
                knowing, proof = heard.setdefault(subject, (set(), []))
                readers = (agent for agent, how in message.reactions.items() if how is not Reaction.PENDING)
                knowing.update(agent for agent in (message.sender, *readers) if agent < self.graph.agents)
                proof.append(message)
        self._said.clear()
        at_work = set(build.live.values())
        for subject, (knowing, proof) in sorted(heard.items()):
            takes = build.subjects.takes(subject)
            if takes and len(knowing) >= takes and subject not in at_work and subject not in self._missed:
                self._missed.add(subject)
                agents = sorted(knowing)
                yield self._found(Pattern.MISSED_SUBMISSION, agents, proof=proof, subject=subject, needed=takes)

    def _orphans(self) -> Iterator[Finding]:
        """All recipients have discarded a message or passed it on. Found once, when the message is old enough."""
        now = self._now.t
        judged = {message.id: message for message, _ in self.settled if message.id in self._aged}
        while self._ageing and now - self._ageing[0].t >= self._thresholds.orphan_steps:
            message = self._ageing.popleft()
            if message.sender < self.graph.agents:
                self._aged.add(message.id)
                judged[message.id] = message
        for message in judged.values():
            reactions = set(message.reactions.values())
            if reactions.isdisjoint({Reaction.PENDING, Reaction.WAIT}):
                self._aged.discard(message.id)
                if Reaction.CONSUME not in reactions:
                    concerned, subject = (message.sender, *message.recipients), self._one_of(message)
                    age = now - message.t
                    yield self._found(Pattern.ORPHAN, concerned, proof=[message], subject=subject, count=age)

    def _deadlock(self) -> Iterator[Finding]:
        self._idle += 1
        if self._idle == self._thresholds.idle_steps + 1:
            yield self._found(Pattern.DEADLOCK, range(self.graph.agents), count=self._idle)

    def _one_of(self, message: SentMessage) -> str:
        """Return the subject of a message if it has exactly one; otherwise an empty string."""
        about = self.builder.about(message)
        return next(iter(about)) if len(about) == 1 else ""


@dataclass(frozen=True, slots=True)
class Analysis:
    """A graph, and the failures in it.

    Attributes:
        graph: the interaction graph.
        findings: the failures, in order of time.
    """

    graph: InteractionGraph
    findings: tuple[Finding, ...]


def analyse(trace: Trace, thresholds: Thresholds = PUBLISHED) -> Analysis:
    """Build the graph of a trace and find the failures in it, in one pass over its events.

    Args:
        trace: the trace.
        thresholds: the numbers in the rules.
    """
    finder = PatternFinder(trace.start, thresholds)
    findings = [found for stamped in trace.events for found in finder.take(stamped)]
    return Analysis(finder.graph, tuple(findings))
