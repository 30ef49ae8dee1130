"""The posterior is calibrated on cases that are drawn by code of their own, and intervals are the published ones."""

from __future__ import annotations

import numpy as np
import pytest

from quorum.what_if.blame.posterior import CONCENTRATIONS, HELPS, Tally, gain, posterior

CASES = 2000


def drawn(rng: np.random.Generator, *, exact: bool) -> float:
    """Draw trials of five suspects. Return whether the best answer is right; nan if it is not near 0.8."""
    mean, size = rng.random(), rng.choice(CONCENTRATIONS)
    suspects = 5
    prior = [0.6 / suspects] * suspects
    cause = rng.choice(suspects + 1, p=[*prior, 0.4])
    arms = []
    for suspect in range(suspects):
        by_placebo = rng.beta(mean * size, (1 - mean) * size)
        helps = (1.0 if exact else rng.beta(HELPS, 1)) if suspect == cause else 0.0
        corrections, placebos = (1, rng.integers(0, 5)) if exact else rng.integers(0, 6, size=2)
        wins = rng.binomial(corrections, 1 - (1 - by_placebo) * (1 - helps))
        arms.append((Tally(int(wins), int(corrections)), Tally(int(rng.binomial(placebos, by_placebo)), int(placebos))))
    found = posterior(arms, prior, exact=exact)
    best = int(np.argmax(found))
    return float(best == cause) if 0.7 <= found[best] < 0.9 else np.nan


@pytest.mark.parametrize("exact", [True, False])
def test_of_answers_with_a_probability_of_0_8_four_in_five_are_right(exact: bool) -> None:
    rng = np.random.default_rng(7)
    cases = np.array([drawn(rng, exact=exact) for _ in range(CASES)])
    right = cases[~np.isnan(cases)]
    assert len(right) > 150
    assert np.mean(right) == pytest.approx(0.8, abs=0.05)


def test_a_flip_that_placebos_make_as_often_says_little() -> None:
    others = [(Tally(0, 1), Tally(0, 0))] * 3
    alone = posterior([(Tally(1, 1), Tally(0, 4)), *others], [0.2] * 4, exact=True)
    same = posterior([(Tally(1, 1), Tally(4, 4)), *others], [0.2] * 4, exact=True)
    assert alone[0] > 0.9
    assert same[0] < alone[0] - 0.3
    assert alone[1:4] == [0, 0, 0], "a correction that plays out the same way every time, and fails, is no cause"
    assert posterior([(Tally(0, 1), Tally(0, 0)), *others], [0.2] * 4, exact=False)[0] > 0, "with luck it may be one"


def test_two_flips_share_the_probability_and_what_was_not_tried_keeps_its_own() -> None:
    flip, untried = (Tally(1, 1), Tally(0, 4)), (Tally(0, 0), Tally(0, 0))
    first, second, nobody = posterior([flip, flip], [0.45, 0.45], exact=True)
    assert first == second == pytest.approx((1 - nobody) / 2)
    assert posterior([untried, untried], [0.3, 0.2], exact=True) == pytest.approx([0.3, 0.2, 0.5])
    assert posterior([flip, untried], [0.3, 0.3], exact=True)[1] > 0


def test_the_interval_of_a_share_is_that_of_wilson_and_of_a_gain_that_of_newcombe() -> None:
    assert Tally(3, 3).interval == pytest.approx((0.4385, 1.0), abs=1e-4)
    assert Tally(5, 10).interval == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert gain(Tally(56, 70), Tally(48, 80)) == pytest.approx((0.0524, 0.3339), abs=1e-4)  # Newcombe, table II (a)
    low, high = gain(Tally(1, 1), Tally(0, 0))
    assert low < 0 < high
