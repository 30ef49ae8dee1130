"""Compiled code is renewed when a kernel changes."""

from crafter_env.kernels import jit
from crafter_env.kernels.worlds import begin_world, step_worlds


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
