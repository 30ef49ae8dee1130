import os
import subprocess
import sys

import pytest

import cube_env

LIGHT = "constants", "curriculum", "errors"


def test_all_is_sorted_and_importable():
    assert cube_env.__all__ == sorted(set(cube_env.__all__))
    assert dir(cube_env) == cube_env.__all__
    for name in cube_env.__all__:
        assert getattr(cube_env, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Qube'"):
        _ = cube_env.Qube


def run(code, **variables):
    return subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **variables},
    ).stdout


def test_light_names_come_without_the_heavy_packages():
    modules = ", ".join(f"cube_env.{name}" for name in LIGHT)
    heavy = "{'numba', 'numpy', 'pettingzoo', 'gymnasium'}"
    assert run(f"import sys, {modules}; print({heavy} & set(sys.modules))").strip() == "set()"


def test_the_curriculum_is_a_function_whatever_was_imported_first():
    for module in ("curriculum", "placement", "env"):
        assert run(f"import cube_env.{module}; print(cube_env.curriculum(8).side)").strip() == "20"


def test_kernels_are_cached_on_disk(tmp_path):
    step = (
        "from cube_env import CubeEnv; env = CubeEnv(n=1); env.reset(seed=0); env.step_array([4]);"
        "from cube_env.kernel import step_world; print(sum(step_world.stats.cache_hits.values()))"
    )
    assert run(step, NUMBA_CACHE_DIR=str(tmp_path)).strip() == "0"
    assert run(step, NUMBA_CACHE_DIR=str(tmp_path)).strip() == "1"
