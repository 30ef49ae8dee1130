"""Kernels are compiled before any clock starts: no figure holds the time that it takes."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from crafter_env.kernels.jit import KERNELS as crafter  # noqa: N811 (it is a set among others here)
from cube_env.jit import KERNELS as cube  # noqa: N811
from llamac_env.jit import KERNELS as transport  # noqa: N811
from quorum.agents.skills.cube.planner.jit import KERNELS as planner  # noqa: N811
from quorum.episode.rehearsal import rehearse
from quorum.episode.runner import run_cell
from tests.conftest import Quorum, command, environment
from tests.traces.digests import CELLS, compose

LINE = "compiling kernels, once: about 30 s\n"


def compiled() -> set[tuple[str, str]]:
    """Return what is in memory of compiled code: each kernel with each of its signatures."""
    dispatchers = [*cube.dispatchers, *transport.dispatchers, *crafter.dispatchers, *planner.dispatchers]
    return {(kernel.py_func.__qualname__, str(signature)) for kernel in dispatchers for signature in kernel.signatures}


KINDS = [words for words in CELLS if not words.startswith("env=squeeze")]


@pytest.fixture(autouse=True)
def unmarked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every process rehearse, also where another one has."""
    monkeypatch.setattr("quorum.episode.rehearsal._mark", lambda *_: None)


@pytest.mark.parametrize(
    "words", [*KINDS[3::7], *KINDS[-6::2], *[words for words in KINDS if "transport" in words][:2]]
)
def test_an_episode_calls_nothing_that_was_not_rehearsed(words: str, tmp_path: Path) -> None:
    cell = compose(words if "max_steps" in words else f"{words} max_steps=40")
    rehearse(cell.configuration.env.name, cell.configuration.agents.name)
    before = compiled()
    run_cell(cell, tmp_path)
    assert compiled() - before == set()


@pytest.mark.conformance
@pytest.mark.parametrize("words", KINDS)
def test_no_cell_calls_what_was_not_rehearsed(words: str, tmp_path: Path) -> None:
    cell = compose(words)
    rehearse(cell.configuration.env.name, cell.configuration.agents.name)
    before = compiled()
    run_cell(cell, tmp_path)
    assert compiled() - before == set()


@pytest.mark.conformance
def test_time_of_compilation_is_in_no_figure(tmp_path: Path) -> None:
    variables = environment(XDG_CACHE_HOME=str(tmp_path / "caches"), NUMBA_CACHE_DIR="")
    reported, seconds = [], []
    begin = time.monotonic()
    for seed in (0, 1):
        words = command(
            "sweep", f"seed={seed},{seed + 2}", "n=2", "agents=planner,heuristic", "engine.workers=2", "--json"
        )
        done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=True)
        reported.append(done.stderr.count(LINE))
        seconds.append(json.loads(done.stdout)["seconds"])
    compiling = time.monotonic() - begin  # nearly all of it
    assert reported == [1, 0]
    assert seconds[0] < 8 * max(1, seconds[1])  # compiling takes more than twenty times as long as what is played
    for run in (tmp_path / "runs").rglob("metrics.json"):
        metrics = json.loads(run.read_text())
        assert metrics["coop2.decision_time_total_seconds"] < compiling / 10, run


@pytest.mark.soak
def test_kernels_can_be_compiled_ahead(tmp_path: Path) -> None:
    variables = environment(XDG_CACHE_HOME=str(tmp_path / "caches"), NUMBA_CACHE_DIR="")
    for reported in (LINE, ""):
        words = command("check", "--compile", "--json")
        done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=True)
        assert done.stderr == reported
        (kernels,) = (finding for finding in json.loads(done.stdout) if finding["subject"] == "kernels")
        assert kernels["detail"].endswith(f"kept in {tmp_path}/caches/quorum/kernels")
    for words in (["n=2", "agents=planner"], ["env=crafter", "max_steps=5"]):
        done = subprocess.run(
            command("run", *words), cwd=tmp_path, env=variables, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""


def test_what_is_compiled_already_is_not_reported(quorum: Quorum) -> None:
    assert quorum("run", "n=2", "max_steps=3").stderr == ""
