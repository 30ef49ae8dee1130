"""How the simulated speaker plays when it sees its own cell alone: by what is there, and by what others have told it.

Nobody knows more than one cell, so those who may speak say which targets are in theirs. A box goes nearer to a target
that somebody has told of; where nobody has, it goes anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from llamac_env import Board, BoxMove, Colour, Item, TransportObservation, read_place, write_place
from maeil.extensions.describe.describing import needs_of
from maeil.extensions.describe.descriptors import Descriptor, Need, Offer
from maeil.messages import Message
from maeil.mind import View
from quorum.agents.skills.transport.moves import gain, places

_REPORT = re.compile(r"In (square\[[\d., ]+\]) there (?:is|are) (no target|target_[a-z]+(?:, target_[a-z]+)*)\.")


def report(board: Board, cells: Iterable[int]) -> str:
    """Say which targets are in the cells of some agents; `hear` reads it."""
    told = []
    for agent in cells:
        place = board.grid.cells[agent]
        names = [f"target_{target.colour}" for target in board.targets if target.place == place]
        told.append(f"In {write_place(place)} there {'are' if names[1:] else 'is'} {', '.join(names) or 'no target'}.")
    return " ".join(told)


def describe(board: Board, view: View) -> Descriptor:
    """Offer to tell the targets that are known, and need to know those of the boxes in reach that are not."""
    known = {target.colour for target in board.targets}
    lost = {move.colour for move in board.available(view.agent)} - known
    offered, needed = (tuple(sorted(f"target_{colour}" for colour in colours)) for colours in (known, lost))
    return Descriptor(
        Offer(f"I know the places of {', '.join(offered) or 'nothing'}.", offered, free=view.plan is None),
        Need(f"Where is {' or '.join(needed)}?" if needed else "", needed),
    )


def telling(board: Board, view: View) -> list[int]:
    """Return the agents whose cells one reports on: its own, and those with a target that others need to know."""
    needed = {name for _, need in needs_of(view) for name in need.tasks}
    cells = {target.place for target in board.targets if f"target_{target.colour}" in needed}
    return [
        view.agent,
        *(agent for agent, cell in enumerate(board.grid.cells) if cell in cells and agent != view.agent),
    ]


def reported(board: Board, messages: Iterable[Message]) -> set[int]:
    """Return the agents whose cells some messages tell of."""
    places = {where for message in messages for where, _ in _REPORT.findall(message.content)}
    return {agent for agent, cell in enumerate(board.grid.cells) if write_place(cell) in places}


def known_board(observation: TransportObservation, messages: Iterable[Message]) -> Board:
    """Return what an agent knows of the board: what it sees, and the targets that others have told of.

    Args:
        observation: what it sees: its own cell.
        messages: oldest first; a later report on a cell replaces an earlier one, and what it sees replaces both.
    """
    grid = observation.grid
    targets: dict[str, list[str]] = {}
    for message in messages:
        for where, what in _REPORT.findall(message.content):
            targets[where] = what.split(", ") if what != "no target" else []
    targets[observation.square] = []
    boxes: list[Item] = []
    for where, items in observation.sees.items():
        targets.setdefault(where, []).extend(item for item in items if item.startswith("target_"))
        boxes += [_item(item, where) for item in items if item.startswith("box_")]
    told = [_item(item, where) for where, items in targets.items() for item in items if _is_item(item)]
    return Board(grid, tuple(boxes), tuple(item for item in told if item.place in grid.agent_of))


def choose(board: Board, agent: int, rng: np.random.Generator) -> tuple[BoxMove | None, str]:
    """Choose a move, and say why: place a box; bring one nearer to a known target; send one of unknown way anywhere.

    A box on a corner is in reach of several agents, and two that act on it both fail. Where its target is known the one
    acts who brings it nearest. Where it is not, each acts as often as one in so many would.

    Args:
        board: what the agent knows of it.
        agent: its index.
        rng: for the choices among boxes of which nothing is known.
    """
    taken = {box.place for box in board.boxes} if board.grid.is_hard else set()
    moves = [move for move in board.available(agent) if move.to not in taken]
    if placing := next((move for move in moves if places(board, agent, move)), None):
        return placing, "it can be placed"
    known = {target.colour for target in board.targets}
    gains = {move: gain(board, agent, move) for move in moves if move.colour in known}
    best = max(gains, key=lambda move: gains[move], default=None)
    if best is not None and gains[best] > 0 and _is_mine(board, agent, best):
        return best, "somebody has told of its target"
    lost: dict[Colour, list[BoxMove]] = {}
    for move in moves:
        if move.colour not in known:
            lost.setdefault(move.colour, []).append(move)
    for ways in lost.values():
        if rng.random() * len(_sharers(board, agent, ways[0])) < 1:
            return ways[rng.integers(len(ways))], "nobody has told of its target"
    return None, "no box is mine now"


def _sharers(board: Board, agent: int, move: BoxMove) -> list[int]:
    """All who have a move's box in reach, ascending."""
    source = board.box_at(agent, move.colour)
    assert source is not None
    return sorted(board.grid.handlers[source])


def _is_mine(board: Board, agent: int, move: BoxMove) -> bool:
    """Whether of all who have a box in reach the agent is the first of those who bring it nearest."""

    def most(other: int) -> float:
        return max((gain(board, other, m) for m in board.available(other) if m.colour == move.colour), default=-1)

    return max(_sharers(board, agent, move), key=most) == agent


def _is_item(name: str) -> bool:
    return name.partition("_")[2] in map(str, Colour)


def _item(name: str, where: str) -> Item:
    place = read_place(where)
    assert place is not None, "an observation and a report name places"
    return Item(Colour(name.partition("_")[2]), place)
