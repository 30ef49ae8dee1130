"""The rounds of the squeeze as shapes of `quorum_base.drawing`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from llamac_env.squeeze.game import Game
from quorum_base.drawing import Canvas, Drawing, Mark, MarkKind, Shape, Texture

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
"""Height of a line, as a share of the chart's height."""
_SMALLEST = 10
"""Minimum width of the chart in cells."""


def canvas(rounds: int) -> Canvas:
    """Return the frame of the chart, one cell wide per round."""
    width = max(rounds, _SMALLEST)
    return Canvas(width, round(width * _ASPECT), KINDS, ruled=False)


def draw(rounds: int, game: Game, played: Sequence[tuple[Game, Sequence[int]]]) -> Drawing:
    """Draw the rounds of an episode: sums as bars, rewards as diamonds over them, the best sum as a line.

    Args:
        rounds: number of rounds in the episode.
        game: game of the coming round.
        played: game and picks of each round played.
    """
    frame = canvas(rounds)
    slot, top, thin = frame.width / rounds, 0.9 * frame.height / game.highest, _THIN * frame.height
    line = frame.height - game.best_x * top - thin / 2
    marks = {"best": Mark(_BEST, 0, line, frame.width, thin, title=f"best sum {game.best_x}")}
    if not played:
        return Drawing(b"", marks, "no round played yet")
    for number, (own, picks) in enumerate(played):
        x = sum(picks)
        share = own.reward(x) / own.best_reward
        height, edge = x * top, 0.5 * slot
        marks[f"sum {number}"] = Mark(
            _LAST if number == len(played) - 1 else _PAST, (number + 0.1) * slot, frame.height - height, 0.8 * slot,
            height, label=str(x), title=f"round {number}: sum {x}",
        )  # fmt: skip
        marks[f"share {number}"] = Mark(
            _SHARE, (number + 0.25) * slot, frame.height * (1 - 0.9 * share) - edge / 2, edge, edge,
            title=f"round {number}: reward {share:.1%} of the best",
        )  # fmt: skip
    return Drawing(b"", marks, f"sum {x}, reward {share:.1%} of the best", tuple(f"picked {pick}" for pick in picks))


def image(rounds: int, game: Game, played: Sequence[tuple[Game, Sequence[int]]]) -> npt.NDArray[np.uint8]:
    """Paint the drawing of `draw`, uint8 `(height, width, 3)`."""
    from quorum_base.painting.board import board_image  # noqa: PLC0415 (imaging libraries take long to import)

    return board_image(canvas(rounds), draw(rounds, game, played))
