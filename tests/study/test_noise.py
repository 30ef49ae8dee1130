"""The noise floor is a prediction bound for equal arms; a verdict needs a significant effect, above a known floor."""

from __future__ import annotations

import math

import numpy as np
import pytest

from quorum.comparison.statistics.intervals import t_quantile
from quorum.study.noise import NoiseVerdict, noise_floor, noise_verdict


def test_it_is_students_quantile_of_the_root_mean_square_with_half_as_many_degrees_of_freedom_as_boards() -> None:
    noise = np.array([3.0, -3.0] * 10)  # no tails at all: the kurtosis is 1
    assert noise_floor(noise) == pytest.approx(t_quantile(0.975, 10) * 3 / math.sqrt(20))


def test_heavy_tails_and_ties_leave_fewer_degrees_of_freedom() -> None:
    tied = np.array([1.0, -1.0, 1.0] + [0.0] * 9)  # kurtosis 14 / 3 as corrected: 12 / (14 / 3 - 1) = 3.3
    share = (11 / 36 - 1 / 4) / (1 / 3 - 1 / 4)  # between 3 and 4 degrees, by their reciprocals
    quantile = t_quantile(0.975, 4) + share * (t_quantile(0.975, 3) - t_quantile(0.975, 4))
    assert noise_floor(tied) == pytest.approx(quantile * math.sqrt(3 / 12 / 12))


def test_over_many_boards_it_is_that_of_a_normal_mean() -> None:
    noise = np.random.default_rng(2).normal(0, 3, 400)
    assert noise_floor(noise) == pytest.approx(1.97 * np.sqrt((noise**2).mean() / 400), rel=0.02)


@pytest.mark.parametrize("differing", [0, 1])
def test_arms_that_hardly_differ_do_not_bound_it_and_neither_do_five_boards(differing: int) -> None:
    noise = np.zeros(12)
    noise[:differing] = 2.0
    assert math.isnan(noise_floor(noise))
    assert math.isnan(noise_floor(np.ones(5)))
    assert math.isnan(noise_floor(np.array([])))
    noise[differing : differing + 2] = -2.0
    assert noise_floor(noise) > 0


def test_many_studies_at_once_get_the_floors_of_each() -> None:
    noise = np.random.default_rng(3).standard_t(3, (50, 9)) * (np.random.default_rng(4).random((50, 9)) < 0.5)
    np.testing.assert_allclose(noise_floor(noise), [float(noise_floor(row)) for row in noise])


@pytest.mark.parametrize("boards", [6, 12, 40])
@pytest.mark.parametrize("kind", ["normal", "exponential", "lognormal", "ties"])
def test_two_equal_arms_differ_by_more_in_at_most_5_percent_of_cases(kind: str, boards: int) -> None:
    random = np.random.default_rng(5)
    draw = {
        "normal": random.normal,
        "exponential": random.exponential,
        "lognormal": random.lognormal,
        "ties": lambda size: random.integers(0, 2, size) * (random.random(size[1:]) < 0.4),
    }[kind]
    treatment, again, equal = draw(size=(3, 3_000, boards))
    floor = noise_floor(again - treatment)
    beyond = (np.abs((treatment - equal).mean(axis=1)) > floor + 1e-9)[~np.isnan(floor)]
    assert beyond.mean() <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(beyond))


@pytest.mark.parametrize(
    ("mean", "p", "differing", "floor", "verdict"),
    [
        (5.0, 0.01, 8, 1.0, NoiseVerdict.FOUND),
        (-5.0, 0.05, 8, 1.0, NoiseVerdict.FOUND),
        (5.0, 0.051, 8, 1.0, NoiseVerdict.NOT_FOUND),
        (0.5, 0.01, 8, 1.0, NoiseVerdict.NOT_FOUND),
        (5.0, 0.01, 8, math.nan, NoiseVerdict.FOUND),
        (5.0, 0.051, 8, math.nan, NoiseVerdict.NOT_FOUND),
        (5.0, 0.01, 5, 1.0, NoiseVerdict.TOO_FEW),
        (5.0, 0.01, 5, math.nan, NoiseVerdict.TOO_FEW),
    ],
)
def test_an_effect_must_be_significant_and_above_the_floor_if_it_is_known(
    mean: float, p: float, differing: int, floor: float, verdict: NoiseVerdict
) -> None:
    assert noise_verdict(mean, p, differing, floor) is verdict
