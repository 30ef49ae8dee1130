"""Metrics of communication: the volume of messages, and their senders and recipients."""

from __future__ import annotations

from collections import Counter

import numpy as np
import orjson

from maeil.metrics.outcome import scores
from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import deviation, mean, ratio
from maeil.trace.events import MessageSent, MessagesRead, StepTaken, ThoughtEnd
from maeil.trace.reader import Trace
from quorum_base.ngrams import BUCKETS, count_ngrams


def _sent_by_each(trace: Trace) -> list[int]:
    """Count the messages of each participant, including coordinators, since they share the communication load."""
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


@metric("communication.messages_per_thought", "messages per thought")
def messages_per_thought(trace: Trace) -> Value:
    """Message density: messages sent / thoughts finished (Scaling Agent Systems, c, messages per reasoning turn)."""
    return ratio(len(trace.stamped(MessageSent)), len(trace.stamped(ThoughtEnd)))


@metric("communication.redundancy", rate=True)
def redundancy(trace: Trace) -> Value:
    """Similarity of the messages of different senders in the same step (Scaling Agent Systems, R).

    Mean cosine similarity over pairs of participants that both sent messages in a step. The paper uses embeddings from
    a model; here they are hashed counts of character n-grams, as in DyTopo's `lexical`.
    """
    texts: dict[int, dict[int, list[str]]] = {}
    for stamped in trace.stamped(MessageSent):
        sent = stamped.event
        assert isinstance(sent, MessageSent)
        texts.setdefault(stamped.t, {}).setdefault(sent.sender, []).append(sent.content)
    alike, pairs = 0.0, 0
    for of_step in texts.values():
        counts = (count_ngrams("\n".join(own)) for own in of_step.values())
        units = [own / length for own in counts if (length := float(np.sqrt((own * own).sum())))]
        whole = sum(units, np.zeros(BUCKETS))
        # The squared norm of the sum holds each pair twice, and each unit vector once with itself.
        alike += (float((whole * whole).sum()) - len(units)) / 2
        pairs += len(units) * (len(units) - 1) // 2
    return min(max(alike / pairs, 0.0), 1.0) if pairs else None


@metric("communication.recipients_reached", "recipients")
def recipients_reached(trace: Trace) -> Value:
    """Recipients, summed over messages, that a message reached before the last event."""
    now = trace.events[-1].t_hat
    return sum(len(message.recipients) for message in trace.of(MessageSent) if message.delivered_at <= now)


@metric("communication.characters", "characters")
def characters(trace: Trace) -> Value:
    """Total length of all messages, each counted once, and of their attached open tasks as JSON."""
    return sum(len(message.content) + _attached(message) for message in trace.of(MessageSent))


def _attached(message: MessageSent) -> int:
    return len(orjson.dumps(message.tasks).decode()) if message.tasks else 0


def _after_talk(trace: Trace) -> list[int]:
    """Return the steps before which a participant read a message, so that communication may have influenced them."""
    read = {stamped.t for stamped in trace.stamped(MessagesRead)}
    return [t for t in range(len(trace.stamped(StepTaken))) if t in read]


@metric("communication.steps_after_talk", "environment steps")
def steps_after_talk(trace: Trace) -> Value:
    """Steps before which a participant read a message, even if a control arm altered that message."""
    return len(_after_talk(trace))


@metric("communication.gain_after_talk", "points of the world a step", better="higher")
def gain_after_talk(trace: Trace) -> Value:
    """Mean change of the world's score in the steps before which a participant read a message; None without any."""
    after = scores(trace)
    return mean([after[t + 1] - after[t] for t in _after_talk(trace)])


@metric("communication.attempts_after_talk", better="higher", rate=True)
def attempts_after_talk(trace: Trace) -> Value:
    """Attempts that succeeded / attempts, in the steps before which a participant read a message; None without any."""
    steps = set(_after_talk(trace))
    return mean([float(attempt.succeeded) for attempt in trace.story.attempts if attempt.event.t in steps])
