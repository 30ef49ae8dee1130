"""The event of a change of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from maeil.extensions.change.world_change import change_world
from maeil.trace.events import Event
from maeil.world import World


@dataclass(frozen=True, slots=True)
class WorldChange(Event):
    """The world was changed from outside, at the start of step `t`, before anybody thought in it.

    Attributes:
        changes: in the words of the world: see `maeil.world.Changeable`.
    """

    kind: ClassVar[str] = "world_change"
    changes: Mapping[str, Any]

    def apply(self, world: World) -> None:
        """Change a world in the same way.

        Raises:
            ChangeRefused: the world refuses it.
        """
        change_world(world, self.changes)
