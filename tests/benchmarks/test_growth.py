"""Power laws of n."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.growth import power_law

SIZES = [2, 4, 8, 16, 32, 64, 128, 256]


def test_an_exact_power_law_is_found() -> None:
    fit = power_law(SIZES, [2.72 * n**1.724 for n in SIZES])
    assert fit is not None
    assert (fit.factor.value, fit.exponent.value, fit.explained) == pytest.approx((2.72, 1.724, 1))
    assert fit.exponent.high - fit.exponent.low == pytest.approx(0, abs=1e-6)


def test_two_sizes_say_nothing_of_how_it_grows() -> None:
    assert power_law([1, 2], [1.0, 2.0]) is None


def test_the_intervals_hold_the_truth_in_95_percent() -> None:
    random = np.random.default_rng(0)
    noise = random.normal(0, 0.2, (2000, len(SIZES)))
    fits = [fit for own in noise if (fit := power_law(SIZES, 3 * np.array(SIZES) ** 0.5 * np.exp(own))) is not None]
    for truth, found in ((0.5, [fit.exponent for fit in fits]), (3, [fit.factor for fit in fits])):
        held = np.mean([one.low <= truth <= one.high for one in found])
        assert held == pytest.approx(0.95, abs=0.015)
