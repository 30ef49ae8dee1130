"""A board counts once, however many runs meet it."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from quorum.comparison.statistics.intervals import estimate

RUNS = st.lists(st.tuples(st.floats(-9, 9), st.integers(0, 7), st.integers(0, 2)), min_size=1, max_size=30)
"""Value, board and stratum of each run."""


def test_runs_are_averaged_within_their_board() -> None:
    values, boards = np.array([1.0, 3.0, 10.0, 20.0, 5.0]), np.array([0, 0, 1, 1, 2])
    found = estimate(values, boards=boards)
    alone = estimate(np.array([2.0, 15.0, 5.0]))
    assert (found.value, found.low, found.high) == (alone.value, alone.low, alone.high)
    assert (found.runs, found.boards) == (5, 3)


def test_a_stratum_with_more_draws_weighs_no_more() -> None:
    values, strata = np.array([0.0, 0.0, 0.0, 12.0]), np.array([0, 0, 0, 1])
    assert estimate(values, boards=np.zeros(4, dtype=int), strata=strata).value == 6.0


@example([(0.0, 0, 0), (6e-153, 1, 0)], "mean", random.Random(0))  # whose cubes are 0
@given(RUNS, st.sampled_from(["mean", "median"]), st.randoms(use_true_random=False))
def test_the_order_of_runs_and_the_names_of_boards_change_nothing(
    runs: list[tuple[float, int, int]], statistic: str, mixer: random.Random
) -> None:
    def found(rows: list[tuple[float, int, int]], shift: int) -> tuple[float, ...]:
        values, boards, strata = (np.array(column) for column in zip(*rows, strict=True))
        e = estimate(values, statistic, boards=boards + shift, strata=strata)
        return e.value, e.low, e.high, e.runs, e.boards

    mixed = runs[:]
    mixer.shuffle(mixed)
    assert found(mixed, 5) == pytest.approx(found(runs, 0), nan_ok=True, abs=1e-9)


def test_more_runs_on_the_same_boards_do_not_narrow_an_interval() -> None:
    """The runs of a board agree here: eight of each say as much as one."""
    values, boards = np.random.default_rng(2).normal(50, 9, 12), np.arange(12)
    once, often = estimate(values), estimate(np.repeat(values, 8), boards=np.repeat(boards, 8))
    assert (often.low, often.high) == pytest.approx((once.low, once.high))


def test_what_strata_differ_in_is_no_part_of_an_interval_over_boards_that_meet_all_of_them() -> None:
    values = np.random.default_rng(3).normal(0, 1, (12, 2))
    boards, strata = np.repeat(np.arange(12), 2), np.tile([0, 1], 12)
    near, far = (estimate((values + np.array([0, shift])).ravel(), boards=boards, strata=strata) for shift in (0, 1000))
    assert far.high - far.low == pytest.approx(near.high - near.low)
