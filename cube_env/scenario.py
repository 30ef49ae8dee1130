"""Contents of a board: the curriculum and the named levels. Nothing here needs arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import index
from types import MappingProxyType
from typing import Literal, SupportsIndex

from quorum_base.environments.errors import PlacementError

Weights = Literal["halving", "every"]
"""The two readings of the curriculum's weights."""

SMALLEST_SIDE = 20
"""Side of the curriculum's grid up to n = 20; above that, the side is n."""


@dataclass(frozen=True)
class Scenario:
    """Contents of a board: its side, its agents and its blocks by weight.

    Example:
        `Scenario(side=15, agents=3, blocks={1: 3, 2: 3, 3: 3})`

    Raises:
        PlacementError: A number is out of range.
    """

    side: int
    """Cells along each edge of the grid."""
    agents: int
    """Number of agents, at most `side`, because they start in column 0."""
    blocks: Mapping[int, int] = field(hash=False)
    """Number of blocks of each weight; a block of weight w covers w x w cells, `1 <= w <= side - 3`."""

    def __post_init__(self) -> None:
        heaviest = self.side - 3
        if index(self.side) < 4:
            raise PlacementError(f"a grid of side {self.side} has no room for a block: the smallest grid is 4 x 4")
        if not 1 <= index(self.agents) <= self.side:
            raise PlacementError(
                f"{self.agents} agents do not fit column 0 of a grid of side {self.side}: "
                f"choose 1 to {self.side} agents or a larger side"
            )
        for weight, count in self.blocks.items():
            if not 1 <= index(weight) <= heaviest:
                raise PlacementError(
                    f"a block of weight {weight} does not fit a grid of side {self.side}: "
                    f"weights are 1 to {heaviest} (one free cell to every wall and to the goal column)"
                )
            if index(count) < 1:
                raise PlacementError(f"{count} blocks of weight {weight}: a count is at least 1")
        if not self.blocks:
            raise PlacementError("a scenario needs at least one block: without one there is nothing to deliver")
        heaviest_first = {weight: self.blocks[weight] for weight in sorted(self.blocks, reverse=True)}
        object.__setattr__(self, "blocks", MappingProxyType(heaviest_first))

    @property
    def weights(self) -> tuple[int, ...]:
        """Weight of every block in id order, which is the placement order: heaviest first."""
        return tuple(weight for weight, count in self.blocks.items() for _ in range(count))

    def __reduce__(self) -> tuple[type[Scenario], tuple[int, int, dict[int, int]]]:
        return Scenario, (self.side, self.agents, dict(self.blocks))


def curriculum(n: int, weights: Weights = "halving") -> Scenario:
    """The scenario of the CUBE curriculum for one integer `n`.

    `n` agents on a grid of side `max(20, n)`. With `w0 = n // 2 + 1`, level `j = 0, 1, 2, ...` has `j + 1` blocks of
    one weight, as long as that weight is at least 1. Source: the CUBE page, curriculum. The page gives neither numbers
    nor the steps between the weights. Its results have 1, 3, 3 and 6 blocks at n = 1, 2, 4 and 8, and its text says
    that about half of the grid is covered; only the reading `halving` matches either.

    Args:
        n: number of agents.
        weights: `halving`: `w0 // 2**j`; `every`: `w0 - j`, the literal reading of the page. Its blocks do not fit the
            grid from n = 10 on.

    Raises:
        PlacementError: `n` is not an integer >= 1.
    """
    if not isinstance(n, SupportsIndex) or index(n) < 1:
        raise PlacementError(f"n = {n!r}: the curriculum begins at n = 1 (one agent, one block of weight 1)")
    blocks = {}
    weight, count = n // 2 + 1, 1
    while weight >= 1:
        blocks[weight] = count
        weight, count = weight // 2 if weights == "halving" else weight - 1, count + 1
    return Scenario(side=max(SMALLEST_SIDE, n), agents=n, blocks=blocks)


LevelName = Literal["easy", "medium", "hard"]

LEVELS: Mapping[str, Mapping[int, int]] = MappingProxyType(
    {
        "easy": {1: 6, 2: 2, 3: 1},
        "medium": {1: 3, 2: 3, 3: 3},
        "hard": {1: 1, 2: 2, 3: 6},
    }
)
"""Number of blocks by weight, for each level; `medium` is the board of COOP2's runs."""
