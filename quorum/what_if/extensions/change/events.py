"""Change the state of a world from outside, and the event of such a change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from maeil.errors import ChangeRefused
from maeil.trace.events import Event
from maeil.world import Changeable, World


def change_world(world: World, changes: Mapping[str, Any]) -> None:
    """Change the state of a world.

    Raises:
        ChangeRefused: the world does not allow changes, or the state is impossible.
    """
    if not isinstance(world, Changeable):
        raise ChangeRefused(f"the world '{world.name}' cannot be changed from outside: it has no change()")
    try:
        world.change(changes)
    except ValueError as error:
        raise ChangeRefused(str(error)) from error


@dataclass(frozen=True, slots=True)
class WorldChange(Event):
    """A branch changes the world from outside, at the start of step `t`, before any agent thinks in it.

    Attributes:
        changes: the change in the terms of the world, as `quorum branch --world` takes it.
    """

    kind: ClassVar[str] = "world_change"
    changes_world: ClassVar[bool] = True
    changes: Mapping[str, Any]

    def apply(self, world: World) -> None:
        """Change a world in the same way.

        Raises:
            ChangeRefused: the world refuses it.
        """
        change_world(world, self.changes)
