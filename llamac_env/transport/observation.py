"""What an agent is shown of grid transportation: the typed symbolic observation and its text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llamac_env.transport.board import Board
from llamac_env.transport.constants import Difficulty, EntryRule
from llamac_env.transport.grid import Grid
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


def observe(board: Board, agent: int | None, step: int, max_steps: int, boxes: int) -> TransportObservation:
    """Show a board to an agent, or to one who sees it from outside.

    Args:
        board: the state.
        agent: its index; None from outside.
        step: steps taken.
        max_steps: the limit.
        boxes: boxes at the start of the episode.
    """
    grid = board.grid
    return TransportObservation(
        difficulty=str(grid.difficulty),
        entry_rule=str(grid.entry_rule),
        rows=grid.rows,
        cols=grid.cols,
        step=step,
        max_steps=max_steps,
        agent=f"agent_{agent}" if agent is not None else "",
        square=write_place(grid.cells[agent]) if agent is not None else "",
        sees=_seen(board, agent) if agent is not None else {},
        can_do=tuple(
            Choice(f"box_{move.colour}", write_destination(grid, agent, move)) for move in board.available(agent)
        )
        if agent is not None
        else (),
        board={key: tuple(items) for key, items in write_board(board).items()},
        boxes_left=len(board.boxes),
        boxes_placed=boxes - len(board.boxes),
        collided=bool(board.collisions()),
    )


def observation_line(board: Board, agent: int) -> str:
    """The paper's observation of an agent on one line: its cell, what it sees there, and what it can do."""
    grid = board.grid
    seen = [item for items in _seen(board, agent).values() for item in items]
    moves = [write_move(grid, agent, move) for move in board.available(agent)]
    return f"{write_agent(grid, agent)}: in {write_place(grid.cells[agent])}; observes {seen}; can do {moves}"


def _seen(board: Board, agent: int) -> dict[str, tuple[str, ...]]:
    grid = board.grid
    found = {}
    for place in dict.fromkeys((grid.cells[agent], *grid.reach[agent])):
        items = [f"box_{box.colour}" for box in board.boxes if box.place == place]
        items += [f"target_{target.colour}" for target in board.targets if target.place == place]
        if items:
            found[write_place(place)] = tuple(items)
    return found
