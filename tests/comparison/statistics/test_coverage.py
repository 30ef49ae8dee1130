"""A 95 % interval holds the truth in 95 % of the cases, measured: 2,000 draws each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from maeil.metrics import METRICS
from quorum.comparison.differences import Pairing, differences
from quorum.comparison.statistics.flips import sign_flip_interval
from quorum.comparison.statistics.intervals import estimate

pytestmark = pytest.mark.claims

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
    found = [estimate(row, statistic, strata=strata) for row in values]
    return float(np.mean([e.low - 1e-9 <= truth <= e.high + 1e-9 for e in found]))


@pytest.mark.parametrize(("draw", "runs"), [(normal, 20), (skewed, 20), (capped, 20), (shares, 30), (normal, 10)])
def test_the_interval_of_the_mean(draw: Draw, runs: int) -> None:
    random = np.random.default_rng(11)
    truth = float(draw(random, (2_000_000,)).mean())
    assert coverage(draw(random, (DRAWS, runs)), truth) == pytest.approx(0.95, abs=0.02)


def stopped(random: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Give steps of a team of which every second run meets the limit."""
    return np.where(random.random(shape) < 0.5, 110, random.uniform(20, 110, shape))


@pytest.mark.parametrize("draw", [capped, stopped])
@pytest.mark.parametrize("runs", [5, 10, 20])
def test_the_interval_of_the_mean_of_steps_with_a_limit(draw: Draw, runs: int) -> None:
    random = np.random.default_rng(19)
    truth = float(draw(random, (2_000_000,)).mean())
    found = [estimate(row, limit=110) for row in draw(random, (DRAWS, runs))]
    assert np.mean([e.low <= truth <= e.high for e in found if e.low < e.high]) == pytest.approx(0.95, abs=0.025)


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


@pytest.mark.parametrize("share", [0.0, 0.4, 0.8])
def test_boards_that_are_met_again_and_again(share: float) -> None:
    """12 boards under 8 combinations of crossed factors: a share of the variance is the board's, in both arms alike."""
    random = np.random.default_rng(15)
    draws, boards, strata = 400, 12, 8
    covered, found_anything, held = [], [], []
    places = np.repeat(np.arange(boards), strata), np.tile(np.arange(strata), boards)
    cells = list(zip(*(place.tolist() for place in places), strict=True))
    for _ in range(draws):
        own = np.sqrt(share) * random.normal(size=(2, boards, 1))
        values = 50 + 10 * (own + np.sqrt(1 - share) * random.normal(size=(2, boards, strata))).reshape(2, -1)
        found = estimate(values[0], boards=places[0], strata=places[1])
        covered.append(found.low <= 50 <= found.high)
        level, baseline = ({cell: [value] for cell, value in zip(cells, arm, strict=True)} for arm in values)
        (difference,) = differences(METRICS["outcome.steps"], [Pairing("a", None, level, baseline)])
        found_anything.append(difference.p <= 0.05)
        held.append(difference.mean.low <= 0 <= difference.mean.high)
    error = 3 * np.sqrt(0.05 * 0.95 / draws)
    assert np.mean(covered) == pytest.approx(0.95, abs=error)
    assert np.mean(found_anything) == pytest.approx(0.05, abs=error)
    assert np.mean(held) == 1 - np.mean(found_anything)


@pytest.mark.parametrize("draw", [shares, lambda random, shape: 1.0 * (random.random(shape) < 0.9)])
@pytest.mark.parametrize("runs", [5, 10, 30])
def test_the_interval_of_shares_is_never_too_narrow(draw: Draw, runs: int) -> None:
    random = np.random.default_rng(16)
    truth = float(draw(random, (2_000_000,)).mean())
    found = [estimate(row, share=True) for row in draw(random, (300, runs))]
    assert np.mean([e.low <= truth <= e.high for e in found]) >= 0.95


def test_the_interval_of_a_median() -> None:
    random = np.random.default_rng(17)
    truth = float(stats.gamma.ppf(0.5, 4, scale=10))
    assert 0.95 <= coverage(skewed(random, (DRAWS, 15)), truth, "median") <= 0.98


def test_the_interval_of_a_rare_difference_of_shares() -> None:
    """Success on nearly every board in both arms: most samples have none or one board that differs."""
    random = np.random.default_rng(18)
    successes = (random.random((2, 400, 10)) < np.array([0.97, 0.9])[:, None, None]).astype(np.float64)
    ends = [sign_flip_interval(row, share=True) for row in successes[0] - successes[1]]
    there = np.array([pair for pair in ends if not np.isnan(pair[0])])
    assert np.mean((there[:, 0] <= 0.07) & (there[:, 1] >= 0.07)) >= 0.95
