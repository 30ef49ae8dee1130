"""How many boards and draws a study needs, before paying for them: simulates the test that will be run.

The normal approximation of a paired test gives the starting point: see `about_boards`. The sign-flip test of that many
boards is then simulated, `_SAMPLES` times, seeded.
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

Sampler = Callable[[np.random.Generator, tuple[int, ...]], Floats]
"""Draws differences of boards with a given shape."""
_SAMPLES = 4_000
_SEED, _SEED_OF_SIGNS = 20_261_126, 20_260_302
_SIGNS = 999
"""Number of signs drawn when many samples are tested at once."""
_BLOCK = 1 << 22
"""Maximum number of sums in memory at once."""
_MOST_BOARDS = 20_000
"""Above this, a size is approximate: a simulation would take minutes, and the approximation is good there."""
_NORMAL = NormalDist()


def normal(effect: float, deviation: float) -> Sampler:
    """Return a sampler of normal differences with this mean and standard deviation."""
    return lambda random, shape: random.normal(effect, deviation, shape)


def binary(effect: float, deviation: float) -> Sampler:
    """Return a sampler of differences of binary outcomes (-1, 0 or 1) with this mean and standard deviation.

    Raises:
        ValueError: no such differences have this mean and deviation.
    """
    differing = deviation**2 + effect**2
    if not abs(effect) <= differing <= 1:
        raise ValueError(f"differences of -1, 0 and 1 cannot have the mean {effect} and the deviation {deviation}")
    chances = [(differing - effect) / 2, 1 - differing, (differing + effect) / 2]
    return lambda random, shape: random.choice([-1.0, 0.0, 1.0], p=chances, size=shape)


def power(differences: Sampler, boards: int) -> float:
    """Return how often the sign-flip test detects such differences over this many boards, to about 0.01."""
    return float(significant(differences(np.random.default_rng(_SEED), (_SAMPLES, boards))).mean())


def boards_for_power(differences: Sampler, about: int, wanted: float) -> int:
    """Return the fewest boards over which the sign-flip test has the wanted power.

    Args:
        differences: draws differences.
        about: starting point, from `about_boards`.
        wanted: power, between 0 and 1.
    """
    if about > _MOST_BOARDS:
        return about
    low, high = FEWEST, max(FEWEST, about)
    while power(differences, high) < wanted:
        low, high = high + 1, high + max(2, high // 4)
    return bisect_left(range(high), True, lo=low, key=lambda boards: power(differences, boards) >= wanted)


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


def significant(samples: Floats) -> NDArray[np.bool_]:
    """Return whether the test finds a difference at 5 %, for many samples at once, shape (samples,).

    It draws fewer signs than `flips.sign_flip_test`, and the same for all samples: simulations of power need thousands.

    Args:
        samples: of paired differences, shape (samples, boards).
    """
    boards = samples.shape[1]
    if 2**boards // 2 <= _SIGNS:
        signs = 1.0 - 2 * (np.arange(2**boards // 2)[:, None] >> np.arange(boards) & 1)  # the last board keeps its sign
    else:
        drawn = np.random.default_rng(_SEED_OF_SIGNS).integers(0, 2, (_SIGNS, boards))
        signs = 1.0 - 2 * np.concatenate([np.zeros((1, boards)), drawn])
    found = np.empty(len(samples), dtype=np.bool_)
    size = max(1, _BLOCK // len(signs))
    for start in range(0, len(samples), size):
        block = samples[start : start + size]
        least = np.abs(block.sum(axis=1)) - 1e-12 * np.abs(block).sum(axis=1)
        found[start : start + size] = (np.abs(block @ signs.T) >= least[:, None]).mean(axis=1) <= LEVEL
    return found
