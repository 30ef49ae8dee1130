"""From a scenario and a random generator to a layout."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cube_env.curriculum import Scenario
from cube_env.errors import PlacementError
from cube_env.layout import Layout, PlacedBlock

MAX_DRAWS = 100
BORDER_DISTANCE = 2
SMALLEST_CENTRAL_WEIGHT = 3


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
    for _ in range(MAX_DRAWS):
        blocks = _draw_blocks(scenario, rng)
        if len(blocks) == len(scenario.weights):
            rows = rng.permutation(scenario.side)[: scenario.agents]
            return Layout(scenario.side, [(row, 0) for row in rows.tolist()], blocks)
    wanted = ", ".join(f"{count} of weight {weight}" for weight, count in scenario.blocks.items())
    area = sum(weight * weight for weight in scenario.weights)
    raise PlacementError(
        f"no room for {wanted} ({area} of {scenario.side**2} cells, each block with a free ring of one cell) "
        f"in {MAX_DRAWS} draws on a grid of side {scenario.side}: choose fewer or lighter blocks or a larger side"
    )


def _draw_blocks(scenario: Scenario, rng: np.random.Generator) -> list[PlacedBlock]:
    """Blocks in id order, up to the first that finds no legal cell."""
    placed: list[PlacedBlock] = []
    for weight, count in scenario.blocks.items():
        score = _scores(scenario.side, weight)
        legal = np.ones(score.shape, dtype=np.bool_)
        for block in placed:
            _forbid(legal, weight, block)
        for _ in range(count):
            candidates = _best(score, legal)
            if candidates.size == 0:
                return placed
            row, col = divmod(int(candidates[rng.integers(candidates.size)]), score.shape[1])
            block = weight, (row + 1, col + 1)
            placed.append(block)
            _forbid(legal, weight, block)
    return placed


def _scores(side: int, weight: int) -> npt.NDArray[np.int8]:
    """Score of each legal top-left cell, shape `(side - w - 2,) * 2`; entry `[0, 0]` is cell `(1, 1)`."""
    position = np.arange(1, side - weight - 1)
    to_border = np.minimum(position - 1, position[-1] - position)
    near_border = to_border <= BORDER_DISTANCE
    score: npt.NDArray[np.int8] = (near_border[:, None] | near_border[None, :]).astype(np.int8)
    if weight >= SMALLEST_CENTRAL_WEIGHT:
        # Both centres are doubled: a centre lies on a cell or between two.
        central = np.abs(2 * position + weight - side) <= 2 * max(1, side // 6)
        score -= central[:, None] & central[None, :]
    return score


def _forbid(legal: npt.NDArray[np.bool_], weight: int, placed: PlacedBlock) -> None:
    """Strike out, in place, the cells where a block of `weight` with its ring would meet the placed block."""
    other, (row, col) = placed
    first_row, first_col = max(row - weight - 1, 0), max(col - weight - 1, 0)
    legal[first_row : row + other, first_col : col + other] = False


def _best(score: npt.NDArray[np.int8], legal: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
    """Flat indices of the legal cells that share the best score."""
    for value in (1, 0, -1):
        candidates = np.flatnonzero((score == value) & legal)
        if candidates.size:
            return candidates
    return np.empty(0, dtype=np.intp)
