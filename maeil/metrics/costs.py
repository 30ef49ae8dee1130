"""What it cost to decide, as tables: a row for each participant, and a row for each message."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from math import fsum

from maeil.metrics.statistics import mean
from maeil.stages import Stage, Trigger, may_send
from maeil.trace.events import MessageSent, MessagesRead, StageChange, Stamped
from maeil.trace.reader import Trace
from maeil.trace.stage_times import Clock, Spell, ThinkingTime, Timeline, cognitive, timeline, wall


@dataclass(frozen=True, slots=True)
class AgentCost:
    """The costs of one participant. A participant without a body is in no stage: its last eight values are None.

    Attributes:
        agent: its name.
        thoughts: thoughts that it finished, refused ones included.
        sent: messages that it sent; a broadcast is one.
        read: messages that it read.
        plans: plans that it committed.
        interruptions: entries of I: times that a message took it out of W or X.
        decisions: decisions of the team in which it had to think.
        last_ready: how many of these ended with it: the others waited for it.
        latency_mean: mean over them of the time from its first need to think until it was ready for good, in cognitive
            time. A decision that the end of the trace cuts off is left out.
        latency_mean_seconds: the same in seconds of wall time; not reproducible.
        synchronisation: time that it was ready while others were not, in cognitive time; the mean over agents is
            `decision.synchronisation`.
        synchronisation_seconds: the same in seconds of wall time; not reproducible.
    """

    agent: str
    thoughts: int
    sent: int
    read: int
    plans: int
    interruptions: int | None = None
    decisions: int | None = None
    last_ready: int | None = None
    latency_mean: float | None = None
    latency_mean_seconds: float | None = None
    synchronisation: float | None = None
    synchronisation_seconds: float | None = None


def costs_per_agent(trace: Trace) -> list[AgentCost]:
    """Return the costs of every participant, agents first, in index order."""
    line = timeline(trace)
    story = trace.story
    thoughts = Counter(thought.agent for thought in story.thoughts if thought.end is not None)
    sent = Counter(life.message.sender for life in story.messages)
    read = Counter(reading.agent for reading in trace.of(MessagesRead) for _ in reading.messages)
    plans = Counter(plan.agent for plan in story.plans)
    reached = _thinking_by_decision(line)
    last = Counter(max(spells, key=lambda agent: spells[agent][-1].end.seq) for spells in reached)
    rows = []
    for index, name in enumerate((*trace.start.agents, *trace.start.coordinators)):
        counts = (name, thoughts[index], sent[index], read[index], plans[index])
        if index >= line.agents:
            rows.append(AgentCost(*counts))
            continue
        own = [spells[index] for spells in reached if index in spells]
        rows.append(
            AgentCost(
                *counts,
                interruptions=sum(s.agent == index and s.stage is Stage.INTERRUPTED for s in line.spells),
                decisions=len(own),
                last_ready=last[index],
                latency_mean=_latency(own, cognitive),
                latency_mean_seconds=_latency(own, wall),
                synchronisation=_synchronisation(line, index, cognitive),
                synchronisation_seconds=_synchronisation(line, index, wall),
            )
        )
    return rows


def _thinking_by_decision(line: Timeline) -> list[dict[int, list[Spell]]]:
    """Return for each decision that was reached the spells of R and I of each agent that had to think, in order."""
    begins = [decision.begin.seq for decision in line.decisions]
    found: list[dict[int, list[Spell]]] = [defaultdict(list) for _ in begins]
    for spell in line.spells:
        if may_send(spell.stage):
            found[bisect_right(begins, spell.begin.seq) - 1][spell.agent].append(spell)
    return [spells for spells, decision in zip(found, line.decisions, strict=True) if not decision.cut]


def _latency(decisions: list[list[Spell]], clock: Clock) -> float | None:
    return mean([clock(spells[-1].end) - clock(spells[0].begin) for spells in decisions])


def _synchronisation(line: Timeline, agent: int, clock: Clock) -> float:
    own = fsum(spell.lasts(clock) for spell in line.spells if spell.agent == agent and may_send(spell.stage))
    return fsum(decision.lasts(clock) for decision in line.decisions) - own


@dataclass(frozen=True, slots=True)
class MessageCost:
    """The cost of one message. One that interrupted nobody has none: its last four values are None.

    Attributes:
        message: its number.
        t: environment step in which it was sent.
        sent_at: cognitive time of the send.
        sender: name.
        recipients: their names, with commas.
        kind: what it does.
        characters: its length.
        interrupted: recipients that it took out of W or X. When several messages wait, the first one interrupts.
        latency: from the first of these interruptions until the last of those agents had decided, in cognitive time.
        latency_seconds: the same in seconds of wall time; not reproducible.
        synchronisation: time of all agents together in which they did not think meanwhile, in cognitive time.
        synchronisation_seconds: the same in seconds of wall time; not reproducible.
    """

    message: int
    t: int
    sent_at: float
    sender: str
    recipients: str
    kind: str
    characters: int
    interrupted: int
    latency: float | None = None
    latency_seconds: float | None = None
    synchronisation: float | None = None
    synchronisation_seconds: float | None = None


@dataclass(slots=True)
class _Interruption:
    """What one message set off: its first interruption, and the last decision that follows from one of them."""

    agents: int = 0
    begin: Stamped | None = None
    end: Stamped | None = None


@dataclass(slots=True)
class _Mailbox:
    """The messages of a participant that it has not read, and the one that interrupted it."""

    unread: list[MessageSent] = field(default_factory=list)
    interrupted_by: int | None = None


def costs_per_message(trace: Trace) -> list[MessageCost]:
    """Return the cost of every message, in the order in which they were sent."""
    names = (*trace.start.agents, *trace.start.coordinators)
    caused = _interruptions(trace)
    thinking, thinking_seconds = ThinkingTime(trace, cognitive), ThinkingTime(trace, wall)
    rows = []
    for stamped in trace.stamped(MessageSent):
        sent = stamped.event
        assert isinstance(sent, MessageSent)
        found = caused.get(sent.message, _Interruption())
        costs: dict[str, float] = {}
        if found.begin is not None:
            end = found.end or trace.events[-1]
            costs = {
                "latency": end.t_hat - found.begin.t_hat,
                "latency_seconds": end.wall - found.begin.wall,
                "synchronisation": thinking.waited(found.begin, end),
                "synchronisation_seconds": thinking_seconds.waited(found.begin, end),
            }
        rows.append(
            MessageCost(
                message=sent.message,
                t=stamped.t,
                sent_at=stamped.t_hat,
                sender=names[sent.sender],
                recipients=", ".join(names[index] for index in sent.recipients),
                kind=sent.what,
                characters=len(sent.content),
                interrupted=found.agents,
                **costs,
            )
        )
    return rows


def _interruptions(trace: Trace) -> dict[int, _Interruption]:
    """Find what each message set off; what is open at the end of the trace has no end."""
    boxes: defaultdict[int, _Mailbox] = defaultdict(_Mailbox)
    found: defaultdict[int, _Interruption] = defaultdict(_Interruption)
    for stamped in trace.among(MessageSent, MessagesRead, StageChange):
        event = stamped.event
        if isinstance(event, MessageSent):
            for recipient in event.recipients:
                boxes[recipient].unread.append(event)
        elif isinstance(event, MessagesRead):
            box, read = boxes[event.agent], frozenset(event.messages)
            box.unread = [message for message in box.unread if message.message not in read]
        elif isinstance(event, StageChange):
            box = boxes[event.agent]
            if box.interrupted_by is not None:
                found[box.interrupted_by].end = stamped
                box.interrupted_by = None
            if event.to_stage == Stage.INTERRUPTED and event.reason == Trigger.MESSAGE:
                first = next(message for message in box.unread if message.delivered_at <= stamped.t_hat)
                box.interrupted_by = first.message
                caused = found[first.message]
                caused.agents += 1
                caused.begin = caused.begin or stamped
    for box in boxes.values():
        if box.interrupted_by is not None:
            found[box.interrupted_by].end = None
    return found
