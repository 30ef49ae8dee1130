"""Code never comes from data: nothing in the folder of somebody else is run, whichever verb is used in it or on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from tests import canaries
from tests.conftest import PATIENCE, environment


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cell = Cell.compose(["n=1", "agents=naive", "max_steps=3"])
    return run_cell(cell, tmp_path_factory.mktemp("runs")).folder


VERBS = {
    "replay": ["replay", "."],
    "film": ["replay", ".", "--out", "../film.gif", "--quiet"],
    "view": ["view", ".", "--export", "../page.html"],
    "metrics": ["results", ".", "--write"],
    "results": ["results", "."],
    "compare": ["compare", "..", "--metric", "outcome.steps", "--out", "../files"],
    "report": ["report", "..", "--metric", "outcome.steps", "--out", "../report.html"],
    "run": ["run", "n=2", "agents=planner", "max_steps=2"],
    "sweep": ["sweep", "n=1", "max_steps=2", "seed=0,1", "engine.workers=2", "--quiet"],
    "show": ["show", "prompt", "n=1"],
    "list": ["list", "env"],
    "check": ["check", "n=1"],
}


FEW = ("metrics", "view", "run", "sweep")
"""A verb of each kind: one that reads results, one that makes a page, one that plays, and one with workers."""


@pytest.mark.parametrize(
    "verb", [pytest.param(verb, marks=[] if verb in FEW else pytest.mark.conformance) for verb in VERBS]
)
def test_no_verb_runs_code_of_the_folder_that_it_is_used_in(verb: str, sound: Path, tmp_path: Path) -> None:
    run, marks = canaries.outsider(sound, tmp_path)
    program = canaries.as_installed(VERBS[verb], tmp_path)
    done = subprocess.run(
        program, cwd=run, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert canaries.fired(marks) == []
    assert done.returncode == 0, done.stderr


def test_python_m_quorum_does_not_import_from_the_current_folder(sound: Path, tmp_path: Path) -> None:
    run, marks = canaries.outsider(sound, tmp_path)
    program = [sys.executable, "-m", "quorum", "replay", "."]
    done = subprocess.run(
        program, cwd=run, env=environment(), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert canaries.fired(marks) == []
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("package", ["cube_env", "crafter_env"])
def test_a_world_that_is_used_alone_runs_no_code_of_the_current_folder(
    package: str, sound: Path, tmp_path: Path
) -> None:
    run, marks = canaries.outsider(sound, tmp_path)
    name = {"cube_env": "CubeEnv", "crafter_env": "CrafterEnv"}[package]
    program = f"from {package} import {name}; {name}(2).reset(seed=0)"
    subprocess.run([sys.executable, "-P", "-c", program], cwd=run, env=environment(), check=True, timeout=PATIENCE)
    assert canaries.fired(marks) == []


def test_the_traps_work(sound: Path, tmp_path: Path) -> None:
    run, marks = canaries.outsider(sound, tmp_path)
    program = (
        "import numba, yaml; from cube_env import paths; assert numba.config.CACHE_DIR;"
        "from numba.core.caching import FunctionCache; FunctionCache(paths.measure_ways.py_func).load_overload(None, 0)"
    )
    unguarded = {**environment(), "PYTHONSAFEPATH": ""}
    subprocess.run([sys.executable, "-c", program], cwd=run, env=unguarded, capture_output=True, check=False)
    assert canaries.fired(marks)
    assert os.listdir(run)
