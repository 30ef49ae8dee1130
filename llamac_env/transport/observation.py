"""What an agent is shown of grid transportation: the typed symbolic observation and its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llamac_env.transport.board import Board
from llamac_env.transport.constants import Difficulty, EntryRule
from llamac_env.transport.grid import Grid, Place
from llamac_env.transport.text import read_board, write_agent, write_board, write_destination, write_move, write_place


@dataclass(frozen=True, slots=True)
class Choice:
    """A move that the agent can make now, in the words of the symbolic action `move`."""

    box: str
    to: str


@dataclass(frozen=True, slots=True)
class TransportObservation:
    """What one agent is told of the world.

    The paper's actors know their own cell alone: those who want that read `square`, `sees` and `can_do`, and leave
    `board` out.
    """

    difficulty: str
    entry_rule: str
    rows: int
    cols: int
    step: int
    max_steps: int
    agent: str
    """Name of the observing agent, `agent_3`; empty for one who sees the board from outside."""
    square: str
    """Its cell, `square[0.5, 1.5]`; empty from outside."""
    sees: Mapping[str, tuple[str, ...]]
    """What is in its cell and, on hard boards, on its four corners, by place; empty places are left out."""
    can_do: tuple[Choice, ...]
    """The moves that it can make now."""
    board: Mapping[str, tuple[str, ...]]
    """All that is there, in the paper's format: `"0.5_1.5"` (a cell), `"1.0_0.0"` (a corner) to boxes and targets."""
    boxes_left: int
    boxes_placed: int
    collided: bool
    """Whether the episode has failed: two boxes are on one corner."""

    def to_board(self) -> Board:
        """The state that it shows, with all that can be asked of it: who can do what, and what comes of it."""
        grid = Grid(self.rows, self.cols, Difficulty(self.difficulty), EntryRule(self.entry_rule))
        return read_board(grid, self.board)

    def text(self) -> str:
        """The observation as readable lines."""
        what = "boxes in cells" if self.difficulty == "easy" else "boxes on corners"
        lines = [
            f"Step {self.step} of {self.max_steps}. Grid of {self.rows} x {self.cols} cells, {what}; "
            f"{self.boxes_placed} boxes placed, {self.boxes_left} left."
        ]
        if self.agent:
            seen = "; ".join(f"{place} {', '.join(items)}" for place, items in self.sees.items()) or "nothing"
            moves = ", ".join(f"move({choice.box}, {choice.to})" for choice in self.can_do) or "nothing"
            lines += [f"You are {self.agent} in {self.square}.", f"You see: {seen}.", f"You can do: {moves}."]
        else:
            lines.append("You have no body.")
        lines.append("Board: " + "; ".join(f"{key} {', '.join(items)}" for key, items in self.board.items() if items))
        return "\n".join(lines)


class Frame:
    """A state between two steps, as everybody is told of it; what they share is written once.

    Args:
        board: the state.
        step: steps taken.
        max_steps: the limit.
        boxes: boxes at the start of the episode.
    """

    def __init__(self, board: Board, step: int, max_steps: int, boxes: int) -> None:
        self.board, self.step, self.max_steps, self.boxes = board, step, max_steps, boxes
        self._items = _items(board)
        self._written = {key: tuple(items) for key, items in write_board(board).items()}
        self._collided = bool(board.collisions())

    def observe(self, agent: int | None) -> TransportObservation:
        """Show the board to an agent, or to one who sees it from outside: None."""
        board, grid = self.board, self.board.grid
        name, square, sees, can_do = "", "", {}, []
        if agent is not None:
            name, square = f"agent_{agent}", write_place(grid.cells[agent])
            sees = _seen(grid, agent, self._items)
            can_do = [
                Choice(f"box_{move.colour}", write_destination(grid, agent, move)) for move in board.available(agent)
            ]
        return TransportObservation(
            difficulty=str(grid.difficulty),
            entry_rule=str(grid.entry_rule),
            rows=grid.rows,
            cols=grid.cols,
            step=self.step,
            max_steps=self.max_steps,
            agent=name,
            square=square,
            sees=sees,
            can_do=tuple(can_do),
            board=self._written,
            boxes_left=len(board.boxes),
            boxes_placed=self.boxes - len(board.boxes),
            collided=self._collided,
        )


def observation_line(board: Board, agent: int) -> str:
    """The paper's observation of an agent on one line: its cell, what it sees there, and what it can do."""
    grid = board.grid
    seen = [item for items in _seen(grid, agent, _items(board)).values() for item in items]
    moves = [write_move(grid, agent, move) for move in board.available(agent)]
    return f"{write_agent(grid, agent)}: in {write_place(grid.cells[agent])}; observes {seen}; can do {moves}"


def _items(board: Board) -> dict[Place, tuple[str, ...]]:
    """What is at each place that is not empty: boxes, then targets."""
    found: dict[Place, list[str]] = {}
    for kind, items in (("box", board.boxes), ("target", board.targets)):
        for colour, place in items:
            found.setdefault(place, []).append(f"{kind}_{colour}")
    return {place: tuple(items) for place, items in found.items()}


def _seen(grid: Grid, agent: int, items: Mapping[Place, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What is in an agent's cell and reach, by place; empty places are left out."""
    places = dict.fromkeys((grid.cells[agent], *grid.reach[agent]))
    return {write_place(place): items[place] for place in places if place in items}
