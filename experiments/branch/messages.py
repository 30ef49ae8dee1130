"""The messages of a recorded run, by their ids: who sent them, and in which thought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from maeil.trace import Instant
from maeil.trace.story import Story
from maeil.user_errors import UserError
from quorum.experiments.episode.dropped import Drop


def found_messages(story: Story, ids: Sequence[int]) -> Sequence[tuple[Drop, Instant]]:
    """Return messages with the start of the thought that sends each, in the order of the run.

    Args:
        story: of the run.
        ids: of the messages.

    Raises:
        UserError: the run has no such message.
    """
    before: Counter[tuple[int, int]] = Counter()
    found: dict[int, tuple[Drop, Instant]] = {}
    for life in story.messages:
        message, t, start = life.message, life.sent.t, life.thought
        if message.message in ids and start is not None:
            drop = Drop(message.message, message.sender, t, before[t, message.sender])
            found[message.message] = drop, Instant(start.t, start.t_hat)
        before[t, message.sender] += 1
    for wanted in ids:
        if wanted not in found:
            there = f"Its messages are 0 to {len(story.messages) - 1}, in the order in which they were sent."
            raise UserError(
                f"--drop {wanted}: the run has no such message",
                there if story.messages else "Nothing was said in it.",
            )
    return list(found.values())
