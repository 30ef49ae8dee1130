"""OpenSimplex noise kernels: the permutation of a seed, exact values at a point, and approximate values on a whole map.

Source: the package `opensimplex`, whose own function computes single values.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt
from opensimplex.constants import GRADIENTS3, NORM_CONSTANT3
from opensimplex.internals import _noise3

from crafter_env.kernels.jit import estimating, inner

NoiseArray = npt.NDArray[np.int64]
FieldArray = npt.NDArray[np.float64]

PERMUTATION: Final = 256
_DIRECTIONS: Final = len(GRADIENTS3) // 3
_MULTIPLIER, _INCREMENT = 6364136223846793005, 1442695040888963407
_SLOPES: Final = GRADIENTS3 / NORM_CONSTANT3
_REACH: Final = math.sqrt(2)
"""Radius within which a lattice vertex contributes."""
FIELD_ERROR: Final = 1.3e-4
"""The largest error of `add_noise` for any seed."""


@inner
def seed_noise(seed: int, noise: NoiseArray) -> None:
    """Compute OpenSimplex's permutation and gradient indices for a seed, as its Python initialisation does."""
    # OpenSimplex shuffles its permutation by a linear congruential generator that relies on wrapping 64-bit integers.
    permutation, gradients, source = noise[0], noise[1], noise[2]
    for i in range(PERMUTATION):
        source[i] = i
    for _ in range(3):
        seed = seed * _MULTIPLIER + _INCREMENT
    for i in range(PERMUTATION - 1, -1, -1):
        seed = seed * _MULTIPLIER + _INCREMENT
        chosen = (seed % (i + 1) + 31) % (i + 1)
        permutation[i] = source[chosen]
        gradients[i] = (permutation[i] % _DIRECTIONS) * 3
        source[chosen] = source[i]


@inner
def noise_at(noise: NoiseArray, x: float, y: float, z: float) -> float:
    """The noise at a point."""
    value: float = _noise3(x, y, z, noise[0], noise[1])
    return value


@estimating
def add_noise(field: FieldArray, noise: NoiseArray, across: float, down: float, z: float, weight: float) -> None:
    """Add the weighted noise at (x * across, y * down, z) to each cell (x, y), to within `FIELD_ERROR`.

    The noise is a sum over the vertices of a skewed lattice, each of which contributes within a sphere. `noise_at`
    finds the vertices of a point and leaves out some with little effect. This function adds each vertex to the points
    it reaches, one column at a time.
    """
    columns, rows = field.shape
    right, bottom = (columns - 1) * across, (rows - 1) * down
    for s in range(math.ceil((z - 3 * _REACH) / 2), math.floor((right + bottom + z + 3 * _REACH) / 2) + 1):
        # The vertex (i, j, k) with i + j + k = s is at (i, j, k) + s / 3.
        skew = s / 3
        for k in range(math.ceil(z - _REACH - skew), math.floor(z + _REACH - skew) + 1):
            dz = z - k - skew
            reach = math.sqrt(2 - dz * dz)
            for i in range(math.ceil(-reach - skew), math.floor(right + reach - skew) + 1):
                j = s - i - k
                u, v = i + skew, j + skew
                first, last = max(0, math.ceil((v - reach) / down)), min(rows, math.floor((v + reach) / down) + 1)
                if first >= last:
                    continue
                gradient = noise[1, (noise[0, (noise[0, i & 255] + j) & 255] + k) & 255]
                slope, above = weight * _SLOPES[gradient + 1], first * down - v
                for x in range(max(0, math.ceil((u - reach) / across)), min(columns, int((u + reach) / across) + 1)):
                    dx = x * across - u
                    rest = reach * reach - dx * dx
                    level = weight * (_SLOPES[gradient] * dx + _SLOPES[gradient + 2] * dz)
                    cells = field[x, first:last]
                    for y in range(last - first):
                        dy = above + np.int32(y) * down
                        felt = max(rest - dy * dy, 0.0)
                        felt *= felt
                        cells[y] += felt * felt * (level + slope * dy)
