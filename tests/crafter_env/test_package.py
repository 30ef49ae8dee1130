"""Compiled code is renewed when a kernel changes."""

from pathlib import Path

import crafter_env
from crafter_env.kernels.jit import KERNELS
from crafter_env.kernels.worlds import begin_world, step_worlds


def test_compiled_code_is_kept_under_a_hash_of_all_kernels():
    for kernel in (begin_world, step_worlds):
        assert kernel._cache._cache_file._source_stamp == KERNELS.digest
    package = Path(crafter_env.__file__).resolve().parent
    sources = {source.relative_to(package).as_posix() for source in KERNELS.sources}
    assert {"constants.py", "profiles.py", "kernels/creatures.py", "kernels/worlds.py"} <= sources
