"""Boards, actions and joint actions as text in the paper's format (Figure B.1), and boards as characters.

A board is a JSON object from `"0.5_1.5"` (a cell) and `"1.0_0.0"` (a corner) to the list of contents. A joint action is
one too: `{"Agent[0.5, 0.5]": "move(box_green, target_green)"}`. A destination is `target_green`, on easy boards
`square[0.5, 1.5]`, on hard ones `position[1.0, 1.0]`. Agents that do nothing are left out. Round brackets are read like
square ones.

Changes to a board from outside, in the middle of an episode, use this format, too:
`{"items": {"0.5_0.5": ["box_blue"], "0.5_1.5": []}}` sets the contents of some places, as in the initial board of a
trace; the other places stay. To move a box from one place to another, name both.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llamac_env.transport.board import MOST_OF_A_COLOUR, Board, BoxMove, Item
from llamac_env.transport.grid import Colour, FailureCode, Grid, Place
from quorum_base.environments.errors import LayoutError

_COLOURS = frozenset(map(str, Colour))
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_BRACKETS = rf"(?:\[\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\]|\(\s*{_NUMBER}\s*,\s*{_NUMBER}\s*\))"
_AGENT = re.compile(rf"\s*agent\s*{_BRACKETS}\s*", re.IGNORECASE)
_MOVE = re.compile(r"\s*move\s*\(\s*box_(\w+)\s*,\s*(.*?)\s*\)\s*", re.IGNORECASE | re.DOTALL)
_TARGET = re.compile(r"target_(\w+)", re.IGNORECASE)
_PLACE = re.compile(rf"(?:square|position)\s*{_BRACKETS}", re.IGNORECASE)
_KEY = re.compile(r"(\d+\.[05])_(\d+\.[05])")
_FENCE = re.compile(r"```[a-z]*\s*\n(.*?)```", re.DOTALL | re.IGNORECASE)


class Unreadable(ValueError):
    """Text that is not an action of this grid.

    Args:
        code: the code of the reason.
        reason: the reason in words.
    """

    def __init__(self, code: FailureCode, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class Refusal:
    """A part of a joint action that was not accepted.

    Attributes:
        code: the code of the reason.
        agent: the agent of the action; None if the text names no agent of this grid.
        reason: the reason in words.
    """

    code: FailureCode
    agent: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of a text.

    Attributes:
        moves: the moves that can be made in the state, by agent.
        refusals: everything else, in the order of the text.
    """

    moves: Mapping[int, BoxMove]
    refusals: tuple[Refusal, ...]


def write_board(board: Board) -> dict[str, list[str]]:
    """Write a board: every cell, and on hard boards every corner, with its boxes and targets."""
    places, found = [*board.grid.cells, *(board.grid.corners if board.grid.is_hard else ())], contents(board)
    return {_key(place): found.get(place, []) for place in places}


def contents(board: Board) -> dict[Place, list[str]]:
    """Return the contents of each place that is not empty: boxes, then targets."""
    found: dict[Place, list[str]] = {}
    for kind, items in (("box", board.boxes), ("target", board.targets)):
        for colour, place in items:
            found.setdefault(place, []).append(f"{kind}_{colour}")
    return found


def read_board(grid: Grid, data: Mapping[str, Any]) -> Board:
    """Read a board; empty places may be left out. `Board.check` decides whether an episode can start with it.

    Raises:
        LayoutError: a key is not a place, or an item is neither box nor target; the message names it.
    """
    boxes: list[Item] = []
    targets: list[Item] = []
    for key, items in data.items():
        found = _KEY.fullmatch(key)
        if found is None:
            raise LayoutError(f"{key!r} is not a place: write '0.5_1.5' for a cell, '1.0_0.0' for a corner")
        place = _halves(found[1]), _halves(found[2])
        for name in items:
            kind, _, colour = name.partition("_")
            if kind not in ("box", "target") or colour not in _COLOURS:
                raise LayoutError(f"{key}: {name!r} is neither box_ nor target_ with one of {', '.join(Colour)}")
            (boxes if kind == "box" else targets).append(Item(Colour(colour), place))
    return Board(grid, tuple(boxes), tuple(targets))


def write_agent(grid: Grid, agent: int) -> str:
    """Name an agent: `Agent[0.5, 0.5]`."""
    return f"Agent{_brackets(grid.cells[agent])}"


