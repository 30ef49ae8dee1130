"""Where boards come from: the curriculum, named levels, random placement, and the library of boards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from operator import index
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, SupportsIndex

import numpy as np
import numpy.typing as npt

from cube_env.arrays import COL, ROW, WEIGHT, IntArray
from cube_env.jit import compiled_borrowing
from cube_env.layout import Layout
from maeil.environments.errors import LayoutError, PlacementError

Weights = Literal["halving", "every"]
"""The two readings of which weights the curriculum has."""

SMALLEST_SIDE = 20
"""Side of the curriculum's grid up to n = 20; above that the side is n."""


@dataclass(frozen=True)
class Scenario:
    """What a board holds: its side, its agents and its blocks by weight.

    Example:
        `Scenario(side=15, agents=3, blocks={1: 3, 2: 3, 3: 3})`

    Raises:
        PlacementError: A number is out of its range.
    """

    side: int
    """Cells along each edge of the grid."""
    agents: int
    """Number of agents, at most `side`: they start in column 0."""
    blocks: Mapping[int, int] = field(hash=False)
    """Number of blocks of each weight; a block of weight w covers w x w cells, `1 <= w <= side - 3`."""

    def __post_init__(self) -> None:
        heaviest = self.side - 3
        if index(self.side) < 4:
            raise PlacementError(f"side {self.side} holds no block: the smallest grid is 4 x 4")
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
        """Weight of every block in id order, which is the order of placement: heaviest first."""
        return tuple(weight for weight, count in self.blocks.items() for _ in range(count))

    def __reduce__(self) -> tuple[type[Scenario], tuple[int, int, dict[int, int]]]:
        return Scenario, (self.side, self.agents, dict(self.blocks))


def curriculum(n: int, weights: Weights = "halving") -> Scenario:
    """The scenario of the CUBE curriculum for one integer `n`.

    `n` agents on a grid of side `max(20, n)`. With `w0 = n // 2 + 1`, level `j = 0, 1, 2, ...` has `j + 1` blocks of
    one weight, while that weight is at least 1. Source: the CUBE page, curriculum, which gives neither numbers nor
    the steps between the weights. Its results have 1, 3, 3 and 6 blocks at n = 1, 2, 4 and 8, and its text has about
    half of the grid covered; of the two readings, `halving` alone comes to either.

    Args:
        n: agents.
        weights: `halving`: `w0 // 2**j`; `every`: `w0 - j`, the page's words taken literally. Its blocks do not fit
            the grid from n = 10 on.

    Raises:
        PlacementError: `n` is no integer from 1 on.
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
"""Number of blocks by weight, by the name of the level; `medium` is the board of COOP2's runs."""


MAX_DRAWS = 100
BORDER_DISTANCE: Final = 2
SMALLEST_CENTRAL_WEIGHT: Final = 3

ILLEGAL, CENTRAL, INNER, OUTER = range(4)
"""Classes of top-left cells: not legal, or legal with a score of -1, 0, 1."""

ScoreArray = npt.NDArray[np.int8]
Drawn = tuple[IntArray, IntArray]
"""Rows of the agents, shape (n,), and blocks as in `arrays.World`, shape (B, 4)."""


def place(scenario: Scenario, rng: np.random.Generator) -> Layout:
    """Draw a layout: heaviest block first, near the border of the grid, none touching another.

    A top-left cell is legal when both coordinates lie in `[1, side - w - 2]` and the one-cell ring around the
    block holds no other block. Its score is +1 when it lies at most 2 from the border of that region, and -1 when
    `w >= 3` and the block's centre lies within `max(1, side // 6)` of the grid's centre in both axes; the best
    score is taken, ties uniformly at random. Agents stand in column 0, in distinct random rows. The layout is a
    function of the scenario and the generator's state alone. Source: the CUBE page, placement.

    Raises:
        PlacementError: 100 draws left a block without a legal cell.
    """
    rows, blocks = draw_board(scenario, rng)
    return Layout(
        scenario.side,
        [(row, 0) for row in rows.tolist()],
        [(weight, (row, col)) for row, col, weight, _ in blocks.tolist()],
    )


def draw_board(scenario: Scenario, rng: np.random.Generator) -> Drawn:
    """The draw of `place` as arrays.

    Raises:
        PlacementError: As in `place`.
    """
    weights = scenario.weights
    blocks = np.zeros((len(weights), 4), dtype=np.int32)
    classes = np.empty((scenario.side, scenario.side), dtype=np.int8)
    for _ in range(MAX_DRAWS):
        if _draw_blocks(weights, blocks, classes, rng):
            return rng.permutation(scenario.side)[: scenario.agents].astype(np.int32), blocks
    wanted = ", ".join(f"{count} of weight {weight}" for weight, count in scenario.blocks.items())
    area = sum(weight * weight for weight in weights)
    raise PlacementError(
        f"no room for {wanted} ({area} of {scenario.side**2} cells, each block with a free ring of one cell) "
        f"in {MAX_DRAWS} draws on a grid of side {scenario.side}: choose fewer or lighter blocks or a larger side"
    )


