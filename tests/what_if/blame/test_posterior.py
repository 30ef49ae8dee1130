"""The posterior is calibrated on cases that are drawn by code of their own, and intervals are the published ones."""

from __future__ import annotations

import numpy as np
import pytest

from quorum.what_if.blame.posterior import ANYWAY, CONCENTRATIONS, HELPS, UNTRIED, Tally, beta, gain, posterior

CASES = 4000


def drawn(rng: np.random.Generator) -> float:
    """Draw trials of five suspects. Return whether the best answer is right; nan if it is not near 0.8."""
    mean, size, anyway = rng.random(), rng.choice(CONCENTRATIONS), rng.beta(*ANYWAY)
    suspects = 5
    prior = [0.6 / suspects] * suspects
    cause = rng.choice(suspects + 1, p=[*prior, 0.4])
    arms = []
    for suspect in range(suspects):
        by_placebo = rng.beta(mean * size, (1 - mean) * size)
        helps = rng.beta(HELPS, 1) if suspect == cause or rng.random() < anyway else 0.0
        corrections, placebos = rng.integers(0, 6, size=2)
        wins = rng.binomial(corrections, 1 - (1 - by_placebo) * (1 - helps))
        arms.append((Tally(int(wins), int(corrections)), Tally(int(rng.binomial(placebos, by_placebo)), int(placebos))))
    found = posterior(arms, prior)
    best = int(np.argmax(found))
    return float(best == cause) if 0.7 <= found[best] < 0.9 else np.nan


def test_of_answers_with_a_probability_of_0_8_four_in_five_are_right() -> None:
    rng = np.random.default_rng(7)
    cases = np.array([drawn(rng) for _ in range(CASES)])
    right = cases[~np.isnan(cases)]
    assert len(right) > 300
    assert np.mean(right) == pytest.approx(0.8, abs=0.05)


FAILS = (Tally(0, 1), UNTRIED)


def test_a_flip_that_placebos_make_as_often_says_little() -> None:
    alone = posterior([(Tally(5, 5), Tally(0, 4)), *[FAILS] * 3], [0.2] * 4)
    same = posterior([(Tally(5, 5), Tally(4, 4)), *[FAILS] * 3], [0.2] * 4)
    assert alone[0] > 0.8
    assert same[0] < alone[0] - 0.3


def test_a_correction_that_saves_the_run_only_once_is_no_cause() -> None:
    once, twice, always = (posterior([(Tally(wins, 5), Tally(0, 4)), *[FAILS] * 3], [0.1] * 4)[0] for wins in (1, 3, 5))
    assert once < 0.1 < twice < 0.8 < always


def test_if_corrections_often_help_anyway_a_flip_says_less() -> None:
    flip = [(Tally(5, 5), Tally(0, 4)), *[FAILS] * 3]
    rarely, often = (posterior(flip, [0.1] * 4, anyway=anyway)[0] for anyway in ((0.02, 0.5), (2.0, 2.0)))
    assert often < 0.5
    assert rarely > 0.8


def test_the_more_turns_the_reference_decides_in_the_same_way_the_more_a_flip_says() -> None:
    few, many = (posterior([(Tally(5, 5), Tally(0, 4)), FAILS], [0.2] * 2, same)[0] for same in (0, 50))
    assert few < many


def test_the_points_of_a_beta_distribution_have_its_mean_and_variance() -> None:
    for a, b in ((0.05, 1.0), (0.5, 4.0), (1.0, 1.0), (2.0, 8.0)):
        points, weights = beta((a, b))
        mean = float(points @ weights)
        assert mean == pytest.approx(a / (a + b), abs=0.003)
        assert float(points**2 @ weights) - mean**2 == pytest.approx(a * b / (a + b) ** 2 / (a + b + 1), abs=0.002)


def test_two_flips_share_the_probability_and_what_was_not_tried_keeps_its_own() -> None:
    flip, untried = (Tally(5, 5), Tally(0, 4)), (UNTRIED, UNTRIED)
    first, second, nobody = posterior([flip, flip], [0.45, 0.45])
    assert first == second == pytest.approx((1 - nobody) / 2)
    assert posterior([untried, untried], [0.3, 0.2]) == pytest.approx([0.3, 0.2, 0.5])
    assert posterior([flip, untried], [0.3, 0.3])[1] > 0


def test_the_interval_of_a_share_is_that_of_wilson_and_of_a_gain_that_of_newcombe() -> None:
    assert Tally(3, 3).interval == pytest.approx((0.4385, 1.0), abs=1e-4)
    assert Tally(5, 10).interval == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert gain(Tally(56, 70), Tally(48, 80)) == pytest.approx((0.0524, 0.3339), abs=1e-4)  # Newcombe, table II (a)
    low, high = gain(Tally(1, 1), Tally(0, 0))
    assert low < 0 < high
