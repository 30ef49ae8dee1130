"""Observations of grid transportation: the typed symbolic observation, its text, and the content of prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from llamac_env.transport.board import Board
from llamac_env.transport.grid import Difficulty, EntryRule, Grid, Place
from llamac_env.transport.text import (
    contents,
    read_agent,
    read_board,
    read_place,
    write_agent,
    write_board,
    write_destination,
    write_place,
)
from quorum_base.environments.errors import WorldError

Sight = Literal["local", "board"]
"""What an agent sees: its own cell and its moves, like the paper's actors, or also the whole board."""
SIGHTS: tuple[Sight, ...] = ("local", "board")


@dataclass(frozen=True, slots=True)
class Choice:
    """A move that the agent can make now, as arguments of the symbolic action `move`."""

    box: str
    to: str


@dataclass(frozen=True, slots=True)
class TransportObservation:
    """One agent's observation of the world.

    With `local` sight, the agent learns nothing beyond its own cell: `board` and the numbers of boxes are None.
    """

    difficulty: str
    entry_rule: str
    rows: int
    cols: int
    step: int
    max_steps: int
    agent: str
    """Name of the observing agent, `agent_3`; empty for an outside observer."""
    square: str
    """Its cell, `square[0.5, 1.5]`; empty for an outside observer."""
    sees: Mapping[str, tuple[str, ...]]
    """Contents of its cell and, on hard boards, of its four corners, by place; empty places are left out."""
    can_do: tuple[Choice, ...]
    """The moves it can make now."""
    board: Mapping[str, tuple[str, ...]] | None = None
    """The board in the paper's format: `"0.5_1.5"` (a cell), `"1.0_0.0"` (a corner) to boxes and targets."""
    boxes_left: int | None = None
    boxes_placed: int | None = None
    collided: bool = False
    """Whether the episode has failed because two boxes are on one corner; False if the board is not visible."""

    @property
    def grid(self) -> Grid:
        """The cells."""
        return Grid(self.rows, self.cols, Difficulty(self.difficulty), EntryRule(self.entry_rule))

    def to_board(self) -> Board:
        """Return the board of the observation, a `Board` with all its queries.

        Raises:
            WorldError: the observation has no board.
        """
        if self.board is None:
            raise WorldError(f"{self.agent} sees only its own cell, not the board: use the observation from outside")
        return read_board(self.grid, self.board)

    def shown(self) -> dict[str, Any]:
        """Return the content of the prompt, each fact once; see `maeil.mind.Observation`. `read_shown` reads it.

        Empty places are left out. The board, if there is one, includes what the agent sees in its cell. A board is hard
        if it has an `entry_rule`.
        """
        shown: dict[str, Any] = {"grid": [self.rows, self.cols], "max_steps": self.max_steps, "step": self.step}
        shown |= {"entry_rule": self.entry_rule} if self.difficulty == Difficulty.hard else {}
        if self.agent:
            shown |= {"square": self.square, "can_do": moves_by_box(self.can_do)}
        if self.board is not None:
            return shown | {"board": {place: items for place, items in self.board.items() if items}}
        corners = {place: items for place, items in self.sees.items() if place != self.square}
        return shown | {"sees": self.sees.get(self.square, ())} | ({"corners": corners} if corners else {})

    def text(self) -> str:
        """The content of the prompt as JSON."""
        return json.dumps(self.shown())


def moves_by_box(choices: Iterable[Choice]) -> dict[str, list[str]]:
    """Group moves as in a prompt: each box with its possible destinations."""
    found: dict[str, list[str]] = {}
    for choice in choices:
        found.setdefault(choice.box, []).append(choice.to)
    return found


def read_shown(shown: Mapping[str, Any]) -> TransportObservation:
    """Read the content of a prompt into an observation, without empty places of the board and placed boxes.

    Raises:
        ValueError: the content is not in the format of a prompt.
    """
    try:
        difficulty = Difficulty.hard if "entry_rule" in shown else Difficulty.easy
        rule = EntryRule(shown.get("entry_rule", EntryRule.final_state))
        rows, cols = shown["grid"]
        grid = Grid(rows, cols, difficulty, rule)
        square, board = shown.get("square", ""), shown.get("board")
        place = read_place(square)
        sees = {square: tuple(shown["sees"])} if shown.get("sees") else {}
        sees |= {where: tuple(items) for where, items in shown.get("corners", {}).items()}
        if board is not None:
            board = {where: tuple(items) for where, items in board.items()}
            sees = _seen(grid, grid.agent_of[place], contents(read_board(grid, board))) if place is not None else {}
        moves = shown["can_do"].items() if place is not None else ()
        return TransportObservation(
            difficulty=str(difficulty),
            entry_rule=str(rule),
            rows=grid.rows,
            cols=grid.cols,
            step=shown["step"],
            max_steps=shown["max_steps"],
            agent=f"agent_{grid.agent_of[place]}" if place is not None else "",
            square=square,
            sees=sees,
            can_do=tuple(Choice(box, to) for box, places in moves for to in places),
            board=board,
            boxes_left=len(read_board(grid, board).boxes) if board is not None else None,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"this is not an observation of grid transportation: {error!r}") from error