def _draw_blocks(weights: tuple[int, ...], blocks: IntArray, classes: ScoreArray, rng: np.random.Generator) -> bool:
    """Write the blocks in id order; false when one finds no legal cell."""
    numbers = np.empty(4, dtype=np.int64)
    previous = 0
    for block, weight in enumerate(weights):
        if weight != previous:
            _classify(weight, classes, numbers, blocks[:block])
            previous = weight
        _, central, inner, outer = numbers.tolist()
        best, ties = (OUTER, outer) if outer else (INNER, inner) if inner else (CENTRAL, central)
        if not ties:
            return False
        row, col = _find(classes, best, int(rng.integers(ties)))
        blocks[block] = row, col, weight, 1
        _strike(weight, classes, numbers, row, col, weight)
    return True


@compiled_borrowing
def _classify(weight: int, classes: ScoreArray, numbers: npt.NDArray[np.int64], placed: IntArray) -> None:
    """Write the class of every cell as the top-left one of a block, and how many cells each class has."""
    side = classes.shape[0]
    last = side - weight - 2
    near = 2 * max(1, side // 6)
    classes[:] = ILLEGAL
    numbers[:] = 0
    for row in range(1, last + 1):
        for col in range(1, last + 1):
            to_border = min(row - 1, last - row, col - 1, last - col)
            score = 1 if to_border <= BORDER_DISTANCE else 0
            # Both centres are doubled: a centre lies on a cell or between two.
            central = abs(2 * row + weight - side) <= near and abs(2 * col + weight - side) <= near
            if weight >= SMALLEST_CENTRAL_WEIGHT and central:
                score -= 1
            classes[row, col] = score + INNER
            numbers[score + INNER] += 1
    for b in range(placed.shape[0]):
        _strike(weight, classes, numbers, placed[b, ROW], placed[b, COL], placed[b, WEIGHT])


@compiled_borrowing
def _strike(  # noqa: PLR0917 (kernels take loose arguments)
    weight: int, classes: ScoreArray, numbers: npt.NDArray[np.int64], row: int, col: int, other: int
) -> None:
    """Strike out the cells where a block of `weight` with its ring would meet a placed block of weight `other`."""
    for r in range(max(row - weight, 0), min(row + other + 1, classes.shape[0])):
        for c in range(max(col - weight, 0), min(col + other + 1, classes.shape[0])):
            if classes[r, c] != ILLEGAL:
                numbers[classes[r, c]] -= 1
                classes[r, c] = ILLEGAL


@compiled_borrowing
def _find(classes: ScoreArray, wanted: int, place_in_class: int) -> tuple[int, int]:
    """The cell with this place among those of a class, line by line."""
    side = classes.shape[0]
    for row in range(side):
        for col in range(side):
            if classes[row, col] == wanted:
                if place_in_class == 0:
                    return row, col
                place_in_class -= 1
    return -1, -1


BOARDS = Path(__file__).resolve().parent / "boards"


def board_names() -> tuple[str, ...]:
    """The names of the library's boards, sorted."""
    return tuple(sorted(file.stem for file in BOARDS.glob("*.txt")))


def load_board(name: str) -> Layout:
    """A board of the library.

    Raises:
        LayoutError: There is none of this name; the message names the nearest and all.
    """
    if name not in board_names():
        raise _unknown(name)
    return Layout.parse((BOARDS / f"{name}.txt").read_text(encoding="utf-8"))


def layout_from(source: str) -> Layout:
    """A layout from its drawing (several lines), the name of a board of the library, or the path of a file.

    Raises:
        LayoutError: It is none of these, or not a board; the message gives file, line and column.
    """
    if "\n" in source.strip():
        return Layout.parse(source)
    if source in board_names():
        return load_board(source)
    file = Path(source)
    if not file.suffix and not file.exists() and file.name == source:
        raise _unknown(source)
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise LayoutError(f"{source} cannot be read: {reason}{_names_hint(file.stem)}") from error
    try:
        return Layout.parse(text)
    except LayoutError as error:
        raise LayoutError(f"{source}: {error}") from error


def _unknown(name: str) -> LayoutError:
    hint = _names_hint(name) or "."
    return LayoutError(f"there is no file and no board {name!r}{hint} The boards are {', '.join(board_names())}.")


def _names_hint(name: str) -> str:
    near = get_close_matches(name, board_names(), n=1)
    return f": did you mean {near[0]!r}?" if near else ""
