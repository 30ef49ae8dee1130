"""Differences from a baseline over the same boards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from maeil.metrics import Better
from quorum.experiments.compare.statistics import Estimate, estimate, holm, probability_of_improvement, sign_flip_test
from quorum.experiments.results.rows import Scalar

Boards = Mapping[tuple[Scalar, ...], Sequence[float]]
"""The values of the runs on each board; a board is a seed with the values of the crossed factors."""


@dataclass(frozen=True, slots=True)
class Difference:
    """How a level differs from the baseline in one metric.

    Attributes:
        metric: its name.
        level: the level.
        point: the value of `across`; None without it.
        mean: of the differences over boards, level - baseline, with its interval.
        differing: boards on which the two differ.
        unpaired: boards that only one of the two has.
        p: of the sign-flip test; NaN over no boards.
        p_holm: the same after Holm's correction over all differences of the metric.
        improvement: probability that a run of the level is better on a board than one of the baseline; of a metric
            with no better way, that it is greater. NaN over no boards.
    """

    metric: str
    level: str
    point: Scalar
    mean: Estimate
    differing: int
    unpaired: int
    p: float
    p_holm: float
    improvement: float


@dataclass(frozen=True, slots=True)
class Pairing:
    """What one difference is made of."""

    level: str
    point: Scalar
    level_boards: Boards
    baseline_boards: Boards


def differences(metric: str, pairings: Sequence[Pairing], better: Better | None) -> list[Difference]:
    """Compute the differences of one metric, which are one family of Holm's correction.

    Several runs on one board count as their mean. Boards that only one of the two has are left out.

    Args:
        metric: its name.
        pairings: the values.
        better: which of its values are better; None where neither are.
    """
    common = [sorted(p.level_boards.keys() & p.baseline_boards.keys(), key=repr) for p in pairings]
    deltas = [
        np.array([fmean(p.level_boards[board]) - fmean(p.baseline_boards[board]) for board in boards])
        for p, boards in zip(pairings, common, strict=True)
    ]
    p_values = [sign_flip_test(delta) if len(delta) else float("nan") for delta in deltas]
    told = [place for place, p in enumerate(p_values) if p == p]  # noqa: PLR0124 - not NaN
    adjusted = dict(zip(told, holm([p_values[place] for place in told]), strict=True))
    return [
        Difference(
            metric=metric,
            level=p.level,
            point=p.point,
            mean=estimate(delta, _strata(boards)),
            differing=int(np.count_nonzero(delta)),
            unpaired=len(p.level_boards.keys() ^ p.baseline_boards.keys()),
            p=p_values[place],
            p_holm=adjusted.get(place, float("nan")),
            improvement=_improvement(p, boards, better),
        )
        for place, (p, boards, delta) in enumerate(zip(pairings, common, deltas, strict=True))
    ]


def _strata(boards: Sequence[tuple[Scalar, ...]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Number the boards by the crossed factors, which stand behind the seed."""
    numbers: dict[tuple[Scalar, ...], int] = {}
    return np.array([numbers.setdefault(board[1:], len(numbers)) for board in boards], dtype=np.int64)


def _improvement(pairing: Pairing, boards: Sequence[tuple[Scalar, ...]], better: Better | None) -> float:
    pairs = [(pairing.level_boards[board], pairing.baseline_boards[board]) for board in boards]
    greater = probability_of_improvement(pairs)
    return 1 - greater if better == "lower" else greater
