"""Anytime-valid test and interval of a mean difference: valid however often one looks, and whenever one stops.

Null hypothesis: whatever came before, the expected difference of the next board is `centre`. A gambler who starts with
1 bets on every board, and a bet multiplies the money by 1 + k (difference - centre), with k chosen before the board is
seen. Under the null hypothesis no bet gains on average, so the gambler ever owns 20 or more in at most 5 % of cases
(Ville 1939), whatever the distribution of the differences. The **evidence** against a centre is the most that the
gambler has owned. Its inverse is an anytime-valid p-value, and the interval consists of all centres with evidence below
20 (Waudby-Smith and Ramdas 2024, Estimating Means of Bounded Random Variables by Betting). It excludes 0 exactly if the
evidence against 0 is 20 or more.

- Money must never fall below 0, so k is limited by the largest possible difference. Without such a **bound** no test of
  a mean is valid: one rare board could outweigh all that were seen (Bahadur and Savage 1956, The Nonexistence of
  Certain Statistical Procedures in Nonparametric Problems).
- The money is spread over bets of several sizes, in units of the spread of the boards before, which starts at the
  planned one. Most of the money bets on the planned effect, three quarters of it in the planned direction as seen from
  the centre.

The order of the boards must not depend on their results; the order of their seeds is valid. `benchmarks/sequential.py`
measures error rates, and numbers of boards against those of a fixed design.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quorum.comparison.statistics.intervals import Floats
from quorum_base.user_errors import UserError

LIMIT = 20.0
"""Evidence at which a centre is rejected: 1 / 0.05."""
_SIZES = np.array([0.25, 0.5, 1.0, 2.0])
"""Sizes of bets, in planned effects; without a plan in units of the spread."""
_PARTS = np.array([0.04, 0.04, 0.9, 0.02])
"""Their shares of the money; without a plan the shares are equal."""
_TOWARD = 0.75
"""Share of the money that bets in the planned direction."""
_PRIOR_BOARDS = 5
"""Number of boards that the planned spread counts as; without a plan the bound counts as one board."""
_FUTILE = 0.1
"""A study is futile if the likelihood ratio of the planned effect to no effect falls below this."""
_MOST = 1 - 1e-9
"""Share of the money that a bet may lose: a gambler with nothing left can win nothing back."""
_GRID = 65
"""Number of centres tried at once when searching for the ends of an interval."""


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


def evidence(differences: Floats, bound: float, plan: Plan | None = None, centre: Floats | float = 0.0) -> Floats:
    """Return the evidence that the mean is not `centre`, same shape: 20 or more is significant at 5 %, at any time.

    Args:
        differences: one per board, in the order of the boards, shape (boards,).
        bound: the largest possible size of a difference.
        plan: what was expected before the first of them; None: nothing.
        centre: the tested means.
    """
    many = np.broadcast_to(differences, (*np.shape(centre), len(differences)))
    return np.asarray(evidence_path(many, bound, plan, centre).max(axis=-1, initial=1.0))


def anytime_interval(differences: Floats, bound: float, plan: Plan | None = None) -> tuple[float, float]:
    """Return the interval of all means with evidence below 20, which only shrinks with more boards.

    NaN over no boards. The arguments are those of `evidence`.
    """
    if len(differences) == 0:
        return math.nan, math.nan
    denser = bound * np.sinh(np.linspace(-6, 6, _GRID)) / math.sinh(6)
    grid = np.unique(np.clip(float(differences.mean()) + 2 * denser, -bound, bound))
    found = evidence(differences, bound, plan, grid)
    held = np.flatnonzero(found < max(LIMIT, found.min() * 1.0001))  # the best one if all are rejected
    low, high = (
        _end(differences, bound, plan, float(grid[inside]), float(grid[np.clip(inside + step, 0, len(grid) - 1)]))
        for inside, step in ((held[0], -1), (held[-1], 1))
    )
    if evidence(differences, bound, plan) >= LIMIT:
        return low, high
    return min(low, 0.0), max(high, 0.0)  # in spite of rounding


def futile(differences: Floats, plan: Plan) -> NDArray[np.bool_]:
    """Whether, up to each board, the data were ever ten times as likely without the planned effect (either sign).

    Stopping then costs little power and saves most boards if there is no effect (Wald 1945, Sequential Tests of
    Statistical Hypotheses, with normal likelihoods). Like any reason to stop, it does not change the error rate.

    Args:
        differences: shape (..., boards).
        plan: what was expected.

    Returns:
        The same shape.
    """
    scale = _scale(differences, plan.deviation, _PRIOR_BOARDS)
    effect = abs(plan.effect) / scale
    likelihood = np.maximum(
        *(np.cumsum(sign * effect * differences / scale - effect**2 / 2, axis=-1) for sign in (1, -1))
    )
    return np.asarray(np.logical_or.accumulate(likelihood < math.log(_FUTILE), axis=-1))


def evidence_path(differences: Floats, bound: float, plan: Plan | None = None, centre: Floats | float = 0.0) -> Floats:
    """Return the gambler's money after each board, same shape as the differences, for many studies at once.

    Args:
        differences: shape (..., boards).
        bound: the largest possible size of a difference.
        plan: what was expected.
        centre: the tested mean, shape (...).

    Raises:
        UserError: a difference exceeds the bound.
    """
    largest = float(np.abs(differences).max(initial=0.0))
    if largest > bound * (1 + 1e-9):
        raise UserError(
            f"a difference of {largest:g} exceeds the range of its metric, {bound:g}", "Correct the metric's limit."
        )
    centres = np.broadcast_to(np.asarray(centre, dtype=np.float64)[..., None], (*differences.shape[:-1], 1))
    sizes, owned = _stakes(plan, centres)
    scale = _scale(differences, *((plan.deviation, _PRIOR_BOARDS) if plan else (bound, 1))) / bound
    shares = _MOST * (differences - centres) / (bound + np.abs(centres))
    path = np.empty_like(shares)
    for board in range(shares.shape[-1]):
        here = slice(board, board + 1)
        owned = owned * (1 + shares[..., here] * np.tanh(sizes / scale[..., here]))
        path[..., board] = owned.sum(axis=-1)
    return path


def _stakes(plan: Plan | None, centres: Floats) -> tuple[Floats, Floats]:
    """Return the sizes of bets, shape (bets,), and the money on each, shape (..., bets)."""
    sizes = _SIZES * (abs(plan.effect) / plan.deviation if plan else 1.0)
    parts = _PARTS if plan else np.full(len(_SIZES), 1 / len(_SIZES))
    toward = _TOWARD if plan and plan.directed else 0.5
    up = np.where((plan.effect if plan else 0.0) >= centres, toward, 1 - toward)
    return np.concatenate([sizes, -sizes]), np.concatenate([up * parts, (1 - up) * parts], axis=-1)


def _scale(differences: Floats, expected: float, prior: int) -> Floats:
    """Return the spread of the boards before each board, which starts at the expected one; same shape."""
    boards = np.arange(1, differences.shape[-1] + 1)
    shifted = differences - differences[..., :1]  # against rounding
    squares = np.cumsum(shifted**2, axis=-1) - np.cumsum(shifted, axis=-1) ** 2 / boards
    before = np.concatenate([np.zeros_like(squares[..., :1]), np.maximum(squares[..., :-1], 0.0)], axis=-1)
    return np.asarray(np.sqrt((prior * expected**2 + before) / (prior + np.maximum(boards - 2, 0))))


def _end(differences: Floats, bound: float, plan: Plan | None, inside: float, outside: float) -> float:
    """Return the outermost centre that is not rejected, between one that is not and one that is."""
    for _ in range(3):
        grid = np.linspace(inside, outside, _GRID)
        rejected = evidence(differences, bound, plan, grid) >= LIMIT
        first = int(np.argmax(rejected)) if rejected.any() else _GRID - 1
        inside, outside = float(grid[max(first - 1, 0)]), float(grid[first])
    return inside
