"""A change of the world from outside: once, at the start of a step, before anybody thinks in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from maeil.extension import Extension
from maeil.extensions.change.events import WorldChange, change_world
from maeil.topology import Topology


@dataclass(frozen=True, slots=True)
class ChangeAt:
    """What is changed, and when.

    Attributes:
        t: the environment step at whose start it is.
        changes: in the words of the world: see `maeil.world.Changeable`.
    """

    t: int
    changes: Mapping[str, Any]


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
        change_world(self.episode.world, change.changes)
        self.episode.record(WorldChange(change.changes))
        self.episode.world_changed()


__all__ = ["Change", "ChangeAt", "WorldChange", "change_world"]
