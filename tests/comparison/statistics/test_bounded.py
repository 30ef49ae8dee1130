"""The interval of shares: against Clopper and Pearson, against drawn weights, and that it gets no better from worse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from quorum.comparison.statistics.bounded import bounded_mean_interval
from quorum.comparison.statistics.intervals import estimate

SHARES = st.lists(st.sampled_from([0.0, 0.1, 1 / 3, 0.5, 2 / 3, 0.99, 1.0]) | st.floats(0, 1), min_size=1, max_size=25)


@pytest.mark.parametrize("runs", [2, 3, 6, 20, 1_000, 100_000])
def test_of_zeros_and_ones_it_is_clopper_and_pearsons(runs: int) -> None:
    for wins in {0, 1, runs // 3, runs - 1, runs}:
        reference = stats.binomtest(wins, runs).proportion_ci(method="exact")
        ours = estimate(np.array([1.0] * wins + [0.0] * (runs - wins)), share=True)
        assert (ours.low, ours.high) == pytest.approx((reference.low, reference.high), abs=1e-10)


@pytest.mark.parametrize("values", [[0.3], [0.2, 0.9], [1.0] * 7 + [0.4, 0.0], list(np.linspace(0.1, 0.8, 30))])
def test_it_ends_at_quantiles_of_randomly_weighted_means(values: list[float]) -> None:
    """The definition, drawn: one observation more at the end of the range, evenly distributed weights."""
    weights = np.random.default_rng(1).dirichlet(np.ones(len(values) + 1), 200_000)
    low = np.quantile(weights @ np.append(values, 0.0), 0.025)
    high = np.quantile(weights @ np.append(values, 1.0), 0.975)
    assert bounded_mean_interval(np.array(values), 0.025) == pytest.approx((low, high), abs=0.003)


@given(SHARES, st.integers(0, 24), st.floats(0, 1))
def test_neither_end_rises_when_a_result_gets_worse(values: list[float], place: int, worse: float) -> None:
    before = np.array(values)
    after = before.copy()
    after[place % len(values)] *= worse
    (low, high), (low_after, high_after) = (bounded_mean_interval(x, 0.025) for x in (before, after))
    assert low_after <= low + 1e-9
    assert high_after <= high + 1e-9


@given(st.integers(2, 40), st.floats(0, 0.999))
def test_an_imperfect_run_makes_the_interval_of_perfect_ones_no_narrower(runs: int, imperfect: float) -> None:
    perfect = estimate(np.ones(runs), share=True)
    flawed = estimate(np.array([1.0] * (runs - 1) + [imperfect]), share=True)
    assert flawed.low < perfect.low
    assert flawed.high - flawed.low > perfect.high - perfect.low - 1e-9


@given(SHARES)
def test_failures_are_as_successes_seen_from_the_other_side(values: list[float]) -> None:
    low, high = bounded_mean_interval(np.array(values), 0.025)
    assert bounded_mean_interval(1 - np.array(values), 0.025) == pytest.approx((1 - high, 1 - low), abs=1e-9)
    assert 0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1


def test_values_that_all_agree_have_an_interval() -> None:
    low, high = bounded_mean_interval(np.full(20, 0.4), 0.025)
    assert low == pytest.approx(0.4 * 0.025 ** (1 / 20))
    assert high == pytest.approx(1 - 0.6 * 0.025 ** (1 / 20))


@pytest.mark.parametrize("tiny", [1e-300, 1e-12, 5e-324])
def test_tiny_values_are_survived(tiny: float) -> None:
    low, high = bounded_mean_interval(np.array([tiny, 0.0, tiny, 1.0]), 0.025)
    assert (low, high) == pytest.approx(bounded_mean_interval(np.array([0.0, 0.0, 0.0, 1.0]), 0.025), abs=1e-8)
    assert math.isfinite(bounded_mean_interval(np.full(9, tiny), 0.025)[0])
