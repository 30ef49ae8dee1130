"""Tables of decision costs, with one row per participant and one row per message."""

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
    """The costs of one participant. A coordinator has no stages, so its values from `interruptions` on are None.

    Attributes:
        agent: name of the participant.
        thoughts: completed thoughts, including refused ones.
        sent: messages sent; a broadcast counts once.
        read: messages read.
        plans: plans committed.
        interruptions: entries of I: how often a message interrupted it in W or X.
        decisions: decisions of the team in which it had to think.
        last_ready: decisions in which it was the last agent to be ready, so that the others waited for it.
        latency_mean: mean over these decisions of the cognitive time from its first need to think until it was finally
            ready. A decision cut off by the end of the trace is left out.
        latency_mean_seconds: the same in seconds of wall time; not reproducible.
        synchronisation: cognitive time in which it was ready while others were not; the mean over agents is
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
    """Return, for each completed decision, the spells in R and I of each agent that had to think, in order."""
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
    """The cost of one message. If it interrupted no agent, its last four values are None.

    Attributes:
        message: number of the message.
        t: environment step in which it was sent.
        sent_at: cognitive time of sending.
        sender: name of the sender.
        recipients: names of the recipients, separated by commas.
        kind: purpose of the message.
        characters: length of the text.
        interrupted: recipients that it interrupted in W or X. If several messages wait, the first one interrupts.
        latency: cognitive time from the first of these interruptions until the last interrupted agent had decided.
        latency_seconds: the same in seconds of wall time; not reproducible.
        synchronisation: cognitive time in which agents did not think meanwhile, summed over agents.
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
    """The consequences of one message: its first interruption, and the last decision caused by its interruptions."""

    agents: int = 0
    begin: Stamped | None = None
    end: Stamped | None = None


@dataclass(slots=True)
class _Mailbox:
    """A participant's unread messages, and the message that interrupted it."""

    unread: list[MessageSent] = field(default_factory=list)
    interrupted_by: int | None = None


def costs_per_message(trace: Trace) -> list[MessageCost]:
    """Return the cost of every message, in the order of sending."""
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
    """Find the consequences of each message; those still open at the end of the trace have no end."""
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
