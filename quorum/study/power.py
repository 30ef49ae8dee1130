"""How many boards a study needs, before paying for them: simulates the verdict that the study will reach.

A simulated study draws the differences of the effect, and those of the treatment's other draws, from which it gets its
noise floor. The effect is found if the sign-flip test is significant after the study's correction, and the mean is
above the floor. What a pilot leaves open is drawn as well, once for each simulated study, so that the power is the mean
over all effects that are compatible with the pilot (assurance: O'Hagan, Stevens and Campbell 2005).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from quorum.comparison.statistics.flips import FEWEST, LEVEL
from quorum.comparison.statistics.intervals import TAIL, Floats, t_quantile
from quorum.study.noise import noise_floor

Sampler = Callable[[np.random.Generator, int, int], tuple[Floats, Floats]]
"""Draws studies: differences of the effect, and of the treatment's other draws, each shape (studies, boards)."""
_SAMPLES = 4_000
_SEED, _SEED_OF_SIGNS = 20_261_126, 20_260_302
_SIGNS = 1_999
"""Number of signs drawn when many samples are tested at once."""
_MANY = 200
"""Above this number of boards, no signs are drawn."""
MOST_BOARDS = 2_000
"""Most boards that are simulated."""
_NORMAL = NormalDist()


def binary(random: np.random.Generator, studies: int, boards: int, effect: Floats | float, variance: Floats) -> Floats:
    """Draw differences of binary outcomes (-1, 0 or 1) with this mean and variance, or the nearest ones.

    Args:
        random: draws them.
        studies: number of studies.
        boards: number of boards.
        effect: shape (studies, 1) or ().
        variance: the same shape.
    """
    mean = np.clip(effect, -1, 1)
    differing = np.clip(variance + mean**2, np.abs(mean), 1)
    place = random.random((studies, boards))
    return np.asarray((place < (differing + mean) / 2).astype(np.float64) - (place > 1 - (differing - mean) / 2))


def power(studies: Sampler, boards: int, tests: int = 1) -> float:
    """Return how often a study of this many boards finds the effect, to about 0.01.

    Args:
        studies: draws studies.
        boards: number of boards.
        tests: number of tests by which Holm's method multiplies the p-value of the effect.
    """
    differences, noise = studies(np.random.default_rng(_SEED), _SAMPLES, boards)
    within = np.abs(differences.mean(axis=1)) <= noise_floor(noise)  # never within an unknown floor
    return float((significant(differences, LEVEL / tests) & ~within).mean())


def boards_for_power(studies: Sampler, about: int, wanted: float, tests: int = 1) -> int | None:
    """Return the fewest boards with which a study finds the effect in the wanted share of cases.

    Args:
        studies: draws studies.
        about: starting point, from `about_boards`.
        wanted: power, between 0 and 1.
        tests: number of tests by which Holm's method multiplies the p-value of the effect.

    Returns:
        None if `MOST_BOARDS` do not suffice.
    """
    low, high = FEWEST, min(max(FEWEST, about), MOST_BOARDS)
    while power(studies, high, tests) < wanted:
        if high == MOST_BOARDS:
            return None
        low, high = high + 1, min(high + max(2, high // 2), MOST_BOARDS)
    return bisect_left(range(high), True, lo=low, key=lambda boards: power(studies, boards, tests) >= wanted)


def boards_for_half_width(deviation: float, wanted: float) -> int:
    """Return the fewest boards whose interval of a difference has on average at most this half-width.

    Uses Student's interval, which is about as wide as that of the sign-flip test.

    Args:
        deviation: standard deviation of the differences over boards.
        wanted: half the width of the interval, above 0.
    """
    boards = max(FEWEST, math.floor((_NORMAL.inv_cdf(1 - TAIL) * deviation / wanted) ** 2))
    while t_quantile(1 - TAIL, boards - 1) * deviation / math.sqrt(boards) > wanted:
        boards += 1
    return boards


def significant(samples: Floats, level: float = LEVEL) -> NDArray[np.bool_]:
    """Return whether the sign-flip test finds a difference, for many samples at once, shape (samples,).

    It draws fewer signs than `flips.sign_flip_test`, and the same for all samples: simulations of power need thousands.
    Over many boards, the sums over all signs are as good as normal.

    Args:
        samples: of paired differences, shape (samples, boards).
        level: the greatest significant p-value.
    """
    boards = samples.shape[1]
    least = np.abs(samples.sum(axis=1)) - 1e-12 * np.abs(samples).sum(axis=1)
    if boards > _MANY:
        return np.asarray(least > _NORMAL.inv_cdf(1 - level / 2) * np.sqrt((samples**2).sum(axis=1)))
    if 2**boards // 2 <= _SIGNS:
        signs = 1.0 - 2 * (np.arange(2**boards // 2)[:, None] >> np.arange(boards) & 1)  # the last board keeps its sign
    else:
        drawn = np.random.default_rng(_SEED_OF_SIGNS).integers(0, 2, (_SIGNS, boards))
        signs = 1.0 - 2 * np.concatenate([np.zeros((1, boards)), drawn])
    counts = [np.count_nonzero(np.abs(row @ signs.T) >= own) for row, own in zip(samples, least, strict=True)]
    return np.asarray(np.array(counts) <= level * len(signs))