class Frame:
    """A state between two steps, from which all observations are built; shared parts are written once.

    Args:
        board: the state.
        step: steps taken.
        max_steps: the limit.
        boxes: boxes at the start of the episode.
        sight: what agents see.
    """

    def __init__(self, board: Board, step: int, max_steps: int, boxes: int, sight: Sight) -> None:
        self.board, self.step, self.max_steps, self.boxes = board, step, max_steps, boxes
        self._items = contents(board)
        self._written = {key: tuple(items) for key, items in write_board(board).items()}
        self._collided = bool(board.collisions())
        self._sight = sight

    def observe(self, agent: int | None) -> TransportObservation:
        """Return the observation of an agent, or of an outside observer: None."""
        board, grid = self.board, self.board.grid
        name, square, sees, can_do = "", "", {}, []
        if agent is not None:
            name, square = f"agent_{agent}", write_place(grid.cells[agent])
            sees = _seen(grid, agent, self._items)
            can_do = [
                Choice(f"box_{move.colour}", write_destination(grid, agent, move)) for move in board.available(agent)
            ]
        whole = agent is None or self._sight == "board"
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
            board=self._written if whole else None,
            boxes_left=len(board.boxes) if whole else None,
            boxes_placed=self.boxes - len(board.boxes) if whole else None,
            collided=self._collided and whole,
        )


def observation_line(board: Board, agent: int) -> str:
    """Return the paper's observation of an agent on one line: its cell, its contents, and its possible moves."""
    return local_line(Frame(board, 0, 0, len(board.boxes), "local").observe(agent))


def observation_lines(board: Board) -> list[str]:
    """Return the lines of all agents."""
    frame = Frame(board, 0, 0, len(board.boxes), "local")
    return [local_line(frame.observe(agent)) for agent in range(board.grid.agents)]


def local_line(observation: TransportObservation) -> str:
    """Return the paper's observation of an agent on one line; `read_line` reads it.

    The wording is the authors': `Agent[0.5, 0.5]: I am in square[0.5, 0.5], I can observe ['target_red'], I can do
    ['move(box_blue, position(1.0, 1.0))']`. An agent observes what is in its cell, and corners have round brackets.
    """
    agent = observation.agent.removeprefix("agent_")
    seen = list(observation.sees.get(observation.square, ()))
    can_do = ((choice.box, _SQUARE.sub(r"position(\1)", choice.to)) for choice in observation.can_do)
    moves = [f"move({box}, {to})" for box, to in can_do]
    name = write_agent(observation.grid, int(agent))
    return f"{name}: I am in {observation.square}, I can observe {seen}, I can do {moves}"


_LINE = re.compile(r"(Agent.*?\]): I am in (square.*?\]), I can observe \[(.*?)\], I can do \[(.*)\]")
_SEEN = re.compile(r"'(\w+)'")
_CAN_DO = re.compile(r"'move\((\w+), ([^']*)\)'")
_SQUARE, _ROUND = re.compile(r"position\[(.*)\]"), re.compile(r"position\((.*)\)")


def read_line(grid: Grid, line: str) -> dict[str, Any]:
    """Read an observation's line into prompt keys: `agent`, `square`, `sees` (all in its cell), `can_do`.

    Raises:
        ValueError: the text is not such a line.
    """
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"{line!r} is not an observation")
    name, square, seen, moves = found.groups()
    can_do = (Choice(box, _ROUND.sub(r"position[\1]", to)) for box, to in _CAN_DO.findall(moves))
    return {
        "agent": f"agent_{read_agent(grid, name)}",
        "square": square,
        "sees": {square: _SEEN.findall(seen)} if seen else {},
        "can_do": moves_by_box(can_do),
    }


def _seen(grid: Grid, agent: int, items: Mapping[Place, list[str]]) -> dict[str, tuple[str, ...]]:
    """Return the contents of an agent's cell and reach, by place; empty places are left out."""
    places = dict.fromkeys((grid.cells[agent], *grid.reach[agent]))
    return {write_place(place): tuple(items[place]) for place in places if place in items}
