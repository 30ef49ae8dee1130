"""Anytime-valid test and interval of paired differences: valid however often one looks, and whenever one stops.

Null hypothesis: whatever came before, the difference of the next board is as likely `centre + x` as `centre - x`. So a
bet on its sign is fair once its size is known, and a gambler who starts with 1 and bets on every board ever owns 20 or
more in at most 5 % of cases (Ville 1939; de la Pena 1999, A General Class of Exponential Inequalities for Martingales
and Ratios; Ramdas, Ruf, Larsson and Koolen 2020, Admissible Anytime-Valid Sequential Inference Must Rely on Nonnegative
Martingales). The **evidence** against a centre is the most that the gambler has owned. Its inverse is an anytime-valid
p-value, and the interval consists of all centres with evidence below 20. It excludes 0 exactly if the evidence against
0 is 20 or more.

- The money is spread over bets of several sizes. A bet of size b multiplies it by exp(b x) / cosh(b x) = 1 + tanh(b x),
  with x in units of the spread of the boards before, which starts at the planned one. Most of the money bets on the
  planned effect, three quarters of it in the planned direction as seen from the centre.
- No bet is larger than needed to reach 20, so that less is lost if it fails (Fischer and Ramdas 2024, Improving Wald's
  Sequential Probability Ratio Test by Avoiding Overshoot).
- Differences of shares are seldom symmetric about anything but 0. They lie between -1 and 1, so the bets are on their
  mean: 1 + k (d - centre) with k at most 1 / (1 + |centre|) (Waudby-Smith and Ramdas 2024, Estimating Means of Bounded
  Random Variables by Betting).

The order of the boards must not depend on their results; the order of their seeds is valid. `benchmarks/sequential.py`
measures error rates, and numbers of boards against those of a fixed design.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quorum.comparison.statistics.intervals import Floats, agree

LIMIT = 20.0
"""Evidence at which a centre is rejected: 1 / 0.05."""
_SIZES = np.array([0.25, 0.5, 1.0, 2.0])
"""Sizes of bets, in planned effects; without a plan in units of the spread."""
_PARTS = np.array([0.04, 0.04, 0.9, 0.02])
"""Their shares of the money; without a plan the shares are equal."""
_TOWARD = 0.75
"""Share of the money that bets in the planned direction."""
_PRIOR_BOARDS = 5
"""Number of boards that the planned spread counts as."""
_FUTILE = 0.1
"""A study is futile if the likelihood ratio of the planned effect to no effect falls below this."""
_CAP = LIMIT * (1 + 1e-9)
"""Cap on the money where the limit is reached; above the limit in spite of rounding."""
_MOST = 1 - 1e-9
"""Share of the money that a bet may lose: a gambler with nothing left can win nothing back."""
_GRID = 65
"""Number of centres tried at once when searching for the ends of an interval."""
_REACH = 100.0
"""Search range around the mean, in units of the greatest distance of a board."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What was expected before the first board was played.

    Attributes:
        effect: the mean difference, not 0.
        deviation: standard deviation of the differences over boards, above 0.
        directed: whether the sign of the effect was expected as well.
    """

    effect: float
    deviation: float
    directed: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.effect) and self.effect and self.deviation > 0):
            raise ValueError(f"a plan needs an effect that is not 0 and a deviation above 0, not {self}")


def evidence(differences: Floats, plan: Plan | None = None, *, share: bool = False) -> float:
    """Return the evidence that the mean difference is not 0: 20 or more is significant at 5 %, at any time.

    Args:
        differences: one per board, in the order of the boards, shape (boards,).
        plan: what was expected before the first of them; None: nothing.
        share: whether they are differences of values that always lie between 0 and 1.
    """
    return float(evidence_path(differences, plan, share=share).max(initial=1.0))


def anytime_interval(differences: Floats, plan: Plan | None = None, *, share: bool = False) -> tuple[float, float]:
    """Return the interval of all means with evidence below 20, which only shrinks with more boards.

    NaN if it has no end: over very few boards, and, except for shares, if all boards agree and no plan gives their
    spread. The arguments are those of `evidence`.
    """
    if len(differences) == 0 or (plan is None and not share and agree(differences)):
        return math.nan, math.nan
    middle = float(differences.mean())
    unit = 1.0 if share else max(float(np.abs(differences - middle).max()), plan.deviation if plan else 0.0)
    reach = _REACH * np.sinh(np.linspace(-6, 6, _GRID)) / math.sinh(6) * unit  # denser near the mean
    grid = np.unique(np.clip(middle + reach, -1, 1)) if share else middle + reach
    found = _against(differences, plan, grid, share)
    held = np.flatnonzero(found < max(LIMIT, found.min() * 1.0001))  # the best one if all are rejected
    if not share and (held[0] == 0 or held[-1] == len(grid) - 1):
        return math.nan, math.nan
    low, high = (
        _end(differences, plan, share, float(grid[inside]), float(grid[np.clip(inside + step, 0, len(grid) - 1)]))
        for inside, step in ((held[0], -1), (held[-1], 1))
    )
    if evidence(differences, plan, share=share) >= LIMIT:
        return low, high
    # Evidence can jump at 0: a first board without a difference is then exactly as expected.
    return min(low, 0.0), max(high, 0.0)


def futile(differences: Floats, plan: Plan) -> NDArray[np.bool_]:
    """Whether, up to each board, the data were ever ten times as likely without the planned effect (either sign).

    Stopping then costs little power and saves most boards if there is no effect (Wald 1945, Sequential Tests of
    Statistical Hypotheses). Like any reason to stop, it does not change the error rate.

    Args:
        differences: shape (..., boards).
        plan: what was expected.

    Returns:
        The same shape.
    """
    bets = abs(plan.effect) / plan.deviation * differences / _scale(differences, differences, plan)
    likelihood = np.maximum(*(np.cumprod(1 + np.tanh(sign * bets), axis=-1) for sign in (1, -1)))
    return np.asarray(np.logical_or.accumulate(likelihood < _FUTILE, axis=-1))


def evidence_path(
    differences: Floats, plan: Plan | None = None, centre: Floats | float = 0.0, *, share: bool = False
) -> Floats:
    """Return the gambler's money after each board, same shape as the differences, for many studies at once.

    Args:
        differences: shape (..., boards).
        plan: what was expected.
        centre: the tested mean, shape (...).
        share: whether they are differences of shares.
    """
    centres = np.broadcast_to(np.asarray(centre, dtype=np.float64)[..., None], (*differences.shape[:-1], 1))
    distances = differences - centres
    scale = _scale_of_shares(distances) if share and plan is None else _scale(differences, distances, plan)
    sizes, owned = _stakes(plan, centres)
    path = np.empty_like(distances)
    for board in range(distances.shape[-1]):
        here = slice(board, board + 1)
        if share:
            gains = distances[..., here] / (1 + np.abs(centres)) * np.tanh(sizes / scale[..., here])
        else:
            gains = np.tanh(sizes * distances[..., here] / scale[..., here])
        before = owned.sum(axis=-1)
        owned = owned * (1 + _MOST * gains)
        if not share:
            owned = owned * _capped(before, owned.sum(axis=-1))[..., None]
        path[..., board] = owned.sum(axis=-1)
    return path


def _stakes(plan: Plan | None, centres: Floats) -> tuple[Floats, Floats]:
    """Return the sizes of bets, shape (bets,), and the money on each, shape (..., bets)."""
    sizes = _SIZES * (abs(plan.effect) / plan.deviation if plan else 1.0)
    parts = _PARTS if plan else np.full(len(_SIZES), 1 / len(_SIZES))
    up = (
        np.where(plan.effect >= centres, _TOWARD, 1 - _TOWARD)
        if plan and plan.directed
        else np.full(centres.shape, 0.5)
    )
    return np.concatenate([sizes, -sizes]), np.concatenate([up * parts, (1 - up) * parts], axis=-1)


def _scale(differences: Floats, distances: Floats, plan: Plan | None) -> Floats:
    """Return the spread that scales each board, same shape as the differences.

    With a plan, it is the spread of the boards before. Without a plan, there is none before the first board: it is the
    root mean square of the distances from the centre so far, which does not depend on signs.
    """
    boards = np.arange(1, differences.shape[-1] + 1)
    if plan is None:
        scale = np.sqrt(np.cumsum(distances**2, axis=-1) / boards)
        return np.where(scale == 0, 1.0, scale)
    shifted = differences - differences[..., :1]  # against rounding
    squares = np.cumsum(shifted**2, axis=-1) - np.cumsum(shifted, axis=-1) ** 2 / boards
    before = np.concatenate([np.zeros_like(squares[..., :1]), np.maximum(squares[..., :-1], 0.0)], axis=-1)
    return np.asarray(
        np.sqrt((_PRIOR_BOARDS * plan.deviation**2 + before) / (_PRIOR_BOARDS + np.maximum(boards - 2, 0)))
    )


def _scale_of_shares(distances: Floats) -> Floats:
    """Return the spread that scales each board for shares without a plan: that of the boards before.

    A bet on a mean must not depend on its board. The spread is at most 1, so that evidence does not fall for more
    distant centres.
    """
    boards = np.arange(1, distances.shape[-1] + 1)
    squares = np.cumsum(distances**2, axis=-1) - distances**2
    return np.asarray(np.minimum(np.sqrt((1 + squares) / boards), 1.0))


def _capped(before: Floats, after: Floats) -> Floats:
    """Return the factors that cap winnings at the limit, and return to losers what winners gave up."""
    other = 2 * before - after  # money with the other sign
    factor = np.where(after > _CAP, _CAP / after, np.where(other > _CAP, (2 * before - _CAP) / after, 1.0))
    return np.asarray(np.where(before < LIMIT, factor, 1.0))


def _against(differences: Floats, plan: Plan | None, centres: Floats, share: bool) -> Floats:
    many = np.broadcast_to(differences, (len(centres), len(differences)))
    return np.asarray(evidence_path(many, plan, centres, share=share).max(axis=-1, initial=1.0))


def _end(differences: Floats, plan: Plan | None, share: bool, inside: float, outside: float) -> float:
    """Return the outermost centre that is not rejected, between one that is not and one that is."""
    for _ in range(3):
        grid = np.linspace(inside, outside, _GRID)
        rejected = _against(differences, plan, grid, share) >= LIMIT
        first = int(np.argmax(rejected)) if rejected.any() else _GRID - 1
        inside, outside = float(grid[max(first - 1, 0)]), float(grid[first])
    return inside
