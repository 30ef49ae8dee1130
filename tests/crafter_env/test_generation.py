"""The terrain is decided by estimates of OpenSimplex's noise, which are never farther off than their margin."""

import math
from types import FunctionType

import numpy as np
import pytest
from opensimplex import OpenSimplex, internals
from opensimplex.constants import GRADIENTS3, NORM_CONSTANT3

from crafter_env import CrafterEnv
from crafter_env.kernels import generation
from crafter_env.kernels.noise import FIELD_ERROR
from crafter_env.state import world_seed

SUMS = 3
"""The first fields are sums of several noises; each of the others is one noise."""


@pytest.mark.parametrize("seed", range(3))
def test_estimates_of_noise_are_near_that_of_opensimplex(seed):
    env = CrafterEnv(1, profile="crafter")
    env.reset(seed=seed)
    fields = env._engine._scratch[1]
    simplex = OpenSimplex(np.random.RandomState(world_seed(seed, 1)).randint(0, 2**31 - 1))
    for field, across, down, size, z, _ in generation._LAYERS[[row[0] >= SUMS for row in generation._LAYERS]]:
        for x, y in np.random.default_rng(seed).integers(64, size=(200, 2)):
            noise = simplex.noise3(x / across / size, y / down / size, z)
            assert abs(fields[int(field), x, y] - noise) < FIELD_ERROR


@pytest.mark.conformance
def test_no_seed_moves_an_estimate_by_more_than_the_margin():
    """What OpenSimplex leaves out at each cell, by the gradients that weigh most; that does not depend on a seed."""
    felt = set()
    near = np.stack(np.meshgrid(*[range(-2, 4)] * 3), axis=-1).reshape(-1, 3)

    def extrapolate(_perm, _gradients, i, j, k, _dx, _dy, _dz):
        felt.add((i, j, k))
        return 0.0

    noise3 = FunctionType(internals._noise3.py_func.__code__, {**vars(internals), "_extrapolate3": extrapolate})
    worst = 0.0
    for _, across, down, size, z, _ in generation._LAYERS:
        for x, y in np.ndindex(64, 64):
            felt.clear()
            point = np.array((x / across / size, y / down / size, z))
            noise3(*point, None, None)
            vertices = np.floor(point - point.sum() / 6).astype(int) + near
            apart = point - (vertices + vertices.sum(axis=1, keepdims=True) / 3)
            weights = np.maximum(2 - (apart**2).sum(axis=1), 0) ** 4
            missed = [n for n in np.flatnonzero(weights > 1e-12) if tuple(vertices[n].tolist()) not in felt]
            steepest = abs(apart[missed] @ GRADIENTS3.reshape(-1, 3).T).max(axis=1, initial=0)
            worst = max(worst, (weights[missed] * steepest).sum() / NORM_CONSTANT3)
    assert 0 < worst < FIELD_ERROR
    start = 1 / (1 + math.exp(generation._MEADOW - 4 - 2))
    assert (1.3 / 1.3 + 0.3 * 1.15) * worst + 4.6 * start < generation._MARGIN
