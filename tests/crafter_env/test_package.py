"""The package loads what is heavy when it is used, and renews compiled code when a kernel changes."""

import subprocess
import sys

from crafter_env.kernels import jit
from crafter_env.kernels.worlds import begin_world, step_worlds


def test_names_and_rules_need_neither_numba_nor_pettingzoo():
    code = (
        "import sys, crafter_env; crafter_env.PROFILES, crafter_env.Action;"
        "sys.exit(bool({'numba', 'numpy', 'pettingzoo'} & set(sys.modules)))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_compiled_code_is_kept_under_a_hash_of_all_kernels(tmp_path, monkeypatch):
    for kernel in (begin_world, step_worlds):
        assert kernel._cache._cache_file._source_stamp == jit.kernel_digest()
    for name in ("constants.py", "profiles.py", "kernels/mobs.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    monkeypatch.setattr(jit, "_PACKAGE", tmp_path)
    digest = jit.kernel_digest.__wrapped__
    before = digest()
    (tmp_path / "kernels" / "mobs.py").write_text("changed")
    assert digest() != before
