"""A mind that does not send certain messages, though it writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from maeil.mind import Mind, Thought, View
from maeil.trace import Prefix, Stamped
from maeil.trace.events import MessageSent, ThoughtEnd


@dataclass(frozen=True, slots=True)
class Drop:
    """A message of a recorded run that its sender does not send in a branch of it.

    Attributes:
        message: its id in the run.
        sender: index of the participant who sent it.
        t: environment step in which it was sent.
        number: of the messages that its sender sent in that step, which this is, from 0.
    """

    message: int
    sender: int
    t: int
    number: int

    def __str__(self) -> str:
        return f"--drop {self.message}"


class Dropping:
    """Thinks as its mind does, and leaves messages out of what that sends.

    The thought takes the calls and the time that it would have taken. Messages are counted as they are sent, so it is
    also a listener of the episode: a thought that is refused sends none, and what is left out then is left out again in
    the next try.

    Args:
        mind: that which thinks.
        drops: what it does not send; all of one sender.
        prefix: says when the instant has come.
    """

    def __init__(self, mind: Mind, drops: Sequence[Drop], prefix: Prefix) -> None:
        self._mind = mind
        self._left = list(drops)
        self._sender = drops[0].sender
        self._prefix = prefix
        self._held: list[Drop] = []  # in the thought under way
        self._t = 0
        self._sent = 0  # in step t, with those that were left out

    @property
    def undone(self) -> Sequence[Drop]:
        """The messages that it has not come to write."""
        return self._left

    async def think(self, view: View) -> Thought:
        """Have the mind think, and leave out what is not to be sent."""
        thought = await self._mind.think(view)
        if not self._prefix.live:
            return thought
        before = self._sent if view.t == self._t else 0
        here = {drop.number - before: drop for drop in self._left if drop.t == view.t}
        self._held = [here[index] for index in range(len(thought.messages)) if index in here]
        if not self._held:
            return thought
        kept = tuple(draft for index, draft in enumerate(thought.messages) if index not in here)
        return replace(thought, messages=kept)

    def __call__(self, stamped: Stamped) -> None:
        """Take an event of the episode in."""
        event = stamped.event
        if isinstance(event, MessageSent) and event.sender == self._sender:
            self._count(stamped.t, 1)
        elif isinstance(event, ThoughtEnd) and event.agent == self._sender:
            if not event.refused:
                self._left = [drop for drop in self._left if drop not in self._held]
                self._count(stamped.t, len(self._held))
            self._held = []

    def _count(self, t: int, messages: int) -> None:
        self._sent = messages + (self._sent if t == self._t else 0)
        self._t = t
