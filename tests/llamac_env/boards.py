"""Boards of grid transportation written by hand, for tests."""

from __future__ import annotations

from llamac_env import Board, BoxMove, Difficulty, EntryRule, Grid, board_generator, draw_board, read_board, read_move

SHAPES = ((2, 2), (2, 4), (4, 8))


def grid(rows: int, cols: int, difficulty: str, entry_rule: str = "final_state") -> Grid:
    return Grid(rows, cols, Difficulty(difficulty), EntryRule(entry_rule))


def board(where: Grid, **items: str) -> Board:
    """A board from `box_red="0.5_0.5"`; several places of one kind are joined with blanks."""
    found: dict[str, list[str]] = {}
    for item, places in items.items():
        for place in places.split():
            found.setdefault(place, []).append(item)
    return read_board(where, found)


def moves(where: Grid, **actions: str) -> dict[int, BoxMove]:
    """Moves by agent, from `a0="move(box_red, target_red)"`."""
    return {int(agent[1:]): read_move(where, int(agent[1:]), text) for agent, text in actions.items()}


def drawn(rows: int, cols: int, difficulty: str, seed: int, entry_rule: str = "final_state") -> Board:
    return draw_board(grid(rows, cols, difficulty, entry_rule), board_generator(seed))
