"""Two commands on one thing: one of them waits outside, and when the other is killed, the next goes on at once.

What was recorded is not played again, and the books say what a server has counted.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from quorum.agents.llm.spending import Spent
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.finished import read_spent
from tests.conftest import FORKS, PATIENCE, PLUGINS, Quorum, _be_quorum, environment
from tests.episode.till import PRICES, Then, Till
from tests.serving import served
from tests.sweeps.test_paid import BRAIN

TEAM = ("env=squeeze", "n=2", "agents=naive", "max_steps=4", "llm.cache=false", PRICES)
WORKER = "engine.workers=1"
BOUND = ("--budget-calls", "5000")

pytestmark = pytest.mark.conformance


@pytest.fixture
def till() -> Till:
    return Till(BRAIN)


@pytest.fixture
def model(till: Till) -> Iterator[tuple[str, ...]]:
    """Words that choose a model that the till serves."""
    with served(till) as addresses:
        yield ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        till.after = None


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., BaseProcess]]:
    """Begin a command in the folder of the test, to be killed."""
    processes = []

    def command(*arguments: str) -> BaseProcess:
        given = (arguments, tmp_path, environment(), tmp_path / "out", tmp_path / "err")
        process = FORKS.Process(target=_be_quorum, args=given)
        process.start()
        processes.append(process)
        return process

    yield command
    for process in processes:
        process.kill()
        process.join()


def until(happens: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not happens():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def paid(*folders: Path) -> Spent:
    """Return what all episodes below some folders took."""
    found = {file.parent for folder in folders for file in folder.rglob("calls.jsonl")}
    return sum(map(read_spent, found), Spent())


def run_of(tmp_path: Path, *model: str) -> Path:
    return run_cell(Cell.compose([*TEAM, *model]), tmp_path / "runs").folder


def answer(done: Any) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Crash:
    """A command that is killed when a till has served it some answers, all of which are on disk.

    Args:
        begin: begins it.
        quorum: runs others meanwhile, and afterwards.
        till: serves, and hangs when it has served so many.
    """

    def __init__(self, begin: Callable[..., BaseProcess], quorum: Quorum, till: Till) -> None:
        self.begin, self.quorum, self.till = begin, quorum, till

    def __call__(self, after: int, recorded: Callable[[], int], refused: str, *command: str) -> int:
        """Kill a command, while which another one like it is refused; return how many answers it was served."""
        till, before = self.till, self.till.answers
        till.after, till.then = till.asked + after, Then.HANG
        till.stopped.clear()
        process = self.begin(*command)
        until(lambda: till.stopped.is_set() and recorded() == till.answers - before)
        other = self.quorum(*command)
        assert (other.returncode, refused in other.stderr) == (2, True), other.stderr
        process.kill()
        process.join()
        till.after = None
        return till.answers - before


@pytest.fixture
def crash(begin: Callable[..., BaseProcess], quorum: Quorum, till: Till) -> Crash:
    return Crash(begin, quorum, till)


def test_branches(tmp_path: Path, till: Till, model: tuple[str, ...], quorum: Quorum, crash: Crash) -> None:
    run = run_of(tmp_path, *model)
    before, folder = till.answers, tmp_path / "runs" / "b"
    command = ("branch", str(run), "--at", "1", "--draws", "2", "--name", "b", "--json", WORKER, *BOUND)
    lost = crash(7, lambda: paid(folder).answers, "another quorum sweep is running in this folder", *command)
    kept = {path.name: path.stat().st_mtime_ns for path in folder.glob("*/metrics.json")}
    poor = json.loads(quorum(*command, "--budget-usd", f"{paid(folder).usd:.9f}").stdout)
    assert (poor["stopped"], poor["answers"], till.answers - before) == ("budget", lost, lost)
    done = answer(quorum(*command))
    assert (done["answers"], done["left"]) == (till.answers - before, 0)
    assert done["tokens"] == till.prompt + till.completion - paid(run).tokens
    assert kept.items() <= {path.name: path.stat().st_mtime_ns for path in folder.glob("*/metrics.json")}.items()


@pytest.mark.parametrize("by", ["heuristic", "self"])
def test_a_blame(by: str, tmp_path: Path, till: Till, model: tuple[str, ...], quorum: Quorum, crash: Crash) -> None:
    """With `self` the reference is killed while it is asked as a shadow of the run, with `heuristic` a re-run is."""
    run = run_of(tmp_path, *model)
    before, folder = till.answers, run.with_name(f"{run.name}.blame")
    command = ("blame", str(run), "--reference", by, "--success", "score>=999", "--budget-calls")

    def recorded() -> int:
        lines = (run / "blame.jsonl").read_bytes().splitlines() if (run / "blame.jsonl").exists() else []
        return paid(folder).answers + sum(line["calls"] for line in map(json.loads, lines) if line["type"] == "answer")

    lost = crash(5, recorded, "another quorum blame is at work on this run", *command, "60", "--json")
    poor = answer(quorum(*command, str(lost), "--json"))
    assert (poor["calls"], till.answers - before) == (lost, lost)
    done = answer(quorum(*command, "60", "--json"))
    assert done["calls"] == till.answers - before <= 60
    assert done["calls"] > lost
    assert answer(quorum(*command, "60", "--json")) == done
    assert done["calls"] == till.answers - before


def test_runs_on_one_memory(tmp_path: Path, quorum: Quorum, begin: Callable[..., BaseProcess]) -> None:
    for name in ("corridor", "counter"):
        shutil.copytree(PLUGINS / f"{name}_configs", tmp_path / "configs", dirs_exist_ok=True)
    team = ("env=corridor", "agents=counter", "n=1", "memory.store=store", "--config-dir", "configs")
    command = ("run", *team, "--plugin", "walker", "--plugin", "counter", "--json")
    process = begin(*command, "agents.pause=60")
    until(lambda: list(tmp_path.glob("runs/*/trace.jsonl")))
    other = quorum(*command)
    assert (other.returncode, other.stdout) == (2, "")
    assert (
        f"another quorum run is running in this folder (process {process.pid} on {os.uname().nodename})" in other.stderr
    )
    assert len(list((tmp_path / "runs").iterdir())) == 1
    process.kill()
    process.join()
    answer(quorum(*command))


def test_lines(tmp_path: Path, quorum: Quorum, begin: Callable[..., BaseProcess]) -> None:
    for name in ("corridor", "counter"):
        shutil.copytree(PLUGINS / f"{name}_configs", tmp_path / "configs", dirs_exist_ok=True)
    team = ("env=corridor", "agents=counter", "n=1", "agents.log=log", "agents.pause=0.3", "--config-dir", "configs")
    words = (*team, "--plugin", "walker", "--plugin", "counter", "episode=range(0,4)", WORKER)
    command = ("sweep", *words, "--name", "s", "--json")
    process = begin(*command)
    until(lambda: len(list(tmp_path.glob("runs/s/*/memory.json"))) >= 2)
    other = quorum(*command)
    assert (other.returncode, "another quorum sweep is running" in other.stderr) == (2, True)
    process.kill()
    process.join()
    done = answer(quorum(*command))
    assert (done["cells"], done["left"], done["failed"]) == (4, 0, [])
    log = (tmp_path / "log").read_text().split()
    assert (log[:2], sorted(set(log))) == (["0", "1"], ["0", "1", "2", "3"])
    assert log.count("0") == log.count("1") == 1
