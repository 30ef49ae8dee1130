"""The noise floor is a quantile over random signs; an effect must be above it, and significant."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from quorum.study.noise import NoiseVerdict, noise_floor, noise_verdict


@pytest.mark.parametrize("boards", [6, 9])
def test_over_few_boards_all_signs_are_gone_through(boards: int) -> None:
    noise = np.random.default_rng(1).normal(0, 3, boards)
    sizes = [abs(np.mean(noise * signs)) for signs in product((-1, 1), repeat=boards)]
    floor = noise_floor(noise)
    assert np.mean([size > floor + 1e-9 for size in sizes]) <= 0.05
    assert np.mean([size > floor - 1e-6 for size in sizes]) > 0.05


def test_over_many_boards_it_is_that_of_a_normal_mean() -> None:
    noise = np.random.default_rng(2).normal(0, 3, 200)
    assert noise_floor(noise) == pytest.approx(1.96 * np.sqrt((noise**2).mean() / 200), rel=0.03)


def test_the_floor_of_arms_that_never_differ_is_0_and_over_five_boards_it_is_unknown() -> None:
    assert noise_floor(np.zeros(8)) == 0
    assert math.isnan(noise_floor(np.ones(5)))
    assert math.isnan(noise_floor(np.array([])))


@pytest.mark.parametrize(
    ("mean", "p", "differing", "boards", "verdict"),
    [
        (5.0, 0.01, 8, 8, NoiseVerdict.ABOVE),
        (-5.0, 0.05, 8, 8, NoiseVerdict.ABOVE),
        (5.0, 0.051, 8, 8, NoiseVerdict.WITHIN),
        (0.5, 0.01, 8, 8, NoiseVerdict.WITHIN),
        (5.0, 0.01, 5, 8, NoiseVerdict.TOO_FEW),
        (5.0, 0.01, 8, 5, NoiseVerdict.TOO_FEW),
        (5.0, 0.01, 8, 0, NoiseVerdict.TOO_FEW),
    ],
)
def test_an_effect_must_be_significant_and_above_the_floor(
    mean: float, p: float, differing: int, boards: int, verdict: NoiseVerdict
) -> None:
    assert noise_verdict(mean, p, differing, np.ones(boards)) is verdict
