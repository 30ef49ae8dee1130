"""What `.ci/run` may skip: a stage that has passed with the same files, and no other."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

STAGES = tomllib.loads((ROOT / ".ci" / "stages.toml").read_text("utf-8"))
GROUPS = STAGES.pop("groups")


def inputs(names: Iterable[str]) -> set[str]:
    """Return the paths that names of groups and paths stand for."""
    return {path for name in names for path in (inputs(GROUPS[name]) if name in GROUPS else [name])}


def module(name: str) -> Path | None:
    """Return the file of a module of this repository."""
    path = ROOT.joinpath(*name.split(".")).resolve()
    found = (file for file in (path / "__init__.py", path.with_suffix(".py")) if file.is_file())
    return next(found, None)


@cache
def imported(file: Path) -> frozenset[Path]:
    """Return the files of this repository that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    packages = {name.rsplit(".", depth)[0] for name in names for depth in range(name.count(".") + 1)}
    return frozenset(path for name in packages if (path := module(name)) is not None)


def needed(files: Iterable[Path]) -> set[Path]:
    """Return files with all that they import, directly or not."""
    found, waiting = set(), list(files)
    while waiting:
        if (file := waiting.pop()) not in found:
            found.add(file)
            # What the fixture `quorum` needs stands in functions of that file: who uses it depends on the product.
            waiting += imported(file) if file != ROOT / "tests" / "conftest.py" else ()
    return found


def run_by(stage: str) -> list[Path]:
    """Return the files of tests that a stage runs."""
    if stage == "worlds":
        words = re.search(r"^WORLDS := \$\(addprefix tests/,(.*)\)$", (ROOT / "Makefile").read_text("utf-8"), re.M)
        assert words is not None
        slow = re.compile(r"mark\.conformance|^from hypothesis", re.MULTILINE)
        files = [file for folder in words[1].split() for file in (ROOT / "tests" / folder).rglob("test_*.py")]
        return [file for file in files if slow.search(file.read_text("utf-8"))]
    words = re.search(rf"^stage {stage} (?:.*\\\n)*.*$", (ROOT / ".ci" / "run").read_text("utf-8"), re.M)
    assert words is not None
    named = " ".join(re.findall(r"tests/\S+", words[0]))
    paths = subprocess.check_output(["bash", "-c", f"echo {named}"], cwd=ROOT, text=True)
    found = [ROOT / path for path in paths.split()]
    return [file for path in found for file in ([path] if path.is_file() else path.rglob("test_*.py"))]


@pytest.mark.parametrize("stage", ["worlds", "litellm", "learners", "tools"])
def test_a_stage_depends_on_every_file_that_its_tests_import(stage: str) -> None:
    files = run_by(stage)
    assert files
    listed = {path for path in inputs(["common", *STAGES[stage]["inputs"]]) if not path.startswith("!")}
    missing = {
        path.relative_to(ROOT).as_posix()
        for path in needed(files)
        if not any(path.is_relative_to(ROOT / entry) for entry in listed)
    }
    assert {path for path in missing if not path.endswith("/__init__.py")} == set()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Give a small repository with two stages."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "stages", tmp_path / ".ci")
    stages = '[groups]\ncommon = ["a"]\n[one]\ntitle = "One"\ninputs = ["b"]\n[two]\ntitle = "Two"\ninputs = ["c/d"]\n'
    (tmp_path / ".ci" / "stages.toml").write_text(stages)
    (tmp_path / "c" / "d").mkdir(parents=True)
    for name in ("a", "b", "c/d/e"):
        (tmp_path / name).write_text(name)
    git(tmp_path, "init", "--quiet")
    commit(tmp_path)
    return tmp_path


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True)


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "change")


def stages(folder: Path, *words: str) -> str:
    program = [sys.executable, ".ci/stages", *words]
    return subprocess.run(program, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_a_stage_that_passed_is_due_again_when_one_of_its_files_changes_and_only_then(repository: Path) -> None:
    assert [stages(repository, "state", name) for name in ("one", "two")] == ["due", "due"]
    for name in ("one", "two"):
        stages(repository, "record", name, ".ci/passed")
    commit(repository)
    assert [stages(repository, "state", name) for name in ("one", "two")] == ["passed", "passed"]
    (repository / "c" / "d" / "e").write_text("other")
    commit(repository)
    assert [stages(repository, "state", name) for name in ("one", "two")] == ["passed", "due"]
    (repository / "a").write_text("other")
    commit(repository)
    assert [stages(repository, "state", name) for name in ("one", "two")] == ["due", "due"]


def test_a_folder_that_a_stage_leaves_out_does_not_make_it_due(repository: Path) -> None:
    listed = (repository / ".ci" / "stages.toml").read_text().replace('["c/d"]', '["c", "!c/d"]')
    (repository / ".ci" / "stages.toml").write_text(listed)
    (repository / "c" / "f").write_text("f")
    commit(repository)
    stages(repository, "record", "two", ".ci/passed")
    commit(repository)
    (repository / "c" / "d" / "e").write_text("other")
    commit(repository)
    assert stages(repository, "state", "two") == "passed"
    (repository / "c" / "f").write_text("other")
    commit(repository)
    assert stages(repository, "state", "two") == "due"


def test_the_list_keeps_one_line_for_a_stage_and_a_version_of_python(repository: Path) -> None:
    other = "one 0123 3.99.0 abc"
    (repository / ".ci" / "passed").write_text(f"{other}\n")
    for _ in range(2):
        stages(repository, "record", "one", ".ci/passed")
    lines = (repository / ".ci" / "passed").read_text().splitlines()
    assert len(lines) == 2
    assert lines[0] == other


def test_a_stage_with_an_input_that_does_not_exist_is_never_passed(repository: Path) -> None:
    stages(repository, "record", "two", ".ci/passed")
    shutil.rmtree(repository / "c")
    commit(repository)
    done = subprocess.run(
        [sys.executable, ".ci/stages", "state", "two"], cwd=repository, capture_output=True, text=True, check=False
    )
    assert done.stdout == ""
    assert "two: c/d is not in the repository" in done.stderr


@pytest.mark.parametrize("stage", STAGES)
def test_every_input_of_a_stage_exists(stage: str) -> None:
    named = {path.removeprefix("!") for path in inputs(["common", *STAGES[stage]["inputs"]])}
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_every_stage_is_run() -> None:
    run = (ROOT / ".ci" / "run").read_text("utf-8")
    assert re.findall(r"^stage (\w+) ", run, re.MULTILINE) == list(STAGES)
