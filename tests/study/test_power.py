"""Boards before they are paid for: the plan simulates the verdict that is reached."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from quorum.comparison.statistics.flips import FEWEST, about_boards, sign_flip_interval, sign_flip_test
from quorum.comparison.statistics.intervals import Floats
from quorum.study.noise import NoiseVerdict, noise_floor, noise_verdict
from quorum.study.planning import Expected
from quorum.study.power import (
    MOST_BOARDS,
    binary,
    boards_for_half_width,
    boards_for_power,
    power,
    significant,
)
from quorum.study.question import load_question

TOTAL = load_question("talk").effects[0]


def sure(effect: float, deviation: float, noise: float = 0.0) -> Callable[..., tuple[Floats, Floats]]:
    """Return a sampler of studies of a known effect; without noise, their verdict rests on the test alone."""

    def studies(random: np.random.Generator, studies: int, boards: int) -> tuple[Floats, Floats]:
        shape = studies, boards
        return random.normal(effect, deviation, shape), random.normal(0.0, noise, shape)

    return studies


@pytest.mark.parametrize("boards", [3, 6, 10])
def test_many_samples_at_once_get_the_answers_of_the_exact_test(boards: int) -> None:
    random = np.random.default_rng(1)
    samples = np.concatenate([random.normal(1, 1, (60, boards)), random.integers(-1, 2, (60, boards))])
    assert significant(samples).tolist() == [sign_flip_test(row) <= 0.05 for row in samples]


@pytest.mark.parametrize(("boards", "effect"), [(13, 0.8), (20, 0.6), (200, 0.15)])
@pytest.mark.parametrize("level", [0.05, 0.05 / 7])
def test_over_more_boards_nearly_all_answers_are_the_same(boards: int, effect: float, level: float) -> None:
    random = np.random.default_rng(2)
    ties = random.choice([-1, 0, 1], (150, boards), p=[0.1, 0.4, 0.5])
    for samples in (random.normal(effect, 1, (150, boards)), ties):
        found, exact = significant(samples, level), [sign_flip_test(row) <= level for row in samples]
        assert (found != exact).mean() < 0.08
        assert found.mean() == pytest.approx(np.mean(exact), abs=0.04)


def test_binary_differences_have_the_mean_and_the_variance_that_they_should() -> None:
    drawn = binary(np.random.default_rng(3), 1, 200_000, 0.3, np.array(0.36))
    assert drawn.mean() == pytest.approx(0.3, abs=0.01)
    assert drawn.std() == pytest.approx(0.6, abs=0.01)
    assert set(drawn[0]) == {-1.0, 0.0, 1.0}


def test_binary_differences_that_cannot_be_are_the_nearest_that_can() -> None:
    means = np.array([[0.5], [2.0], [0.1], [-0.2]])
    drawn = binary(np.random.default_rng(3), 4, 50_000, means, np.full((4, 1), 0.01))
    assert drawn.mean(axis=1) == pytest.approx([0.5, 1.0, 0.1, -0.2], abs=0.01)


def test_power_is_that_of_the_verdict() -> None:
    """The verdicts of studies one by one, with the exact test and p corrected for seven tests."""
    found = []
    for draw in range(400):
        random = np.random.default_rng([6, draw])
        differences, noise = sure(1.1, 1.0, 1.0)(random, 1, 14)
        p = min(1.0, 7 * sign_flip_test(differences[0]))
        floor = float(noise_floor(noise[0]))
        found.append(noise_verdict(float(differences.mean()), p, 14, floor) is NoiseVerdict.FOUND)
    assert power(sure(1.1, 1.0, 1.0), 14, tests=7) == pytest.approx(np.mean(found), abs=0.07)
    assert power(sure(1.1, 1.0, 1.0), 14) > power(sure(1.1, 1.0, 1.0), 14, tests=7)
    assert power(sure(1.1, 1.0), 14) > power(sure(1.1, 1.0, 2.0), 14)


def test_the_boards_are_the_fewest_with_the_wanted_power_wherever_the_search_begins() -> None:
    found = {boards_for_power(sure(1, 1), about, 0.8) for about in (FEWEST, 19)}
    (boards,) = found
    assert boards is not None
    assert power(sure(1, 1), boards) >= 0.8 > power(sure(1, 1), boards - 1)


def test_an_effect_that_is_never_missed_still_takes_six_boards_and_more_with_a_correction() -> None:
    assert boards_for_power(sure(50, 1), about_boards(50, 1, 0.9), 0.9) == FEWEST
    assert boards_for_power(sure(50, 1), FEWEST, 0.9, tests=7) == 9  # 7 * 2 / 2**9 is at most 0.05
    assert about_boards(50, 1, 0.9) == FEWEST


def test_of_an_effect_too_small_to_simulate_there_is_no_number_of_boards() -> None:
    assert boards_for_power(sure(0.01, 1), MOST_BOARDS, 0.9) is None


@pytest.mark.parametrize(("number", "correlation"), [(0, -0.5), (1, 0.0)])
def test_what_is_stated_is_known_and_all_its_deviation_is_that_of_draws(number: int, correlation: float) -> None:
    """The treatment's draws are part of the effect of talk, and of the noise; not of the effect of turns."""
    stated = Expected(load_question("talk").effects[number], 3.0, 2.0)
    differences, noise = stated.studies(2, yes_or_no=False)(np.random.default_rng(1), 2_000, 40)
    assert differences.mean() == pytest.approx(3, abs=0.05)
    assert differences.std() == pytest.approx(2, abs=0.05)
    assert noise.std() == pytest.approx(2, abs=0.05)
    assert np.corrcoef(differences.ravel(), noise.ravel())[0, 1] == pytest.approx(correlation, abs=0.02)


def test_what_a_pilot_shows_is_as_uncertain_as_it_is_small() -> None:
    """Means of studies vary as the pilot's own mean does, by Student's t; more draws leave less noise."""
    pilot = Expected(TOTAL, 3.0, 2.0, 1.0, boards=8)
    differences, noise = pilot.studies(1, yes_or_no=False)(np.random.default_rng(1), 4_000, 200)
    spread = pilot.deviation(2) / np.sqrt(8) * np.sqrt(7 / 5)  # the standard deviation of Student's t is sqrt(7 / 5)
    assert differences.mean() == pytest.approx(3, abs=0.06)
    assert differences.mean(axis=1).std() == pytest.approx(spread, rel=0.08)
    assert np.median(noise.std(axis=1)) == pytest.approx(1, rel=0.06)
    _, fourth = pilot.studies(4, yes_or_no=False)(np.random.default_rng(1), 4_000, 200)
    assert np.median(fourth.std(axis=1)) == pytest.approx(0.5, rel=0.06)


def test_a_pilot_takes_more_boards_than_the_same_effect_stated() -> None:
    stated, pilot = (Expected(TOTAL, 1.0, 0.6, 0.8, boards).studies(1, yes_or_no=False) for boards in (0, 8))
    known, uncertain = (boards_for_power(one, 10, 0.9) for one in (stated, pilot))
    assert known is not None
    assert uncertain is not None
    assert uncertain > known


def test_boards_for_a_half_width_give_intervals_of_that_width() -> None:
    boards = boards_for_half_width(2.0, 0.9)
    ends = [sign_flip_interval(row) for row in np.random.default_rng(4).normal(0, 2, (40, boards))]
    assert np.mean([high - low for low, high in ends]) / 2 == pytest.approx(0.9, rel=0.06)
    assert boards_for_half_width(2.0, 0.9) < boards_for_half_width(2.0, 0.8)
