"""A change of the world, or of its luck, from outside: once, at the start of a step, before any agent thinks in it."""

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
    """A change and its step.

    Attributes:
        t: the environment step at whose start the change happens.
        changes: the change in the world's own terms: see `maeil.world.Changeable`; None: no change.
        luck: seed of the random stream of the world from then on; None: the same stream continues.
    """

    t: int
    changes: Mapping[str, Any] | None
    luck: int | None = None


class Change(Extension):
    """Changes the world once.

    Args:
        change: the change and its step.

    Raises (from `conversation_begins`):
        ChangeRefused: the world refuses the change.
    """

    name = "change"

    def __init__(self, change: ChangeAt) -> None:
        self._change: ChangeAt | None = change

    def conversation_begins(self, topology: Topology) -> None:  # noqa: ARG002 - it does not matter how they talk
        """Change the world when its step starts."""
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
