"""Sources of boards: random placement and the library of boards."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from cube_env.arrays import COL, ROW, WEIGHT, IntArray
from cube_env.jit import compiled_borrowing
from cube_env.layout import Layout
from cube_env.scenario import Scenario
from quorum_base.environments.errors import LayoutError, PlacementError

MAX_DRAWS = 100
BORDER_DISTANCE: Final = 2
SMALLEST_CENTRAL_WEIGHT: Final = 3

ILLEGAL, CENTRAL, INNER, OUTER = range(4)
"""Classes of top-left cells: illegal, or legal with a score of -1, 0 or 1."""

ScoreArray = npt.NDArray[np.int8]
Drawn = tuple[IntArray, IntArray]
"""Rows of the agents, shape (n,), and blocks as in `arrays.World`, shape (B, 4)."""


def place(scenario: Scenario, rng: np.random.Generator) -> Layout:
    """Draw a layout: heaviest blocks first, near the border of the grid, no two touching.

    A top-left cell is legal if both coordinates lie in `[1, side - w - 2]` and the one-cell ring around the block holds
    no other block. Its score is +1 if it lies at most 2 from the border of that region, and -1 if `w >= 3` and the
    block's centre lies within `max(1, side // 6)` of the grid's centre in both axes. The best score wins; ties are
    broken uniformly at random. Agents stand in column 0, in distinct random rows. The layout depends only on the
    scenario and the generator's state. Source: the CUBE page, placement.

    Raises:
        PlacementError: After 100 draws, a block still has no legal cell.
    """
    rows, blocks = draw_board(scenario, rng)
    return Layout(
        scenario.side,
        [(row, 0) for row in rows.tolist()],
        [(weight, (row, col)) for row, col, weight, _ in blocks.tolist()],
    )


def draw_board(scenario: Scenario, rng: np.random.Generator) -> Drawn:
    """Draw a layout as `place` does, as arrays.

    Raises:
        PlacementError: See `place`.
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
    """Write the blocks in id order; return false if a block has no legal cell."""
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
    """Classify every cell as top-left cell of a block, and count the cells of each class."""
    side = classes.shape[0]
    last = side - weight - 2
    near = 2 * max(1, side // 6)
    classes[:] = ILLEGAL
    numbers[:] = 0
    for row in range(1, last + 1):
        for col in range(1, last + 1):
            to_border = min(row - 1, last - row, col - 1, last - col)
            score = 1 if to_border <= BORDER_DISTANCE else 0
            # Both centres are doubled, because a centre lies on a cell or between two.
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
    """Exclude the cells where a block of `weight` with its ring would overlap a placed block of weight `other`."""
    for r in range(max(row - weight, 0), min(row + other + 1, classes.shape[0])):
        for c in range(max(col - weight, 0), min(col + other + 1, classes.shape[0])):
            if classes[r, c] != ILLEGAL:
                numbers[classes[r, c]] -= 1
                classes[r, c] = ILLEGAL


@compiled_borrowing
def _find(classes: ScoreArray, wanted: int, place_in_class: int) -> tuple[int, int]:
    """Return the cell with this index among those of a class, in row-major order."""
    side = classes.shape[0]
    for row in range(side):
        for col in range(side):
            if classes[row, col] == wanted:
                if place_in_class == 0:
                    return row, col
                place_in_class -= 1
    return -1, -1


_LONGEST = 10_000_000
"""Maximum number of characters read from a file."""
BOARDS = Path(__file__).resolve().parent / "boards"


def board_names() -> tuple[str, ...]:
    """The names of the library's boards, sorted."""
    return tuple(sorted(file.stem for file in BOARDS.glob("*.txt")))


def load_board(name: str) -> Layout:
    """Load a board from the library.

    Raises:
        LayoutError: Unknown name; the message suggests the closest name and lists all.
    """
    if name not in board_names():
        raise _unknown(name)
    return Layout.parse((BOARDS / f"{name}.txt").read_text(encoding="utf-8"))


def layout_from(source: str) -> Layout:
    """Load a layout from its drawing (several lines), the name of a library board, or the path of a file.

    Raises:
        LayoutError: The source is none of these, or not a board; the message gives file, line and column.
    """
    if "\n" in source.strip():
        return Layout.parse(source)
    if source in board_names():
        return load_board(source)
    file = Path(source)
    if not file.suffix and not file.exists() and file.name == source:
        raise _unknown(source)
    try:
        with file.open(encoding="utf-8") as opened:
            text = opened.read(_LONGEST)
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