def read_agent(grid: Grid, text: str) -> int:
    """Read the name of an agent.

    Raises:
        Unreadable: unknown agent.
    """
    found = _AGENT.fullmatch(text)
    place = _place(found) if found else None
    agent = grid.agent_of.get(place) if place is not None else None
    if agent is None:
        raise Unreadable(
            FailureCode.unknown_agent, f"there is no {text!r}: agents are named like {write_agent(grid, 0)}"
        )
    return agent


def write_place(place: Place) -> str:
    """Name a place: `square[0.5, 1.5]`, `position[1.0, 0.0]`."""
    return f"{'square' if place[0] % 2 else 'position'}{_brackets(place)}"


def read_place(text: str) -> Place | None:
    """Read the name of a place; None if it is not one. Does not check that a grid has the place."""
    found = _PLACE.fullmatch(text.strip())
    return _place(found) if found else None


def write_destination(grid: Grid, agent: int, move: BoxMove) -> str:
    """Name the destination of a move: `target_green`, `square[0.5, 1.5]`, `position[1.0, 0.0]`."""
    return f"target_{move.colour}" if move.to == grid.cells[agent] else write_place(move.to)


def write_move(grid: Grid, agent: int, move: BoxMove) -> str:
    """Write an action: `move(box_green, target_green)`."""
    return f"move(box_{move.colour}, {write_destination(grid, agent, move)})"


def read_destination(grid: Grid, agent: int, colour: Colour, text: str) -> BoxMove:
    """Read the destination of an agent's move of a box.

    Raises:
        Unreadable: the destination is not on this grid, or is a target of another colour.
    """
    if target := _TARGET.fullmatch(text.strip()):
        if _colour(target[1]) is not colour:
            raise Unreadable(FailureCode.other_colour, f"box_{colour} goes on a target_{colour}, not on {text}")
        return BoxMove(colour, grid.cells[agent])
    place = read_place(text)
    if place is None or place not in grid.box_places:
        example = write_place(grid.box_places[-1])
        raise Unreadable(
            FailureCode.no_such_place, f"{text!r} is no place for a box on this grid: write {example}, say"
        )
    if place == grid.cells[agent]:
        raise Unreadable(
            FailureCode.already_there, f"{text} is the agent's own cell: onto the target is target_{colour}"
        )
    return BoxMove(colour, place)


def read_move(grid: Grid, agent: int, text: str) -> BoxMove:
    """Read an action of an agent.

    Raises:
        Unreadable: it is not an action of this grid; `Board.refusal` decides whether the state allows it.
    """
    found = _MOVE.fullmatch(text)
    if found is None:
        raise Unreadable(FailureCode.not_an_action, f"{text!r} is no action: write move(box_green, target_green), say")
    return read_destination(grid, agent, _colour(found[1]), found[2])


def write_joint(grid: Grid, joint: Mapping[int, BoxMove]) -> dict[str, str]:
    """Write a joint action, by ascending agent."""
    return {write_agent(grid, agent): write_move(grid, agent, joint[agent]) for agent in sorted(joint)}


