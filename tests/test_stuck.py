"""Time limits hold everywhere: code that does not return ends its episode as `error`, and one signal ends a command."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Quorum, command, environment

GAME = ("env=pettingzoo", "env.id=stuck_games", "n=2", "agents=random")
SLOW = 300
"""Seconds that a command may take on a busy machine."""


def meta(folder: Path) -> dict[str, Any]:
    [file] = folder.glob("runs/*/meta.json")
    return json.loads(file.read_text())


@pytest.mark.parametrize("limit", ["step_seconds", "episode_seconds"])
def test_a_step_that_does_not_return_ends_a_run_as_error_with_its_place(
    limit: str, quorum: Quorum, tmp_path: Path
) -> None:
    done = quorum("run", *GAME, f"limits.{limit}=1.5")
    assert done.returncode == 1, done.stderr
    assert "stuck_games.py:" in done.stderr
    assert f"in hang: limits.{limit}: 1.5 s have passed in step 2, and this code has not returned" in done.stderr
    assert "Traceback" not in done.stderr
    found = meta(tmp_path)
    assert (found["outcome"], found["error"]["class"]) == ("error", "NoReturn")
    assert found["error"]["place"].endswith("in hang")
    [run] = (tmp_path / "runs").iterdir()
    assert ".partial" not in run.name
    assert "in step\n" in (run / "traceback.txt").read_text()
    assert quorum("results", str(tmp_path / "runs")).returncode == 0


@pytest.mark.conformance
@pytest.mark.parametrize("how", ["sleep", "swallow"])
@pytest.mark.parametrize("where", ["init", "reset"])
def test_every_other_call_is_bounded_as_well(where: str, how: str, quorum: Quorum, tmp_path: Path) -> None:
    done = quorum("run", *GAME, f"env.kwargs={{where: {where}, how: {how}}}", "limits.step_seconds=1.5")
    assert done.returncode == 1, done.stderr
    assert "and this code has not returned" in done.stderr
    assert meta(tmp_path)["outcome"] == "error"


@pytest.mark.conformance
def test_code_that_holds_the_lock_of_python_is_ended_with_its_stack(quorum: Quorum) -> None:
    done = quorum("run", *GAME, "env.kwargs={how: regex}", "limits.step_seconds=1")
    assert done.returncode == -signal.SIGPROF
    assert "stuck_games.py" in done.stderr


def test_a_sweep_replaces_workers_whose_code_does_not_return_and_goes_on(quorum: Quorum, tmp_path: Path) -> None:
    words = ("env.kwargs.at=3,99", "seed=range(0,2)", "limits.step_seconds=1.5", "engine.workers=2")
    done = quorum("sweep", *GAME, *words, "--json")
    assert done.returncode == 1, done.stderr
    data = json.loads(done.stdout)
    assert (data["run_now"], data["left"], len(data["failed"])) == (4, 0, 2)
    for failed in data["failed"]:
        assert "in hang: NoReturn: limits.step_seconds: 1.5 s have passed in step 2" in failed["reason"]


@pytest.mark.conformance
def test_the_first_look_of_a_sweep_is_bounded(quorum: Quorum, tmp_path: Path) -> None:
    done = quorum("sweep", *GAME, "env.kwargs={where: init}", "seed=0,1", "limits.step_seconds=1.5")
    assert done.returncode == 2, done.stderr
    assert "in hang: limits.step_seconds: 1.5 s have passed, and this code has not returned" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_an_agent_that_step_none_does_not_remove_is_a_mistake_of_the_environment(quorum: Quorum) -> None:
    done = quorum("run", "env=pettingzoo", "env.id=stuck_games:env", "n=2", "agents=random")
    assert "step(None) does not remove" in done.stderr
    assert done.returncode != 0


def start_stuck(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start a command, and wait until its code is stuck."""
    process = subprocess.Popen(
        command(*words), cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + SLOW
    while not list(folder.glob("runs/**/trace.jsonl")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    time.sleep(1.0)
    return process


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "ended by SIGTERM")],
)
def test_one_signal_ends_a_run_whose_step_does_not_return(
    number: signal.Signals, code: int, said: str, tmp_path: Path
) -> None:
    process = start_stuck(tmp_path, "run", *GAME)
    process.send_signal(number)
    _, reported = process.communicate(timeout=SLOW)
    assert process.returncode == code
    assert f"{said}; the incomplete episode is in" in reported
    assert meta(tmp_path)["error"]["class"] == "Interrupted"


@pytest.mark.conformance
def test_one_signal_ends_a_run_whose_code_swallows_it(tmp_path: Path) -> None:
    process = start_stuck(tmp_path, "run", *GAME, "env.kwargs={how: swallow}")
    process.send_signal(signal.SIGINT)
    _, reported = process.communicate(timeout=SLOW)
    assert process.returncode == 130
    assert "ended by force: the command did not end by itself; it was running at" in reported
    assert "stuck_games.py" in reported


@pytest.mark.conformance
def test_one_sigterm_ends_a_sweep_whose_steps_do_not_return(tmp_path: Path) -> None:
    process = start_stuck(tmp_path, "sweep", *GAME, "seed=range(0,4)", "engine.workers=2")
    process.send_signal(signal.SIGTERM)
    _, reported = process.communicate(timeout=SLOW)
    assert process.returncode == 130
    assert "4 cells are left; continue with: quorum sweep" in reported


@pytest.mark.conformance
def test_one_ctrl_c_ends_a_sweep_whose_steps_do_not_return_when_their_limit_is_over(tmp_path: Path) -> None:
    process = start_stuck(tmp_path, "sweep", *GAME, "seed=range(0,4)", "engine.workers=2", "limits.step_seconds=5")
    process.send_signal(signal.SIGINT)
    _, reported = process.communicate(timeout=SLOW)
    assert process.returncode == 130
    assert "2 cells are left; continue with: quorum sweep" in reported
