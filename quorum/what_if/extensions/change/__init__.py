"""A change of the world, or of its luck, from outside: once, at the start of a step, before anybody thinks in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from maeil.extension import Extension
from maeil.topology import Topology
from quorum.what_if.extensions.change.events import WorldChange, change_world
from quorum.what_if.extensions.luck.events import WorldLuck


@dataclass(frozen=True, slots=True)
class ChangeAt:
    """What is changed, and when.

    Attributes:
        t: the environment step at whose start it is.
        changes: in the words of the world: see `maeil.world.Changeable`; None: nothing.
        luck: seed of the stream that the world draws its lots from; None: the same stream goes on.
    """

    t: int
    changes: Mapping[str, Any] | None
    luck: int | None = None


class Change(Extension):
    """Changes the world once.

    Args:
        change: what is changed, and when.

    Raises (from `conversation_begins`):
        ChangeRefused: the world cannot be changed so.
    """

    name = "change"

    def __init__(self, change: ChangeAt) -> None:
        self._change: ChangeAt | None = change

    def conversation_begins(self, topology: Topology) -> None:  # noqa: ARG002 - it does not matter how they talk
        """Change the world if its step begins."""
        change = self._change
        if change is None or change.t != self.episode.team.now.t:
            return
        self._change = None
        if change.luck is not None:
            luck = WorldLuck(change.luck)
            luck.apply(self.episode.world)
            self.episode.record(luck)
        if change.changes is not None:
            change_world(self.episode.world, change.changes)
            self.episode.record(WorldChange(change.changes))
            self.episode.world_changed()


__all__ = ["Change", "ChangeAt", "WorldChange", "change_world"]
