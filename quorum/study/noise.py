"""The noise floor: how much two equal arms differ, and the verdict on an effect.

The same team in other draws differs from itself by chance alone. These differences have the mean 0, so their root mean
square shows how far the mean difference of two equal arms strays over as many boards: it exceeds the **noise floor** in
at most 5 % of cases. The floor is a prediction bound, Student's 97.5 % quantile times that standard error. The quantile
allows for the few boards that show the spread: its degrees of freedom are half of Satterthwaite's (1946, An Approximate
Distribution of Estimates of Variance Components), 2 n / (kurtosis - 1), and at most n / 2. They are fewer the heavier
the tails, and the more boards tie. `benchmarks/verdicts.py` measures the share of cases.

An effect is **found** if its sign-flip test is significant, and its mean difference is greater than the floor. The test
alone bounds the error. The floor asks in addition whether the effect is larger than what draws alone can do. If the
draws cannot bound the floor (of a deterministic team `again` equals the treatment on every board), the verdict rests on
the test, and the findings say so.
"""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np

from quorum.comparison.statistics.flips import FEWEST, LEVEL
from quorum.comparison.statistics.intervals import TAIL, Floats, t_quantile

_FREEDOMS = range(100, 0, -1)
"""Degrees of freedom between which quantiles are interpolated; one board that differs has fewer than one."""


class NoiseVerdict(StrEnum):
    """Whether an effect is significant, and above the noise floor if that is known."""

    FOUND = "found"
    NOT_FOUND = "not found"
    TOO_FEW = "too few boards"


def noise_floor(noise: Floats) -> Floats:
    """Return the size that the mean difference of two equal arms exceeds in at most 5 % of cases, shape (...).

    NaN if it is unknown: over fewer than six boards, and if too few of them differ to show the spread.

    Args:
        noise: differences of two equal arms over the boards, shape (..., boards).
    """
    boards = noise.shape[-1]
    if boards < FEWEST:
        return np.full(noise.shape[:-1], math.nan)
    squares = (noise**2).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        kurtosis = (boards + 2) * (noise**4).sum(axis=-1) / squares**2  # NaN if no board differs
    freedom = boards / np.maximum(kurtosis - 1, 2)
    quantiles = [t_quantile(1 - TAIL, whole) for whole in _FREEDOMS]
    found = np.interp(1 / freedom, [1 / whole for whole in _FREEDOMS], quantiles, right=math.nan)
    return np.asarray(found * np.sqrt(squares) / boards)


def noise_verdict(mean: float, p: float, differing: int, floor: float) -> NoiseVerdict:
    """Judge an effect.

    Args:
        mean: mean of its differences over boards.
        p: p-value of its sign-flip test, corrected for all judged effects.
        differing: number of boards on which its arms differ.
        floor: the noise floor over as many boards with as many draws; NaN if it is unknown.
    """
    if differing < FEWEST:
        return NoiseVerdict.TOO_FEW
    within = abs(mean) <= floor  # never within an unknown floor
    return NoiseVerdict.FOUND if p <= LEVEL and not within else NoiseVerdict.NOT_FOUND
