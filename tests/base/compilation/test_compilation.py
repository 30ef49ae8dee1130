"""Where compiled kernels are kept, and what happens when they cannot be."""

from __future__ import annotations

import ast
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from crafter_env.kernels.jit import KERNELS as crafter  # noqa: N811 (it is a set among others here)
from cube_env.jit import KERNELS as cube  # noqa: N811
from llamac_env.jit import KERNELS as llamac  # noqa: N811
from maeil.trace import comparable
from quorum.agents.skills.cube.planner.jit import KERNELS as planner  # noqa: N811
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum_base.compilation.cache import NoFolder, cache_folder
from tests.conftest import ROOT, environment
from tests.test_imports import modules as imports

TWICE = """
from pathlib import Path
from quorum_base.compilation import KernelSet

def twice(x):
    return 2 * x

kernels = KernelSet("tried", [Path(__file__)])
twice = kernels.compiled(twice)
assert twice(21) == 42
stats = getattr(twice, "stats", None)
print(sum(stats.cache_hits.values()) if stats else "python")
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    file = tmp_path / "module.py"
    file.write_text(TWICE)
    return file


def hits(module: Path, caches: Path, **changes: str) -> tuple[str, str]:
    """Run the module; return how often its kernel came from the cache, and what was reported."""
    variables = {**environment(**{"XDG_CACHE_HOME": str(caches), "NUMBA_CACHE_DIR": "", **changes})}
    done = subprocess.run([sys.executable, module], env=variables, capture_output=True, text=True, check=True)
    return done.stdout.strip(), done.stderr


def kept(caches: Path) -> list[Path]:
    return sorted(file for file in caches.rglob("*") if file.is_file())


def test_a_kernel_is_kept_where_only_the_user_can_write(module: Path, tmp_path: Path) -> None:
    caches = tmp_path / "caches"
    assert hits(module, caches) == ("0", "")
    assert hits(module, caches) == ("1", "")
    folder = caches / "quorum" / "kernels"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [file.suffix for file in kept(folder)] == [".nbc", ".nbi"]
    assert not (tmp_path / "__pycache__").exists()


def test_a_kernel_is_recompiled_when_a_source_changes(module: Path, tmp_path: Path) -> None:
    hits(module, tmp_path / "caches")
    module.write_text(TWICE + "# changed\n")
    assert hits(module, tmp_path / "caches") == ("0", "")


@pytest.mark.conformance
@pytest.mark.parametrize(("suffix", "damage"), [(".nbc", b""), (".nbi", b""), (".nbi", b"nonsense")])
def test_a_damaged_file_of_the_cache_is_recompiled(module: Path, tmp_path: Path, suffix: str, damage: bytes) -> None:
    caches = tmp_path / "caches"
    hits(module, caches)
    for file in kept(caches):
        if file.suffix == suffix:
            file.write_bytes(damage)
    assert hits(module, caches) == ("0", "")
    assert hits(module, caches) == ("1", "")


def test_a_folder_that_others_can_write_to_is_not_used(module: Path, tmp_path: Path) -> None:
    folder = tmp_path / "caches" / "quorum" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    found, reported = hits(module, tmp_path / "caches")
    assert (found, kept(folder)) == ("0", [])
    assert f"{folder}: other users can write to it" in reported
    assert "NUMBA_CACHE_DIR" in reported


def test_a_link_is_not_taken_for_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "quorum").mkdir()
    (tmp_path / "quorum" / "kernels").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NoFolder, match="other users can write"):
        cache_folder()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    os.chown(cache_folder(), 12345, 12345)
    with pytest.raises(NoFolder, match="other users can write"):
        cache_folder()


def test_without_a_folder_it_says_what_to_set_and_compiles(module: Path, tmp_path: Path) -> None:
    (tmp_path / "caches").write_text("a file, as a home that cannot be written to")
    found, reported = hits(module, tmp_path / "caches")
    assert found == "0"
    assert reported.count("compiled kernels cannot be kept") == 1
    assert "Set NUMBA_CACHE_DIR to a folder" in reported
    assert hits(module, tmp_path / "caches", NUMBA_CACHE_DIR=str(tmp_path / "own")) == ("0", "")
    assert hits(module, tmp_path / "caches", NUMBA_CACHE_DIR=str(tmp_path / "own")) == ("1", "")


@pytest.mark.conformance
def test_a_folder_that_is_only_read_is_used(module: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    hits(module, tmp_path, NUMBA_CACHE_DIR=str(own))
    (own / "other").write_text("")
    assert hits(module, tmp_path, NUMBA_CACHE_DIR=str(own)) == ("1", "")


def test_a_kernel_that_cannot_be_saved_says_what_to_set(module: Path, tmp_path: Path) -> None:
    (tmp_path / "own").write_text("")
    found, reported = hits(module, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "own"))
    assert found == "0"
    assert "Set NUMBA_CACHE_DIR" in reported


def test_numba_can_be_told_not_to_compile(module: Path, tmp_path: Path) -> None:
    assert hits(module, tmp_path / "caches", NUMBA_DISABLE_JIT="1") == ("python", "")


@pytest.mark.conformance
@pytest.mark.parametrize(
    "words",
    [["agents=planner", "max_steps=20"], ["env=crafter", "env.profile=coop", "max_steps=3"]],
    ids=["cube", "crafter"],
)
def test_an_episode_is_the_same_without_compilation(words: list[str], tmp_path: Path) -> None:
    cell = Cell.compose(["n=2", *words])
    program = [sys.executable, "-W", "error", "-m", "quorum", "run", "n=2", *words, "--out", tmp_path / "python"]
    variables = environment(NUMBA_DISABLE_JIT="1")
    done = subprocess.run(program, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run_cell(cell, tmp_path / "compiled")
    python, compiled = (list(comparable(tmp_path / how / cell.name)) for how in ("python", "compiled"))
    assert python == compiled


SETS = {
    "cube_env": cube,
    "crafter_env": crafter,
    "llamac_env": llamac,
    "quorum/agents/skills/cube/planner": planner,
}


@pytest.mark.parametrize("package", SETS)
def test_the_sources_of_kernels_are_all_that_is_compiled_into_them(package: str) -> None:
    sources = {source.resolve() for source in SETS[package].sources}
    for file in (ROOT / package).rglob("*.py"):
        if any(".jit.compiled" in name for name in modules(file.read_text())):
            assert file in sources, file
            assert {path for path in constants(file) if path.is_relative_to(ROOT / package)} <= sources, file


def modules(source: str) -> list[str]:
    return [name for _, name in imports(source)]


def constants(file: Path) -> set[Path]:
    """Return the files of the project from which a module takes constants, or what it makes constants of."""
    tree = ast.parse(file.read_text())
    made_of = {
        node.id for made in tree.body if isinstance(made, ast.Assign) for node in ast.walk(made.value)
        if isinstance(node, ast.Name)
    }  # fmt: skip
    found = set()
    for _, name in imports(file.read_text()):
        module, _, member = name.rpartition(".")
        path = (ROOT / module.removeprefix("quorum.").replace(".", "/")).with_suffix(".py")
        if path.exists() and path.stem != "jit" and (member.isupper() or member in made_of):
            found.add(path)
    return found


def test_nothing_else_imports_numba() -> None:
    for package in ("maeil", "cube_env", "crafter_env", "llamac_env", "agents", "topologies", "experiments"):
        for file in (ROOT / package).rglob("*.py"):
            if file != ROOT / "maeil" / "compilation" / "numba_alone.py":
                assert "numba" not in {name.partition(".")[0] for name in modules(file.read_text())}, file
