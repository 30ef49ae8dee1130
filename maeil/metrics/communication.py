"""How much was said, by whom, to how many."""

from __future__ import annotations

from collections import Counter

import orjson

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import deviation, mean, ratio
from maeil.trace.events import MessageSent, StepTaken
from maeil.trace.reader import Trace


def _sent_by_each(trace: Trace) -> list[int]:
    """Count the messages of each participant; those without a body count as well, because they bear load too."""
    sent = Counter(message.sender for message in trace.of(MessageSent))
    return [sent[index] for index in range(len(trace.start.agents) + len(trace.start.coordinators))]


@metric("communication.messages", "messages")
def messages(trace: Trace) -> Value:
    """Messages sent; a broadcast is one (EmCoop, communication load, L_tot)."""
    return len(trace.stamped(MessageSent))


@metric("communication.messages_per_step", "messages per environment step")
def messages_per_step(trace: Trace) -> Value:
    """Messages sent / T."""
    return ratio(len(trace.stamped(MessageSent)), len(trace.stamped(StepTaken)))


@metric("communication.messages_mean", "messages per participant")
def messages_mean(trace: Trace) -> Value:
    """Mean over participants, coordinators included, of the messages that they sent (EmCoop, L_avg)."""
    return mean(_sent_by_each(trace))


@metric("communication.messages_std", "messages per participant")
def imbalance(trace: Trace) -> Value:
    """Imbalance: population standard deviation, over participants, of the messages that they sent (EmCoop, L_std)."""
    return deviation(_sent_by_each(trace))


@metric("communication.recipients_reached", "recipients")
def recipients_reached(trace: Trace) -> Value:
    """Sum over messages of the recipients in whose mailbox they came to lie before the last event."""
    now = trace.events[-1].t_hat
    return sum(len(message.recipients) for message in trace.of(MessageSent) if message.delivered_at <= now)


@metric("communication.characters", "characters")
def characters(trace: Trace) -> Value:
    """Length of all messages, each counted once, and of the open tasks that are attached to them, as JSON."""
    return sum(len(message.content) + _attached(message) for message in trace.of(MessageSent))


def _attached(message: MessageSent) -> int:
    return len(orjson.dumps(message.tasks).decode()) if message.tasks else 0
