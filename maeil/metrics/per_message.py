"""What each message cost the team: a table with a row for each."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from maeil.metrics.thinking_time import ThinkingTime
from maeil.metrics.timeline import cognitive, wall
from maeil.stages import Stage, Trigger
from maeil.trace.events import MessageRead, MessageSent, StageChange, Stamped
from maeil.trace.reader import Trace


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
    times = ThinkingTime(trace, cognitive), ThinkingTime(trace, wall)
    rows = []
    for stamped in trace.stamped(MessageSent):
        sent = stamped.event
        assert isinstance(sent, MessageSent)
        found = caused.get(sent.message, _Interruption())
        costs: tuple[float, ...] = ()
        if found.begin is not None:
            end = found.end or trace.events[-1]
            costs = (
                end.t_hat - found.begin.t_hat,
                end.wall - found.begin.wall,
                *(time.waited(found.begin, end) for time in times),
            )
        latency, latency_seconds, waited, waited_seconds = costs or (None,) * 4
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
                latency=latency,
                latency_seconds=latency_seconds,
                synchronisation=waited,
                synchronisation_seconds=waited_seconds,
            )
        )
    return rows


def _interruptions(trace: Trace) -> dict[int, _Interruption]:
    """Find what each message set off; what is open at the end of the trace has no end."""
    boxes: defaultdict[int, _Mailbox] = defaultdict(_Mailbox)
    found: defaultdict[int, _Interruption] = defaultdict(_Interruption)
    for stamped in trace.among(MessageSent, MessageRead, StageChange):
        event = stamped.event
        if isinstance(event, MessageSent):
            for recipient in event.recipients:
                boxes[recipient].unread.append(event)
        elif isinstance(event, MessageRead):
            box = boxes[event.agent]
            box.unread = [message for message in box.unread if message.message != event.message]
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
