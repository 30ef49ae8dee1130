"""A board of grid transportation that is changed from outside, in the middle of an episode.

`{"items": {"0.5_0.5": ["box_blue"], "0.5_1.5": []}}` says what there is at some places, in the words in which a trace
begins with a board; the other places stay. A box is taken from one place and put at another by naming both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from llamac_env.transport.board import Board
from llamac_env.transport.drawing import MOST_OF_A_COLOUR
from llamac_env.transport.text import read_board, write_board
from maeil.environments.errors import LayoutError


def altered(board: Board, changes: Mapping[str, Any]) -> Board:
    """Return the board with other things at some places; the given one stays as it is.

    Args:
        board: of an episode.
        changes: see the module; JSON.

    Raises:
        LayoutError: they cannot be read, or there can be no such board; the message names the place.
    """
    for key in changes:
        if key != "items":
            raise LayoutError(f"{key}: there is no such part: what is at which place is told by items")
    named, now = changes.get("items", {}), write_board(board)
    if not isinstance(named, Mapping):
        raise LayoutError(f"items: {named!r} is no object with places")
    for place, items in named.items():
        if place not in now:
            raise LayoutError(f"items.{place}: there is no such place on this grid: they are {', '.join(now)}")
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise LayoutError(f'items.{place}: {items!r} is no list of names: write ["box_blue", "target_red"], say')
        now[place] = list(items)
    found = read_board(board.grid, now).check()
    if not found.boxes:
        raise LayoutError("items: no box would be left, and with the last one the episode ends: leave one")
    for colour, boxes in Counter(box.colour for box in found.boxes).items():
        if boxes > MOST_OF_A_COLOUR:
            raise LayoutError(f"items: {boxes} boxes of {colour}: there are {MOST_OF_A_COLOUR} of a colour at most")
    return found
