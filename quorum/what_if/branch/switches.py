"""What changes at the branch point of an episode: its topology, its models, and values of the loop and the world."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from maeil import Topology
from maeil.mind import Turn
from maeil.topology import ConversationState
from maeil.trace import Prefix, Stamped
from maeil.trace.events import EpisodeStart
from quorum.agents.llm.conversation import without_carried
from quorum.agents.llm.protocol import Model, Reply, Request


class SwitchingTopology(Topology):
    """Follows one topology up to the branch point, which opens a conversation, and another one from there on.

    Args:
        before: the topology up to the branch point.
        after: the topology from then on, with the same participants.
        prefix: knows when the branch point is reached.
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
        """Return the turns of the topology in charge."""
        return self._now.turns(conversation)

    def route(self, affinity: Any, conversation: ConversationState) -> Any:
        """Return the edges that the topology in charge chooses during the episode (`quorum.methods.dytopo`)."""
        return cast("Any", self._now).route(affinity, conversation)

    def describe(self, role: str) -> str:
        """Return the description by the topology in charge."""
        return self._now.describe(role)


class Switches:
    """Values that stay as in the recorded run up to the branch point, and change there.

    An episode starts with the later values, so that its first event records them; this listener restores the earlier
    ones right after that event.

    Args:
        prefix: knows when the branch point is reached.
    """

    def __init__(self, prefix: Prefix) -> None:
        self._prefix = prefix
        self._before: list[Callable[[], None]] = []

    def add(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        """Add a value.

        Args:
            before: sets the earlier value.
            after: sets the later value.
        """
        self._before.append(before)
        self._prefix.then(after)

    def __call__(self, stamped: Stamped) -> None:
        """Process an event of the episode."""
        if isinstance(stamped.event, EpisodeStart):
            for set_before in self._before:
                set_before()


class SwitchingModel:
    """A model that answers as recorded up to the branch point, and live from then on.

    Args:
        prefix: knows when the branch point is reached.
        before: the recorded model.
        after: the live model.
        others: whether the model changes: a new model cannot use the reasoning items of the conversation.
        forced: whether the first answer from the branch point on also comes from the record.
    """

    def __init__(self, prefix: Prefix, before: Model, after: Model, *, others: bool, forced: bool = False) -> None:
        self._prefix = prefix
        self._forced = forced
        self._before = before
        self._after = after
        self._others = others

    async def complete(self, request: Request) -> Reply:
        """Ask the model in charge."""
        if not self._prefix.live or self._forced:
            self._forced = self._forced and not self._prefix.live
            return await self._before.complete(request)
        return await self._after.complete(without_carried(request) if self._others else request)
