"""A metric: how much of what is said was said before."""

from __future__ import annotations

from maeil.metrics import Value, metric
from maeil.trace import Trace
from maeil.trace.events import MessageSent


@metric("talk.echoes", better="lower", title="echoes")
def echoes(trace: Trace) -> Value:
    """Messages whose text an earlier message of the episode has, too / messages; None without a message."""
    texts = [message.content for message in trace.of(MessageSent)]
    return 1 - len(set(texts)) / len(texts) if texts else None
