"""The noise floor: how much two equal arms differ.

The same team in other draws differs from itself by chance alone. With random signs, the mean of these differences
exceeds the noise floor in 5 % of cases. An effect is **above** it if the mean difference is greater and the sign-flip
test is significant. The first condition asks whether it exceeds what draws alone can do, the second whether it holds
over boards.
"""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np

from quorum.comparison.statistics.flips import FEWEST, LEVEL, random_means
from quorum.comparison.statistics.intervals import Floats


class NoiseVerdict(StrEnum):
    """Whether an effect is above the noise floor."""

    ABOVE = "above"
    WITHIN = "within"
    TOO_FEW = "too few boards"


def noise_floor(noise: Floats) -> float:
    """Return the size that the mean difference of two equal arms exceeds in at most 5 % of cases.

    NaN over fewer than six boards, for which there is no such size.

    Args:
        noise: differences of two equal arms, one per board, shape (boards,).
    """
    if len(noise) < FEWEST:
        return math.nan
    sizes = np.sort(np.abs(random_means(noise)))
    return float(sizes[math.ceil((1 - LEVEL) * len(sizes)) - 1])


def noise_verdict(mean: float, p: float, differing: int, noise: Floats) -> NoiseVerdict:
    """Judge an effect.

    Args:
        mean: mean of its differences over boards.
        p: p-value of its sign-flip test, corrected for all judged effects.
        differing: number of boards on which its arms differ.
        noise: differences of two equal arms, over as many boards with as many draws, shape (boards,).
    """
    floor = noise_floor(noise)
    if differing < FEWEST or math.isnan(floor):
        return NoiseVerdict.TOO_FEW
    return NoiseVerdict.ABOVE if p <= LEVEL and abs(mean) > floor else NoiseVerdict.WITHIN
