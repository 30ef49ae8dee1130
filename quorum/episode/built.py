"""The built components of a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from maeil import Mind, Topology, World
from maeil.extension import Extension


@dataclass(frozen=True, slots=True)
class Parts:
    """The built components of a cell.

    Attributes:
        world: the world.
        minds: minds of the agents.
        coordinators: names and minds of participants without a body.
        topology: who may talk to whom.
        extensions: active extensions, in order.
        several: the mind's name for each participant if the team is mixed; else empty.
    """

    world: World
    minds: Sequence[Mind]
    coordinators: Sequence[tuple[str, Mind]]
    topology: Topology
    extensions: Sequence[Extension] = ()
    several: Mapping[str, str] = field(default_factory=dict)

    @property
    def team(self) -> tuple[Mind, ...]:
        """All minds: the agents' by index, then the coordinator's if there is one."""
        return (*self.minds, *(mind for _, mind in self.coordinators))
