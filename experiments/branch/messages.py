"""The messages of a recorded run, by their ids: who sent them, and in which thought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from maeil.trace import Instant, Stamped, Trace
from maeil.trace.events import MessageSent, ThoughtStart
from maeil.user_errors import UserError
from quorum.experiments.episode.dropped import Drop


def found_messages(trace: Trace, ids: Sequence[int]) -> Sequence[tuple[Drop, Instant]]:
    """Return messages with the begin of the thought that sends each, in the order of the run.

    Args:
        trace: of the run.
        ids: of the messages.

    Raises:
        UserError: the run has no such message.
    """
    begun: dict[int, Stamped] = {}
    sent: Counter[tuple[int, int]] = Counter()
    found: dict[int, tuple[Drop, Instant]] = {}
    messages = 0
    for stamped in trace.among(ThoughtStart, MessageSent):
        event = stamped.event
        if isinstance(event, ThoughtStart):
            begun[event.agent] = stamped
        elif isinstance(event, MessageSent):
            messages += 1
            place = stamped.t, event.sender
            if event.message in ids and (start := begun.get(event.sender)) is not None:
                drop = Drop(event.message, event.sender, stamped.t, sent[place])
                found[event.message] = drop, Instant(start.t, start.t_hat)
            sent[place] += 1
    for wanted in ids:
        if wanted not in found:
            there = f"Its messages are 0 to {messages - 1}, in the order in which they were sent."
            raise UserError(
                f"--drop {wanted}: the run has no such message",
                there if messages else "Nothing was said in it.",
            )
    return list(found.values())
