"""Random signs: against SciPy and exhaustive enumeration; the test and its interval are one method."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from quorum.comparison.statistics.flips import EXACT, sign_flip_interval, sign_flip_test, smallest_p

FLOATS = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))
THIRDS = st.sampled_from([-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3, 1.0])
"""Differences of completion: few values, many of them 0."""


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
        reference = stats.permutation_test(
            (x, y), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
        )
        assert sign_flip_test(x - y) == pytest.approx(reference.pvalue)


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


def test_the_smallest_p_value_is_that_of_equal_signs() -> None:
    for boards in (1, 5, EXACT, EXACT + 1, 40):
        assert sign_flip_test(np.linspace(1, 2, boards)) == smallest_p(boards)


def test_under_the_null_hypothesis_small_p_values_are_as_rare_as_they_say() -> None:
    random = np.random.default_rng(7)
    p_values = [sign_flip_test(random.standard_t(3, 20)) for _ in range(1_000)]
    assert 0.03 <= np.mean(np.array(p_values) <= 0.05) <= 0.07


@given(st.lists(FLOATS, min_size=6, max_size=9, unique=True).map(np.array), st.floats(-0.2, 1.2))
def test_the_interval_is_what_the_test_does_not_reject(differences: np.ndarray, share: float) -> None:
    low, high = sign_flip_interval(differences)
    shift = differences.min() + share * np.ptp(differences)
    assume(min(abs(shift - low), abs(shift - high)) > 1e-9 * (1 + abs(shift)))
    assert (low < shift < high) == (sign_flip_test(differences - shift) > 0.05)


@pytest.mark.parametrize("share", [False, True])
@given(st.lists(THIRDS, min_size=6, max_size=24).map(np.array))
def test_the_interval_of_bounded_differences_stays_within_their_bounds(share: bool, differences: np.ndarray) -> None:
    low, high = sign_flip_interval(differences, share=share)
    assert math.isnan(low) or (low >= -1 and high <= 1)


@pytest.mark.parametrize("share", [False, True])
@given(st.lists(THIRDS, min_size=1, max_size=12) | st.lists(THIRDS, min_size=15, max_size=24))
def test_it_leaves_out_0_exactly_where_the_test_finds_a_difference(share: bool, differences: list[float]) -> None:
    low, high = sign_flip_interval(np.array(differences), share=share)
    if not math.isnan(low):
        assert (not low <= 0 <= high) == (sign_flip_test(np.array(differences)) <= 0.05)
        assert low <= np.mean(differences) + 1e-12
        assert np.mean(differences) - 1e-12 <= high


@pytest.mark.parametrize("share", [False, True])
@given(st.lists(THIRDS, min_size=6, max_size=11), st.integers(0, 10), THIRDS)
def test_neither_end_rises_when_a_board_gets_worse(
    share: bool, differences: list[float], place: int, worse: float
) -> None:
    before = np.array(differences)
    after = before.copy()
    after[place % len(before)] = min(before[place % len(before)], worse)
    (low, high), (low_after, high_after) = (sign_flip_interval(x, share=share) for x in (before, after))
    assume(not math.isnan(low) and not math.isnan(low_after))
    assert low_after <= low + 1e-12
    assert high_after <= high + 1e-12


def test_where_no_board_differs_there_is_no_interval() -> None:
    for boards in (1, 6, 20):
        assert np.isnan(sign_flip_interval(np.zeros(boards), share=True)).all()
        assert np.isnan(sign_flip_interval(np.zeros(boards))).all()


def test_five_boards_reject_nothing_so_they_have_no_interval() -> None:
    differences = np.array([3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    assert np.isnan(sign_flip_interval(differences[:5])).all()
    assert sign_flip_interval(differences) == (3.0, 8.0)


def test_shares_that_differ_alike_on_every_board_keep_a_doubt_and_other_metrics_have_no_interval() -> None:
    low, high = sign_flip_interval(np.ones(10), share=True)
    assert (low, high) == (pytest.approx(2 / 3), 1.0)
    assert np.isnan(sign_flip_interval(np.full(10, 2.0))).all()


@pytest.mark.parametrize("differing", [3, 13])
def test_boards_without_a_difference_count_among_those_over_which_means_are_taken(differing: int) -> None:
    """Compatibility all subsets: numbers of equal boards are not gone through, but stand for their distribution."""
    random = np.random.default_rng(3)
    changed = random.normal(1, 1, differing)
    equal = 18 - differing
    members = np.arange(2**18)[:, None] >> np.arange(18) & 1
    every = (members @ np.append(changed, np.zeros(equal)))[1:] / members.sum(axis=1)[1:]
    found = sign_flip_interval(np.append(changed, np.zeros(equal)))
    assert found == pytest.approx(np.quantile(every, (0.025, 0.975)), abs=0.02)
