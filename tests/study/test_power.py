"""Boards before they are paid for: the plan simulates the test that is run."""

from __future__ import annotations

import numpy as np
import pytest

from quorum.comparison.statistics.flips import FEWEST, about_boards, sign_flip_interval, sign_flip_test
from quorum.study.power import binary, boards_for_half_width, boards_for_power, normal, power, significant


@pytest.mark.parametrize("boards", [3, 6, 10])
def test_many_samples_at_once_get_the_answers_of_the_exact_test(boards: int) -> None:
    random = np.random.default_rng(1)
    samples = np.concatenate([random.normal(1, 1, (60, boards)), random.integers(-1, 2, (60, boards))])
    assert significant(samples).tolist() == [sign_flip_test(row) <= 0.05 for row in samples]


def test_with_fewer_signs_nearly_all_answers_are_the_same() -> None:
    samples = np.random.default_rng(2).normal(0.6, 1, (150, 20))
    assert (significant(samples) != [sign_flip_test(row) <= 0.05 for row in samples]).mean() < 0.04


def test_the_samplers_have_the_mean_and_the_deviation_that_they_say() -> None:
    for sampler in (normal(0.3, 0.6), binary(0.3, 0.6)):
        drawn = sampler(np.random.default_rng(3), (200_000,))
        assert drawn.mean() == pytest.approx(0.3, abs=0.01)
        assert drawn.std() == pytest.approx(0.6, abs=0.01)
    assert set(binary(0.3, 0.6)(np.random.default_rng(3), (99,))) == {-1.0, 0.0, 1.0}


@pytest.mark.parametrize(("effect", "deviation"), [(0.5, 0.1), (0.5, 1.0)])
def test_differences_of_success_cannot_have_any_mean_and_deviation(effect: float, deviation: float) -> None:
    with pytest.raises(ValueError, match="differences of -1, 0 and 1 cannot"):
        binary(effect, deviation)


def test_the_boards_are_the_fewest_with_the_wanted_power_wherever_the_search_begins() -> None:
    found = {boards_for_power(normal(1, 1), about, 0.8) for about in (FEWEST, 19)}
    assert len(found) == 1
    boards = found.pop()
    assert power(normal(1, 1), boards) >= 0.8 > power(normal(1, 1), boards - 1)


def test_an_effect_that_is_never_missed_still_takes_six_boards() -> None:
    assert boards_for_power(normal(50, 1), about_boards(50, 1, 0.9), 0.9) == FEWEST
    assert about_boards(50, 1, 0.9) == FEWEST


def test_of_an_effect_too_small_to_simulate_the_approximation_is_given() -> None:
    about = about_boards(0.001, 1, 0.9)
    assert boards_for_power(normal(0.001, 1), about, 0.9) == about


def test_boards_for_a_half_width_give_intervals_of_that_width() -> None:
    boards = boards_for_half_width(2.0, 0.9)
    ends = [sign_flip_interval(row) for row in np.random.default_rng(4).normal(0, 2, (40, boards))]
    assert np.mean([high - low for low, high in ends]) / 2 == pytest.approx(0.9, rel=0.06)
    assert boards_for_half_width(2.0, 0.9) < boards_for_half_width(2.0, 0.8)
