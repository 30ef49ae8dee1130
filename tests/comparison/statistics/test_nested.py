"""The interval of a gain over runs with draws nested in them, against the closed form of a balanced mixed model."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from maeil.metrics import METRICS
from quorum.comparison.differences import Cells, Difference, Pairing, differences

GAIN = 5.0


def gain_of(edited: list[np.ndarray], control: list[np.ndarray], metric: str = "outcome.steps") -> Difference:
    """Compute the gain over runs, each with the values of its draws; each run has one instant."""
    sides: list[Cells] = [
        {(run, f"prefix {run}", 5): own.tolist() for run, own in enumerate(side)} for side in (edited, control)
    ]
    (found,) = differences(METRICS[metric], [Pairing("edit", None, *sides)])
    return found


def family(
    random: np.random.Generator, runs: int, draws: int, *, of_runs: float, of_draws: float
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a family of the model y = board + gain x edited + (gain's own part of the run) + (part of the draw)."""
    board = random.normal(50, 20, (runs, 1))
    own = random.normal(GAIN, of_runs, (runs, 1))
    noise = random.normal(0, of_draws, (2, runs, draws))
    return board + own + noise[0], board + noise[1]


def students(edited: np.ndarray, control: np.ndarray) -> tuple[float, float]:
    """Return the interval of the balanced mixed model: its error is the mean square between runs / (runs x draws)."""
    runs, draws = edited.shape
    delta = edited - control
    between = draws * ((delta.mean(axis=1) - delta.mean()) ** 2).sum() / (runs - 1)
    reach = float(stats.t.ppf(0.975, runs - 1)) * np.sqrt(between / (runs * draws))
    return delta.mean() - reach, delta.mean() + reach


@pytest.mark.conformance
@pytest.mark.parametrize(("of_runs", "of_draws"), [(6.0, 6.0), (0.0, 6.0), (6.0, 0.5)])
@pytest.mark.parametrize(("runs", "draws"), [(8, 1), (8, 5), (20, 3)])
def test_the_interval_of_a_gain_holds_it_as_often_as_it_says(
    runs: int, draws: int, of_runs: float, of_draws: float
) -> None:
    random = np.random.default_rng(21)
    samples = 1_000
    held, reference, widths = [], [], []
    for _ in range(samples):
        edited, control = family(random, runs, draws, of_runs=of_runs, of_draws=of_draws)
        mean = gain_of(list(edited), list(control)).mean
        low, high = students(edited, control)
        held.append(mean.low <= GAIN <= mean.high)
        reference.append(low <= GAIN <= high)
        widths.append((mean.high - mean.low) / (high - low))
    error = 3 * np.sqrt(0.05 * 0.95 / samples)
    assert np.mean(held) == pytest.approx(0.95, abs=error)
    assert np.mean(reference) == pytest.approx(0.95, abs=error)
    assert np.mean(widths) == pytest.approx(1, abs=0.1)


@pytest.mark.conformance
def test_runs_with_other_numbers_of_draws_do_not_spoil_the_interval() -> None:
    random = np.random.default_rng(22)
    samples = 1_000
    held = []
    for _ in range(samples):
        edited, control = family(random, 12, 6, of_runs=6, of_draws=6)
        numbers = random.integers(1, 7, (2, 12))
        sides = (
            [row[:number] for row, number in zip(side, own, strict=True)]
            for side, own in zip((edited, control), numbers, strict=True)
        )
        mean = gain_of(*sides).mean
        held.append(mean.low <= GAIN <= mean.high)
    assert np.mean(held) == pytest.approx(0.95, abs=3 * np.sqrt(0.05 * 0.95 / samples))


@pytest.mark.conformance
def test_the_interval_of_the_gain_of_a_share_is_never_too_narrow() -> None:
    """Success with the chance of a run: the edit lifts it from 0.5 to 0.7 on the mean."""
    random = np.random.default_rng(23)
    samples, runs, draws = 500, 10, 4
    held = []
    for _ in range(samples):
        chance = random.uniform(0.3, 0.7, runs)
        edited = random.random((draws, runs)) < np.minimum(1, chance + 0.2)
        control = random.random((draws, runs)) < chance
        mean = gain_of(list(1.0 * edited.T), list(1.0 * control.T), "outcome.success").mean
        held.append(bool(mean.low <= 0.2 <= mean.high))
        assert not mean.low < -1
        assert not mean.high > 1
    assert np.mean(held) >= 0.95


def test_draws_counted_as_runs_would_make_the_interval_too_narrow() -> None:
    """Where runs differ in what they gain, draws of one run say the same again: the interval is over runs."""
    random = np.random.default_rng(24)
    edited, control = family(random, 10, 8, of_runs=10, of_draws=1)
    mean = gain_of(list(edited), list(control)).mean
    low, high = students(edited, control)
    single = gain_of([np.array([v]) for v in edited.ravel()], [np.array([v]) for v in control.ravel()]).mean
    assert (mean.high - mean.low) / (high - low) == pytest.approx(1, abs=0.15)
    assert mean.high - mean.low > 2 * (single.high - single.low)
