"""Draws the rounds of the squeeze as text."""

from __future__ import annotations

from collections.abc import Sequence

from llamac_env.squeeze.game import Game

_COLUMNS = 40
"""Characters of a bar."""


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
