"""Statistics against independent computations: SciPy, exhaustive enumeration, hand-made cases."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from quorum.experiments.compare.statistics import (
    estimate,
    holm,
    interquartile_mean,
    probability_of_improvement,
    sign_flip_test,
)
from quorum.experiments.compare.statistics.student import t_cdf, t_quantile
from quorum.experiments.compare.statistics.testing import EXACT

FLOATS = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))
SAMPLES = st.lists(FLOATS, min_size=1, max_size=25).map(np.array)


@given(SAMPLES)
def test_the_interquartile_mean_is_scipys_trimmed_mean(values: np.ndarray) -> None:
    assert float(interquartile_mean(values)) == pytest.approx(stats.trim_mean(values, 0.25), abs=1e-9)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 19, 60])
def test_students_distribution_is_scipys(freedom: int) -> None:
    for t in (-5.0, -0.3, 0.0, 1.0, 2.5, 40.0):
        assert t_cdf(t, freedom) == pytest.approx(stats.t.cdf(t, freedom), abs=1e-12)
    for share in (0.001, 0.025, 0.3, 0.5, 0.975):
        assert t_quantile(share, freedom) == pytest.approx(stats.t.ppf(share, freedom), rel=1e-9, abs=1e-11)


@given(st.lists(FLOATS, min_size=1, max_size=9).map(np.array))
def test_the_exact_sign_flip_test_goes_through_every_pattern(differences: np.ndarray) -> None:
    observed = abs(differences.sum())
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in product((-1, 1), repeat=len(differences))]  # fmt: skip
    expected = np.mean([value >= observed - 1e-6 for value in sums])
    assert sign_flip_test(differences) == pytest.approx(expected)


def test_the_sign_flip_test_is_scipys_permutation_test() -> None:
    random = np.random.default_rng(5)
    for size in (6, 11):
        x, y = random.normal(0.4, 1, size), random.normal(0, 1, size)
        theirs = stats.permutation_test(
            (x, y), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
        )
        assert sign_flip_test(x - y) == pytest.approx(theirs.pvalue)


def test_drawn_permutations_come_close_to_the_exact_test() -> None:
    random = np.random.default_rng(6)
    differences = random.normal(0.5, 1, EXACT + 4)
    signs = np.array(list(product((-1, 1), repeat=len(differences))), dtype=np.int8)
    exact = np.mean(np.abs(signs @ differences) >= abs(differences.sum()) - 1e-9)
    assert sign_flip_test(differences) == pytest.approx(exact, abs=0.006)


def test_a_p_value_is_never_0_and_no_difference_is_1() -> None:
    assert sign_flip_test(np.ones(200)) == 1 / 20_000
    assert sign_flip_test(np.zeros(5)) == 1.0
    assert sign_flip_test(np.array([0.0, 0.0, 3.0, 2.0])) == 0.5


def test_under_the_null_hypothesis_small_p_values_are_as_rare_as_they_say() -> None:
    random = np.random.default_rng(7)
    p_values = [sign_flip_test(random.standard_t(3, 20)) for _ in range(1_000)]
    assert 0.03 <= np.mean(np.array(p_values) <= 0.05) <= 0.07


def test_holm_on_a_hand_made_family() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.5, 0.9]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.5))
def test_holm_rejects_what_the_step_down_procedure_rejects(p_values: list[float], level: float) -> None:
    rejected = set()
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        if (len(p_values) - rank) * p_values[place] > level:
            break
        rejected.add(place)
    assert {place for place, p in enumerate(holm(p_values)) if p <= level} == rejected


@given(st.lists(st.tuples(SAMPLES, SAMPLES), min_size=1, max_size=4))
@settings(max_examples=40)
def test_the_probability_of_improvement_is_mann_whitneys_statistic(boards: list[tuple[np.ndarray, np.ndarray]]) -> None:
    shares = [stats.mannwhitneyu(x, y).statistic / (len(x) * len(y)) for x, y in boards]
    assert probability_of_improvement(boards) == pytest.approx(np.mean(shares))


def test_the_bootstrap_of_one_stratum_comes_close_to_scipys() -> None:
    values = np.random.default_rng(8).gamma(3, 10, 400)
    theirs = stats.bootstrap((values,), np.mean, method="BCa", rng=np.random.default_rng(9)).confidence_interval
    ours = estimate(values)
    width = theirs.high - theirs.low
    assert abs(ours.low - theirs.low) < 0.06 * width
    assert abs(ours.high - theirs.high) < 0.06 * width


def test_strata_take_their_differences_out_of_the_interval() -> None:
    random = np.random.default_rng(10)
    strata = np.repeat([0, 1, 2], 20)
    values = random.normal(0, 1, 60) + 100.0 * strata
    within, ignored = estimate(values, strata), estimate(values)
    expected = 2 * stats.norm.ppf(0.975) * math.sqrt(sum(values[strata == k].var(ddof=1) / 20 for k in range(3))) / 3
    assert within.high - within.low == pytest.approx(expected, rel=0.1)
    assert ignored.high - ignored.low > 20 * expected


def test_the_order_of_runs_changes_nothing_between_strata() -> None:
    values, strata = np.array([1.0, 5.0, 2.0, 6.0]), np.array([0, 1, 0, 1])
    assert estimate(values, strata) == estimate(values[[0, 2, 1, 3]], strata[[0, 2, 1, 3]])


def test_strata_of_single_runs_are_taken_as_one() -> None:
    values = np.array([1.0, 4.0, 2.0])
    assert estimate(values, np.array([0, 1, 2])) == estimate(values)


@pytest.mark.parametrize(("wins", "runs"), [(0, 6), (6, 6), (17, 20), (1, 1000)])
def test_a_share_has_wilsons_interval(wins: int, runs: int) -> None:
    values = np.array([1.0] * wins + [0.0] * (runs - wins))
    theirs = stats.binomtest(wins, runs).proportion_ci(method="wilson")
    ours = estimate(values, share=True)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_what_is_no_share_has_not() -> None:
    assert (estimate(np.zeros(6)).low, estimate(np.zeros(6)).high) == (0.0, 0.0)


def test_no_run_and_one_run_have_no_interval() -> None:
    assert math.isnan(estimate(np.array([])).value)
    single = estimate(np.array([3.0]))
    assert (single.value, single.runs) == (3.0, 1)
    assert math.isnan(single.low)


@given(st.lists(FLOATS, min_size=2, max_size=12).map(np.array), st.sampled_from(["mean", "median", "iqm"]))
@settings(max_examples=60, deadline=None)
def test_an_interval_lies_in_the_range_of_the_values(values: np.ndarray, statistic: str) -> None:
    found = estimate(values, None, statistic)
    assert values.min() - 1e-9 <= found.low <= found.high <= values.max() + 1e-9
    assert estimate(values, None, statistic) == found


@pytest.mark.parametrize("size", [2, 3, 5])
def test_extreme_skew_of_few_runs_is_survived(size: int) -> None:
    found = estimate(np.array([0.0] * (size - 1) + [1e9]))
    assert found.low <= found.value <= found.high
