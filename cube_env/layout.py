"""An explicit board, as data and as ASCII."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from string import ascii_lowercase, ascii_uppercase, digits

import numpy as np

from cube_env.constants import Cell
from quorum_base.environments.errors import LayoutError

AGENT_CHARACTERS = digits + ascii_lowercase
BLOCK_CHARACTERS = ascii_uppercase
EMPTY, GOAL = ".", "|"
UNNAMED_AGENT, UNNAMED_BLOCK = "@", "#"
COMMENT = "# "

_SMALLEST_SIDE = 2

PlacedBlock = tuple[int, Cell]
"""A block of a layout: its weight and its top-left cell."""


@dataclass(frozen=True)
class Layout:
    """A board as data: blocks in id order, agents by index. The constructor rejects impossible boards.

    Everything is inside the grid, no two entities share a cell, and no block starts in the goal column (a block that
    reaches it is delivered and removed).

    `str(layout)` draws the board and `Layout.parse` reads the drawing back: `.` empty, `|` empty goal cell; a block is
    filled with the letter of its id (`A`, `B`, ...), an agent is the digit of its index (`0`-`9`, then `a`-`z`). A
    drawing can name 36 agents and 26 blocks; build larger layouts from numbers. Comment lines, which start with `# `,
    may precede it.

    Example:
        `Layout(side=6, agents=[(2, 0)], blocks=[(2, (2, 1))])`

    Raises:
        LayoutError: The board is impossible; the message names the entity.
    """

    side: int
    """Cells along each edge of the grid."""
    agents: tuple[Cell, ...]
    """Cell of each agent, by index."""
    blocks: tuple[PlacedBlock, ...] = ()
    """Weight and top-left cell of each block, by id."""

    def __init__(self, side: int, agents: Iterable[Sequence[int]], blocks: Iterable[PlacedBlock] = ()) -> None:
        object.__setattr__(self, "side", index(side))
        object.__setattr__(self, "agents", tuple(_cell(cell) for cell in agents))
        object.__setattr__(self, "blocks", tuple((index(weight), _cell(cell)) for weight, cell in blocks))
        if self.side < _SMALLEST_SIDE:
            raise LayoutError(f"side {side}: a board has at least 2 x 2 cells, one column of them the goal")
        if not self.agents:
            raise LayoutError("a layout needs at least one agent")
        check_board(self.side, self.agents, [(b, weight, cell) for b, (weight, cell) in enumerate(self.blocks)])

    def __str__(self) -> str:
        if len(self.agents) > len(AGENT_CHARACTERS) or len(self.blocks) > len(BLOCK_CHARACTERS):
            raise LayoutError(
                f"{len(self.agents)} agents and {len(self.blocks)} blocks cannot be drawn: ASCII has names for "
                f"{len(AGENT_CHARACTERS)} agents and {len(BLOCK_CHARACTERS)} blocks; read .agents and .blocks instead"
            )
        return draw(self.side, self.agents, [(b, w, cell) for b, (w, cell) in enumerate(self.blocks)])

    @classmethod
    def parse(cls, text: str) -> Layout:
        """Read a drawn board; comment lines above it, blank lines around it and indentation are ignored.

        Raises:
            LayoutError: The text is not a square board; the message gives line and column, counted from 1.
        """
        drawing = _Drawing.of(text)
        cells = _cells_by_character(drawing)
        agents = _contiguous(cells, AGENT_CHARACTERS, "agent", drawing)
        blocks = _contiguous(cells, BLOCK_CHARACTERS, "block", drawing)
        for i, found in enumerate(agents):
            if len(found) > 1:
                raise LayoutError(
                    f"{drawing.place(found[1])}: agent {i} stands on {len(found)} cells, {found[0]} and {found[1]}: "
                    "an agent occupies one cell"
                )
        squares = [_square(b, found, drawing) for b, found in enumerate(blocks)]
        return cls(len(drawing.lines), [found[0] for found in agents], squares)


def draw(side: int, agents: Iterable[Cell], blocks: Iterable[tuple[int, int, Cell]]) -> str:
    """Draw a board, `side` lines of `side` characters.

    Args:
        side: Cells along each edge.
        agents: Cell of each agent, by index.
        blocks: Id, weight and top-left cell of each block on the board.

    Returns:
        The board in the characters of `Layout`. Agents and blocks without a character of their own are drawn as `@` and
        `#`, which `Layout.parse` does not read.
    """
    rows = [[EMPTY] * (side - 1) + [GOAL] for _ in range(side)]
    for block, weight, (top, left) in blocks:
        character = BLOCK_CHARACTERS[block] if block < len(BLOCK_CHARACTERS) else UNNAMED_BLOCK
        for row in rows[top : top + weight]:
            row[left : left + weight] = character * weight
    for i, (row_index, col) in enumerate(agents):
        rows[row_index][col] = AGENT_CHARACTERS[i] if i < len(AGENT_CHARACTERS) else UNNAMED_AGENT
    return "\n".join("".join(row) for row in rows)


def block_name(block: int) -> str:
    """Name of a block in messages: its id and its letter, if it has one."""
    letter = f" ({BLOCK_CHARACTERS[block]})" if block < len(BLOCK_CHARACTERS) else ""
    return f"block {block}{letter}"


def _cell(cell: Sequence[int]) -> Cell:
    row, col = cell
    return index(row), index(col)


def check_board(side: int, agents: Iterable[Cell], blocks: Iterable[tuple[int, int, Cell]]) -> None:
    """Raise an error if the entities cannot share a board.

    Args:
        side: Cells along each edge.
        agents: Cell of each agent, by index.
        blocks: Id, weight and top-left cell of each block on the board.

    Raises:
        LayoutError: An entity is outside the grid or in the goal column, or two share a cell; the message names them.
    """
    owner = np.full((side, side), -1, dtype=np.int32)
    for b, weight, (row, col) in blocks:
        name = f"{block_name(b)} of weight {weight} at ({row}, {col})"
        if weight < 1:
            raise LayoutError(f"{name}: a weight is at least 1")
        if min(row, col) < 0 or max(row, col) + weight > side:
            raise LayoutError(
                f"{name} leaves the grid of side {side}: "
                f"its top-left cell may be (0, 0) to ({side - weight}, {side - weight - 1})"
            )
        if col + weight == side:
            raise LayoutError(
                f"{name} lies in the goal column {side - 1}: "
                "blocks there are already delivered; move it to the left or leave it out"
            )
        covered = owner[row : row + weight, col : col + weight]
        if covered.max() >= 0:
            other = int(covered.max())
            r, c = np.argwhere(covered == other)[0].tolist()
            raise LayoutError(f"{name} overlaps {block_name(other)} on cell ({row + r}, {col + c})")
        covered[...] = b
    standing: dict[Cell, int] = {}
    for i, (row, col) in enumerate(agents):
        if not (0 <= row < side and 0 <= col < side):
            raise LayoutError(f"agent {i} at ({row}, {col}) is outside the grid of side {side}")
        if owner[row, col] >= 0:
            raise LayoutError(
                f"agent {i} at ({row}, {col}) stands on {block_name(int(owner[row, col]))}: choose a free cell"
            )
        if (row, col) in standing:
            raise LayoutError(f"agent {i} at ({row}, {col}) stands on agent {standing[row, col]}: choose a free cell")
        standing[row, col] = i


@dataclass(frozen=True, slots=True)
class _Drawing:
    """The lines of a drawn board and their position in the text."""

    lines: tuple[str, ...]
    first_line: int
    """Line number of the first line in the text, from 1."""
    indents: tuple[int, ...]
    """Leading blanks of each line."""

    @classmethod
    def of(cls, text: str) -> _Drawing:
        lines = text.rstrip().splitlines()
        above = 0
        while above < len(lines) and (not lines[above].strip() or _is_comment(lines[above])):
            above += 1
        drawn = lines[above:]
        indents = tuple(len(line) - len(line.lstrip()) for line in drawn)
        return cls(tuple(line.strip() for line in drawn), above + 1, indents)

    def place(self, cell: Cell) -> str:
        """Line and column of a cell in the text."""
        row, col = cell
        return f"line {self.first_line + row}, column {self.indents[row] + col + 1}"


def _is_comment(line: str) -> bool:
    """Whether a line is a comment; board lines contain no blanks."""
    return line.strip() == COMMENT.strip() or line.lstrip().startswith(COMMENT)


def _cells_by_character(drawing: _Drawing) -> dict[str, list[Cell]]:
    side = len(drawing.lines)
    if side == 0:
        raise LayoutError("an empty text is not a board")
    cells: dict[str, list[Cell]] = {}
    for row, line in enumerate(drawing.lines):
        if len(line) != side:
            raise LayoutError(
                f"line {drawing.first_line + row} has {len(line)} characters, but the board has {side} lines: "
                "a board is a square"
            )
        for col, character in enumerate(line):
            place = f"{drawing.place((row, col))}: {character!r}"
            if character == (EMPTY if col == side - 1 else GOAL):
                meant = GOAL if col == side - 1 else EMPTY
                raise LayoutError(f"{place}: an empty cell of this column is {meant!r}; the last column is the goal")
            if character not in EMPTY + GOAL + AGENT_CHARACTERS + BLOCK_CHARACTERS:
                raise LayoutError(f"{place} is not one of '.', '|', agents 0-9 and a-z, blocks A-Z")
            cells.setdefault(character, []).append((row, col))
    return cells


def _contiguous(cells: dict[str, list[Cell]], characters: str, kind: str, drawing: _Drawing) -> list[list[Cell]]:
    present = [i for i, character in enumerate(characters) if character in cells]
    for expected, found in enumerate(present):
        if expected != found:
            raise LayoutError(
                f"{drawing.place(cells[characters[found]][0])}: {kind} {characters[found]} is drawn, but "
                f"{kind} {characters[expected]} is not: number {kind}s without gaps from {characters[0]}"
            )
    return [cells[characters[i]] for i in present]


def _square(block: int, cells: list[Cell], drawing: _Drawing) -> PlacedBlock:
    top, left = cells[0]
    weight = 1
    while (top, left + weight) in cells:
        weight += 1
    square = [(r, c) for r in range(top, top + weight) for c in range(left, left + weight)]
    if cells != square:
        odd = sorted(set(cells) ^ set(square))[0]
        raise LayoutError(
            f"{drawing.place((top, left))}: "
            f"{block_name(block)} covers {len(cells)} cells from ({top}, {left}) that are not one square: "
            f"its top line is {weight} wide, and cell {odd} is {'extra' if odd in cells else 'missing'}"
        )
    return weight, (top, left)
