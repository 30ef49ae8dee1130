"""Statistics against independent computations: SciPy, exhaustive enumeration, hand-made cases."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from quorum.comparison.statistics.flips import sign_flip_interval
from quorum.comparison.statistics.intervals import (
    STATISTICS,
    _leave_one_out,
    estimate,
    interquartile_mean,
    share_greater,
    t_cdf,
    t_quantile,
)

FLOATS = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))
SAMPLES = st.lists(FLOATS, min_size=1, max_size=25).map(np.array)


@pytest.mark.claims
def test_memory_grows_with_the_values_and_not_with_their_square() -> None:
    """10,000 values took 0.8 GB in the jackknife, and as much in drawn indices and values."""
    values = np.random.default_rng(1).random(10_000)
    tracemalloc.start()
    for statistic in STATISTICS:
        estimate(values, statistic)
    estimate(values, share=True)
    sign_flip_interval(values - 0.5, share=True)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 50e6


@pytest.mark.parametrize("boards", [2, 5, 9, 30])
def test_without_skewness_the_interval_of_a_mean_is_students(boards: int) -> None:
    half = np.random.default_rng(boards).normal(0, 3, boards)
    values = 7 + np.concatenate([half, -half])
    reference = stats.ttest_1samp(values, 0).confidence_interval()
    found = estimate(values)
    assert (found.low, found.high) == pytest.approx((reference.low, reference.high))


@given(st.lists(st.integers(0, 150), min_size=2, max_size=25).map(np.array), st.integers(1, 5))
def test_the_interval_of_a_mean_with_a_limit_stays_within_its_bounds(values: np.ndarray, strata: int) -> None:
    found = estimate(values.astype(float), strata=np.arange(len(values)) % strata, limit=150)
    if not math.isnan(found.low):
        assert 0 <= found.low < found.value < found.high <= 150


def test_the_interval_of_a_mean_with_a_limit_is_students_on_the_scale_of_log_odds() -> None:
    values = np.array([150, 150, 150, 150, 25.0])
    middle, half = math.log(125 / 25), 2.7764451 * 25 / (125 / 150 * 25)
    found = estimate(values, limit=150)
    ends = [150 / (1 + math.exp(-end)) for end in (middle - half, middle + half)]
    assert (found.low, found.high) == pytest.approx(ends)


@given(st.lists(FLOATS, min_size=6, max_size=30).map(np.array))
def test_the_interval_of_a_median_is_scipys_quantile_test(values: np.ndarray) -> None:
    reference = stats.quantile_test(values).confidence_interval()
    found = estimate(values, "median")
    if np.ptp(values):
        assert (found.low, found.high) == (reference.low, reference.high)


@given(st.lists(FLOATS, min_size=2, max_size=25).map(np.array))
def test_the_jackknife_of_the_interquartile_mean_leaves_out_one_value_each_time(values: np.ndarray) -> None:
    expected = [float(interquartile_mean(np.delete(values, place))) for place in range(len(values))]
    assert _leave_one_out(values) == pytest.approx(expected, abs=1e-9)


@given(SAMPLES)
def test_the_interquartile_mean_is_scipys_trimmed_mean(values: np.ndarray) -> None:
    assert float(interquartile_mean(values)) == pytest.approx(stats.trim_mean(values, 0.25), abs=1e-9)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 19, 60])
def test_students_distribution_is_scipys(freedom: int) -> None:
    for t in (-5.0, -0.3, 0.0, 1.0, 2.5, 40.0):
        assert t_cdf(t, freedom) == pytest.approx(stats.t.cdf(t, freedom), abs=1e-12)
    for share in (0.001, 0.025, 0.3, 0.5, 0.975):
        assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-9, abs=1e-11)


@given(st.lists(st.tuples(SAMPLES, SAMPLES), min_size=1, max_size=4))
def test_the_probability_of_improvement_is_mann_whitneys_statistic(boards: list[tuple[np.ndarray, np.ndarray]]) -> None:
    shares = [stats.mannwhitneyu(x, y).statistic / (len(x) * len(y)) for x, y in boards]
    assert np.mean([share_greater(x, y) for x, y in boards]) == pytest.approx(np.mean(shares))


def test_the_bootstrap_of_one_stratum_comes_close_to_scipys() -> None:
    values = np.random.default_rng(8).gamma(3, 10, 400)
    reference = stats.bootstrap((values,), np.mean, method="BCa", rng=np.random.default_rng(9)).confidence_interval
    ours = estimate(values)
    width = reference.high - reference.low
    assert abs(ours.low - reference.low) < 0.06 * width
    assert abs(ours.high - reference.high) < 0.06 * width


def test_strata_take_their_differences_out_of_the_interval() -> None:
    random = np.random.default_rng(10)
    strata = np.repeat([0, 1, 2], 20)
    values = random.normal(0, 1, 60) + 100.0 * strata
    within, ignored = estimate(values, strata=strata), estimate(values)
    expected = 2 * stats.norm.ppf(0.975) * math.sqrt(sum(values[strata == k].var(ddof=1) / 20 for k in range(3))) / 3
    assert within.high - within.low == pytest.approx(expected, rel=0.1)
    assert ignored.high - ignored.low > 20 * expected


def test_the_order_of_runs_changes_nothing_between_strata() -> None:
    values, strata = np.array([1.0, 5.0, 2.0, 6.0]), np.array([0, 1, 0, 1])
    order = [0, 2, 1, 3]
    assert estimate(values, strata=strata) == estimate(values[order], strata=strata[order])


def test_strata_of_single_runs_are_taken_as_one() -> None:
    values = np.array([1.0, 4.0, 2.0])
    assert estimate(values, strata=np.array([0, 1, 2])) == estimate(values)


def test_values_that_agree_and_are_no_shares_have_none() -> None:
    assert math.isnan(estimate(np.zeros(6)).low)
    assert math.isnan(estimate(np.ones(6), "iqm").high)
    assert math.isnan(estimate(np.array([0.1 + 0.2, 0.3])).low), "they differ by rounding only"


def test_no_run_and_one_run_have_no_interval() -> None:
    assert math.isnan(estimate(np.array([])).value)
    single = estimate(np.array([3.0]))
    assert (single.value, single.runs) == (3.0, 1)
    assert math.isnan(single.low)


@given(st.lists(FLOATS, min_size=2, max_size=12).map(np.array), st.sampled_from(["median", "iqm"]))
def test_an_interval_of_order_statistics_lies_in_the_range_of_the_values(values: np.ndarray, statistic: str) -> None:
    found = estimate(values, statistic)
    if not math.isnan(found.low):
        assert values.min() - 1e-9 <= found.low <= found.high <= values.max() + 1e-9
    assert repr(estimate(values, statistic)) == repr(found)


@pytest.mark.parametrize("size", [2, 3, 5])
def test_extreme_skew_of_few_runs_is_survived(size: int) -> None:
    found = estimate(np.array([0.0] * (size - 1) + [1e9]))
    assert found.low <= found.value <= found.high
