"""Draws the squeeze: the curve that nobody sees, and the rounds on it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from llamac_env.squeeze.game import Game

Image = npt.NDArray[np.uint8]

WIDTH, HEIGHT, MARGIN = 480, 240, 12
PAPER = (250, 250, 248)
CURVE = (150, 150, 150)
BEST = (44, 160, 44)
PAST = (150, 180, 220)
LAST = (214, 39, 40)
_COLUMNS = 40


def render_ansi(game: Game, played: Sequence[tuple[Game, int]]) -> str:
    """Draw the rounds as text: a line each with the sum, the reward and its share of the best as a bar.

    Args:
        game: of the coming round.
        played: game and sum of each round.
    """
    lines = [f"{game.agents} agents, best sum {game.best_x} of {game.highest}, best reward {game.best_reward:.3f}"]
    for number, (own, x) in enumerate(played, 1):
        share = own.reward(x) / own.best_reward
        bar = ("#" * round(share * _COLUMNS)).ljust(_COLUMNS)
        lines.append(f"{number:3} |{bar}| sum {x:4}  reward {own.reward(x):9.3f}  {share:6.1%}")
    return "\n".join(lines)


def render_rgb(game: Game, played: Sequence[tuple[Game, int]]) -> Image:
    """Draw the reward of every sum and the rounds played as dots on it, uint8 `(240, 480, 3)`; the last one is red.

    Args:
        game: of the coming round.
        played: game and sum of each round; those of another curve lie where they were on that.
    """
    image: Image = np.full((HEIGHT, WIDTH, 3), PAPER, dtype=np.uint8)
    for x in range(game.highest + 1):
        row, col = _at(game, x)
        image[row : HEIGHT - MARGIN, col] = CURVE
    _dot(image, _at(game, game.best_x), BEST, 4)
    for number, (own, x) in enumerate(played, 1):
        _dot(image, _at(own, x), LAST if number == len(played) else PAST, 3)
    return image


def _at(game: Game, x: int) -> tuple[int, int]:
    """Row and column of a sum on the curve."""
    height = (HEIGHT - 2 * MARGIN) * game.reward(x) / game.best_reward
    return HEIGHT - MARGIN - 1 - round(height), MARGIN + round((WIDTH - 2 * MARGIN) * x / game.highest)


def _dot(image: Image, at: tuple[int, int], colour: tuple[int, int, int], size: int) -> None:
    row, col = at
    image[max(row - size, 0) : row + size + 1, max(col - size, 0) : col + size + 1] = colour
