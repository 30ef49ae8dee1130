"""Compiled kernels are kept on disk, so that only the first process of a machine compiles them."""

import subprocess
import sys

import pytest

from tests.conftest import environment


@pytest.mark.conformance  # the same of a small kernel is in tests/base/compilation
def test_kernels_are_cached_on_disk(tmp_path):
    step = (
        "from cube_env import CubeEnv; env = CubeEnv(n=1); env.reset(seed=0); env.step_array([4]);"
        "from cube_env.kernel import step_world; print(sum(step_world.stats.cache_hits.values()))"
    )
    for hits in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", step],
            check=True,
            capture_output=True,
            text=True,
            env=environment(NUMBA_CACHE_DIR=str(tmp_path)),
        )
        assert done.stdout.strip() == hits
