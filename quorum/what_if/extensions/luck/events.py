"""The event of luck."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from maeil.errors import ChangeRefused
from maeil.trace.events import Event
from maeil.world import DrawsLots, World


@dataclass(frozen=True, slots=True)
class WorldLuck(Event):
    """The world draws its random numbers from another stream from here on, before any agent thinks in the step.

    Attributes:
        seed: seed of the stream.
    """

    kind: ClassVar[str] = "world_luck"
    changes_world: ClassVar[bool] = True
    seed: int

    def apply(self, world: World) -> None:
        """Let a world draw from the same stream.

        Raises:
            ChangeRefused: it has no random draws.
        """
        if not isinstance(world, DrawsLots):
            raise ChangeRefused(f"the world '{world.name}' has no luck to draw again: it has no draw_from()")
        world.draw_from(self.seed)
