"""The rounds as a bar chart, after `maeil.drawing`."""

from __future__ import annotations

from collections.abc import Sequence

from llamac_env.squeeze.game import Game
from maeil.drawing import Canvas, Drawing, Mark, MarkKind, Shape, Texture

_PAST, _LAST, _BEST, _SHARE = range(4)
KINDS = (
    MarkKind("sum of a round", "#a9c9e3", "#2c5878"),
    MarkKind("sum of this round", "#0072b2", "#56b4e9", texture=Texture.DOTS),
    MarkKind("sum that pays most", "#009e73", "#2fc79b", texture=Texture.STRIPES),
    MarkKind("reward, as a share of the best", "#d55e00", "#ff8c3a", Shape.DIAMOND),
)
_ASPECT = 0.7
"""Height of the chart, as a share of its width."""
_THIN = 0.006
"""Height of a line, as a share of the chart's."""
_SMALLEST = 10
"""Cells of the chart's width, at least."""


def canvas(rounds: int) -> Canvas:
    """Return the frame of the chart: a cell of width for each round."""
    width = max(rounds, _SMALLEST)
    return Canvas(width, round(width * _ASPECT), KINDS, ruled=False)


def draw(game: Game, picks: Sequence[Sequence[int]], rounds: int) -> Drawing:
    """Draw the sums of the rounds as bars, their rewards as diamonds over them, and the best sum as a line."""
    frame = canvas(rounds)
    top = 0.9 * frame.height / game.highest
    thin = _THIN * frame.height
    marks = {
        "best": Mark(
            _BEST, 0, frame.height - game.best_x * top - thin / 2, frame.width, thin, title=f"best sum {game.best_x}"
        )
    }
    slot = frame.width / rounds
    for number, picked in enumerate(picks):
        x, share = sum(picked), game.reward(sum(picked)) / game.best_reward
        last = number == len(picks) - 1
        marks[f"sum {number}"] = Mark(
            _LAST if last else _PAST, (number + 0.1) * slot, frame.height - x * top, 0.8 * slot, x * top,
            label=str(x), title=f"round {number}: sum {x}",
        )  # fmt: skip
        edge = 0.5 * slot
        marks[f"share {number}"] = Mark(
            _SHARE, (number + 0.25) * slot, frame.height * (1 - 0.9 * share) - edge / 2, edge, edge,
            title=f"round {number}: reward {share:.1%} of the best",
        )  # fmt: skip
    if not picks:
        return Drawing(b"", marks, "no round played yet")
    last_sum = sum(picks[-1])
    caption = f"sum {last_sum}, reward {game.reward(last_sum) / game.best_reward:.1%} of the best"
    return Drawing(b"", marks, caption, tuple(f"picked {pick}" for pick in picks[-1]))
