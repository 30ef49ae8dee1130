"""The rounds of the squeeze as shapes of `quorum_base.drawing`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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


class Chart:
    """The rounds of a game so far: sums as bars, rewards as diamonds over them, the best sum as a line.

    The marks of past rounds stay the same objects, so that comparisons of two drawings can skip them.

    Args:
        game: the current game.
        length: number of rounds in the episode.
    """

    def __init__(self, game: Game, length: int) -> None:
        self._game = game
        self._frame = canvas(length)
        self._slot = self._frame.width / length
        self._top = 0.9 * self._frame.height / game.highest
        self._marks = {"best": self._best()}
        self._picks: Sequence[int] = ()
        self._share = 0.0
        self.rounds = 0
        """The rounds added so far."""

    def _best(self) -> Mark:
        best, thin = self._game.best_x, _THIN * self._frame.height
        line = self._frame.height - best * self._top - thin / 2
        return Mark(_BEST, 0, line, self._frame.width, thin, title=f"best sum {best}")

    def show(self, game: Game) -> None:
        """Draw the best sum of the coming round's game."""
        if game != self._game:
            self._game = game
            self._marks["best"] = self._best()

    def add(self, game: Game, picks: Sequence[int]) -> None:
        """Add the next round: its game, and the picks by agent."""
        if self.rounds:
            name = f"sum {self.rounds - 1}"
            self._marks[name] = replace(self._marks[name], kind=_PAST)
        x, number = sum(picks), self.rounds
        self._share = share = game.reward(x) / game.best_reward
        height, edge = x * self._top, 0.5 * self._slot
        self._marks[f"sum {number}"] = Mark(
            _LAST, (number + 0.1) * self._slot, self._frame.height - height, 0.8 * self._slot, height,
            label=str(x), title=f"round {number}: sum {x}",
        )  # fmt: skip
        self._marks[f"share {number}"] = Mark(
            _SHARE, (number + 0.25) * self._slot, self._frame.height * (1 - 0.9 * share) - edge / 2, edge, edge,
            title=f"round {number}: reward {share:.1%} of the best",
        )  # fmt: skip
        self._picks = picks
        self.rounds += 1

    def drawing(self) -> Drawing:
        """Draw the rounds that have been added."""
        marks = dict(self._marks)
        if not self.rounds:
            return Drawing(b"", marks, "no round played yet")
        caption = f"sum {sum(self._picks)}, reward {self._share:.1%} of the best"
        return Drawing(b"", marks, caption, tuple(f"picked {pick}" for pick in self._picks))


def image(rounds: int, game: Game, played: Sequence[tuple[Game, Sequence[int]]]) -> npt.NDArray[np.uint8]:
    """Paint the rounds of an episode, uint8 `(height, width, 3)`.

    Args:
        rounds: number of rounds in the episode.
        game: game of the coming round.
        played: game and picks of each round played.
    """
    from quorum_base.painting.board import board_image  # noqa: PLC0415 (imaging libraries take long to import)

    chart = Chart(game, rounds)
    for own, picks in played:
        chart.add(own, picks)
    return board_image(canvas(rounds), chart.drawing())
