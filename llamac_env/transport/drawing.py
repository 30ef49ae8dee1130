"""Draws the boards of grid transportation from a random stream, by the rules of BoxNet1 (Easy) and BoxNet2 (Hard)."""

from __future__ import annotations

import numpy as np

from llamac_env.transport.board import Board, Item
from llamac_env.transport.constants import Colour
from llamac_env.transport.grid import Grid

MOST_OF_A_COLOUR = 3
"""Boxes of a colour on an easy board, at most."""


def board_generator(seed: int) -> np.random.Generator:
    """The stream from which a seed's board is drawn."""
    return np.random.Generator(np.random.PCG64(seed))


def draw_board(grid: Grid, generator: np.random.Generator) -> Board:
    """Draw a board.

    Easy: of each colour 1 to 3 boxes and as many targets, each in a cell of its own drawing. Hard: of each colour a box
    on the first free corner, in random order, of a random cell, and a target in a random cell; when the four corners
    are taken, that colour is left out. Both are uniform.
    """
    boxes: list[Item] = []
    targets: list[Item] = []
    for colour in Colour:
        if not grid.is_hard:
            for _ in range(int(generator.integers(1, MOST_OF_A_COLOUR + 1))):
                box, target = generator.integers(grid.agents, size=2).tolist()
                boxes.append(Item(colour, grid.cells[box]))
                targets.append(Item(colour, grid.cells[target]))
            continue
        corners = grid.reach[int(generator.integers(grid.agents))]
        taken = {box.place for box in boxes}
        free = [corners[i] for i in generator.permutation(len(corners)).tolist() if corners[i] not in taken]
        target = int(generator.integers(grid.agents))
        if free:
            boxes.append(Item(colour, free[0]))
            targets.append(Item(colour, grid.cells[target]))
    return Board(grid, tuple(boxes), tuple(targets))
