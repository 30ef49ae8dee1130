"""A 95 % interval holds the truth in 95 % of the cases, measured: 2,000 draws each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from quorum.experiments.compare.statistics import estimate

DRAWS = 2_000
Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def normal(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return random.normal(50, 10, shape)


def skewed(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return random.gamma(4, 10, shape)


def capped(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Give steps as they are: skewed, and cut off at a limit."""
    return np.minimum(110, 50 + random.gamma(2, 20, shape))


def shares(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Give completion as it is: few values, most of them 1."""
    return random.choice([0, 1 / 3, 2 / 3, 1], p=[0.05, 0.1, 0.25, 0.6], size=shape)


def coverage(values: np.ndarray, truth: float, statistic: str = "mean", strata: np.ndarray | None = None) -> float:
    found = [estimate(row, strata, statistic) for row in values]
    return float(np.mean([e.low - 1e-9 <= truth <= e.high + 1e-9 for e in found]))


@pytest.mark.parametrize(("draw", "runs"), [(normal, 20), (skewed, 20), (capped, 20), (shares, 30), (normal, 10)])
def test_the_interval_of_the_mean(draw: Draw, runs: int) -> None:
    random = np.random.default_rng(11)
    truth = float(draw(random, (2_000_000,)).mean())
    assert coverage(draw(random, (DRAWS, runs)), truth) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize("draw", [normal, skewed])
def test_the_interval_of_the_interquartile_mean(draw: Draw) -> None:
    random = np.random.default_rng(12)
    truth = float(stats.trim_mean(draw(random, (2_000_000,)), 0.25))
    assert coverage(draw(random, (DRAWS, 20)), truth, "iqm") == pytest.approx(0.95, abs=0.02)


def test_the_interval_of_a_mean_over_strata() -> None:
    random = np.random.default_rng(13)
    strata = np.repeat([0, 1, 2, 3], 5)
    values = skewed(random, (DRAWS, 20)) + 200.0 * strata
    assert coverage(values, 40 + 200 * 1.5, strata=strata) == pytest.approx(0.95, abs=0.02)


def test_the_interval_of_a_paired_difference() -> None:
    """Arms meet the same boards: what the boards do to both is no part of the interval."""
    random = np.random.default_rng(14)
    boards = random.gamma(2, 30, (DRAWS, 20))
    differences = (boards + random.normal(5, 4, boards.shape)) - (boards + random.normal(0, 4, boards.shape))
    assert coverage(differences, 5.0) == pytest.approx(0.95, abs=0.02)