def read_joint(board: Board, text: str) -> Reading:
    """Read a joint action as models write it, including in a code fence or with words around it.

    Entries that are unreadable or impossible in the state are refused with a code; the rest is accepted. An agent named
    twice has no action, because its intended one is unknown.
    """
    try:
        pairs = json.loads(_json_of(text), object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        return Reading({}, (Refusal(FailureCode.not_json, None, f"the text holds no JSON: {error}"),))
    if not isinstance(pairs, _Pairs):
        return Reading(
            {}, (Refusal(FailureCode.not_an_object, None, "a joint action is a JSON object: agent to action"),)
        )
    grid, refusals = board.grid, []
    named: dict[int, list[Any]] = {}
    for key, value in pairs:
        try:
            named.setdefault(read_agent(grid, key), []).append(value)
        except Unreadable as error:
            refusals.append(Refusal(error.code, None, str(error)))
    moves: dict[int, BoxMove] = {}
    for agent, values in named.items():
        try:
            moves[agent] = _only_move(board, agent, values)
        except Unreadable as error:
            refusals.append(Refusal(error.code, agent, f"{write_agent(grid, agent)}: {error}"))
    return Reading(moves, tuple(refusals))


_REASONS = {
    FailureCode.no_such_box: "no {box} is left",
    FailureCode.box_not_here: "there is no {box} in reach of {agent}",
    FailureCode.out_of_reach: "{agent} cannot bring a box to {where}",
    FailureCode.already_there: "{box} is at {where} already",
    FailureCode.no_target: "there is no {target} in the cell of {agent}",
    FailureCode.corner_taken: "{where} holds a box, and a corner must be empty before the step",
}


def describe(code: FailureCode, grid: Grid, agent: int, move: BoxMove) -> str:
    """Return the reason why an agent cannot make a move in the current state."""
    where, name = write_destination(grid, agent, move), write_agent(grid, agent)
    words = {"box": f"box_{move.colour}", "target": f"target_{move.colour}", "where": where, "agent": name}
    return _REASONS.get(code, str(code)).format(**words)


class _Pairs(list[tuple[str, Any]]):
    """The entries of a JSON object, including those with equal keys."""


def _only_move(board: Board, agent: int, values: list[Any]) -> BoxMove:
    if len(values) > 1:
        raise Unreadable(FailureCode.duplicate_agent, f"{len(values)} actions: one for each agent")
    if not isinstance(values[0], str):
        raise Unreadable(FailureCode.not_an_action, "an action is a text: move(box_green, target_green), say")
    move = read_move(board.grid, agent, values[0])
    if (code := board.refusal(agent, move)) is not None:
        raise Unreadable(code, describe(code, board.grid, agent, move))
    return move


def _json_of(text: str) -> str:
    """Return the part of a text meant as JSON: in the last code fence, else from the first brace to the last."""
    fences = _FENCE.findall(text)
    found = fences[-1] if fences else text
    first, last = found.find("{"), found.rfind("}")
    return found[first : last + 1] if 0 <= first < last else found


def _colour(name: str) -> Colour:
    if name.lower() not in _COLOURS:
        raise Unreadable(FailureCode.unknown_colour, f"there is no colour {name!r}: they are {', '.join(Colour)}")
    return Colour(name.lower())


def _place(found: re.Match[str]) -> Place | None:
    row, col = (number for number in found.groups() if number is not None)
    place = 2 * float(row), 2 * float(col)
    return (int(place[0]), int(place[1])) if place[0].is_integer() and place[1].is_integer() else None


def _halves(number: str) -> int:
    return int(2 * float(number))


def _key(place: Place) -> str:
    return f"{place[0] / 2}_{place[1] / 2}"


def _brackets(place: Place) -> str:
    return f"[{place[0] / 2}, {place[1] / 2}]"


def altered(board: Board, changes: Mapping[str, Any]) -> Board:
    """Return a copy of the board with changed contents of some places.

    Args:
        board: board of an episode; it is not modified.
        changes: JSON, see the module docstring.

    Raises:
        LayoutError: the changes are malformed or the resulting board is impossible; the message names the place.
    """
    for key in changes:
        if key != "items":
            raise LayoutError(f"{key}: unknown part; `items` lists what is at each place")
    named, now = changes.get("items", {}), write_board(board)
    if not isinstance(named, Mapping):
        raise LayoutError(f"items: {named!r} is not an object with places as keys")
    for place, items in named.items():
        if place not in now:
            raise LayoutError(f"items.{place}: no such place on this grid; its places are {', '.join(now)}")
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise LayoutError(f'items.{place}: {items!r} is not a list of names such as ["box_blue", "target_red"]')
        now[place] = list(items)
    found = read_board(board.grid, now).check()
    if not found.boxes:
        raise LayoutError("items: this removes the last box, which would end the episode: leave one")
    for colour, boxes in Counter(box.colour for box in found.boxes).items():
        if boxes > MOST_OF_A_COLOUR:
            raise LayoutError(f"items: {boxes} boxes are {colour}, but at most {MOST_OF_A_COLOUR} may have one colour")
    return found


def render_ansi(board: Board) -> str:
    """Draw a board as text: a box is the first letter of its colour in upper case, a target in lower case.

    Easy boards show boxes and targets in the cells. Hard boards show targets in the cells and boxes on the corners,
    where `+` is an empty corner and `#` one with several boxes.
    """
    grid = board.grid
    inside = {cell: _letters(board, cell) for cell in grid.cells}
    width = max(3, *(len(text) for text in inside.values()))
    lines = []
    for row in range(2 * grid.rows + 1):
        if row % 2:
            cells = [inside[row, 2 * col + 1].center(width) for col in range(grid.cols)]
            lines.append("|" + "|".join(cells) + "|")
        else:
            corners = [_corner(board, (row, 2 * col)) for col in range(grid.cols + 1)]
            lines.append(("-" * width).join(corners))
    return "\n".join(lines)


def _letters(board: Board, place: Place) -> str:
    boxes = "".join(box.colour[0].upper() for box in board.boxes if box.place == place)
    return boxes + "".join(target.colour[0] for target in board.targets if target.place == place)


def _corner(board: Board, place: Place) -> str:
    boxes = _letters(board, place)
    return "#" if len(boxes) > 1 else boxes or "+"
