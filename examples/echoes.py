"""A metric: the share of messages that repeat an earlier text."""

from __future__ import annotations

from maeil.metrics import Value, metric
from maeil.trace import Trace
from maeil.trace.events import MessageSent


@metric("talk.echoes", better="lower", title="echoes")
def echoes(trace: Trace) -> Value:
    """Messages with the same text as an earlier message of the episode / messages; None without a message."""
    texts = [message.content for message in trace.of(MessageSent)]
    return 1 - len(set(texts)) / len(texts) if texts else None
