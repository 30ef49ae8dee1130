"""The components of a cell, once they are built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from maeil import Mind, Topology, World
from maeil.extension import Extension


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of a cell, built.

    Attributes:
        world: where it plays.
        minds: of the agents.
        coordinators: names and minds of those without a body.
        topology: how they may talk.
        extensions: methods that take part, in order.
        several: the name of the mind of each participant, in a team that has several; else empty.
    """

    world: World
    minds: Sequence[Mind]
    coordinators: Sequence[tuple[str, Mind]]
    topology: Topology
    extensions: Sequence[Extension] = ()
    several: Mapping[str, str] = field(default_factory=dict)

    @property
    def team(self) -> tuple[Mind, ...]:
        """All minds: of the agents by index, then of the coordinator if any."""
        return (*self.minds, *(mind for _, mind in self.coordinators))
