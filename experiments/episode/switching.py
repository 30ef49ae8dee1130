"""What is another in the loop itself from an instant of an episode on: its topology, its step limit, its budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from maeil import Topology
from maeil.extensions.describe.describing import Routing
from maeil.extensions.describe.descriptors import Affinity, Edge
from maeil.mind import Turn
from maeil.topology import ConversationState
from maeil.trace import Prefix, Stamped
from maeil.trace.events import EpisodeStart


class SwitchingTopology(Topology):
    """Gives turns by one topology until the instant, which opens a conversation, and by another one from there on.

    Args:
        before: the topology until then.
        after: the topology from then on, with the same participants.
        prefix: says when the instant has come.
    """

    def __init__(self, before: Topology, after: Topology, prefix: Prefix) -> None:
        self.name = after.name
        self.coordinated = after.coordinated
        self._before = before
        self._after = after
        self._prefix = prefix

    @property
    def _now(self) -> Topology:
        return self._after if self._prefix.due or self._prefix.live else self._before

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turns of the topology whose time it is."""
        return self._now.turns(conversation)

    def route(self, affinity: Affinity, conversation: ConversationState) -> Sequence[Edge]:
        """Return the edges of the topology whose time it is."""
        return cast("Routing", self._now).route(affinity, conversation)

    def describe(self, role: str) -> str:
        """Return what the topology whose time it is says of itself."""
        return self._now.describe(role)


class Switches:
    """Values that are what they were while the beginning of another episode is played, and others from the instant on.

    An episode begins with the later ones, so that its first event tells them; it is a listener, which puts the earlier
    ones in their place as soon as that is told.

    Args:
        prefix: says when the instant has come.
    """

    def __init__(self, prefix: Prefix) -> None:
        self._prefix = prefix
        self._before: list[Callable[[], None]] = []

    def add(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        """Add a value.

        Args:
            before: sets it to what it was.
            after: sets it to what it is from the instant on.
        """
        self._before.append(before)
        self._prefix.then(after)

    def __call__(self, stamped: Stamped) -> None:
        """Take an event of the episode in."""
        if isinstance(stamped.event, EpisodeStart):
            for set_before in self._before:
                set_before()
