"""A method is one folder and one YAML file: everything else runs without them, and the method is back with them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_imports import ROOT, modules

FOLDER = Path("quorum/methods/repair")
VALUES = Path("quorum/methods/configs/extension/repair.yaml")
CELL = ("env=cube", "n=2", "agents=naive", "topology=debate", "max_steps=2")


def copy(target: Path, *paths: Path) -> None:
    for path in paths:
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, target / path, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / path, target / path)


def run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "quorum", "run", *CELL, *arguments, "--out", str(checkout / "runs")]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages without the method."""
    found = tmp_path_factory.mktemp("checkout")
    copy(found, *(Path(name) for name in ("quorum", "quorum_base", "maeil", "cube_env", "quorum_harness.py")))
    shutil.rmtree(found / FOLDER)
    (found / VALUES).unlink()
    return found


def test_nothing_else_imports_the_method() -> None:
    name = ".".join(FOLDER.parts)
    found = [
        f"{file.relative_to(ROOT)}:{line}"
        for package in ("quorum", "quorum_base", "maeil", "cube_env", "crafter_env")
        for file in (ROOT / package).rglob("*.py")
        if not file.is_relative_to(ROOT / FOLDER)
        for line, imported in modules(file.read_text(encoding="utf-8"))
        if imported.startswith(f"{name}.")
    ]
    assert found == []


def test_a_team_plays_without_the_method_and_with_it_once_its_files_are_back(checkout: Path) -> None:
    without = run(checkout)
    assert without.returncode == 0, without.stderr
    refused = run(checkout, "extension=repair")
    assert refused.returncode != 0
    assert "repair" in refused.stderr
    copy(checkout, FOLDER, VALUES)
    again = run(checkout, "extension=repair")
    assert again.returncode == 0, again.stderr
    traces = list((checkout / "runs").glob("*/trace.jsonl"))
    assert [b'"repair_check"' in trace.read_bytes() for trace in traces].count(True) == 1
