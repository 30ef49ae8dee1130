"""Ctrl-C: once finishes what is under way, twice drops it; the command says how to go on."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import command, environment
from tests.experiments.sweep.conftest import MODULES, leftovers

WORDS = ("env=corridor", "agents=mortal", "n=1", "seed=range(0,30)", "env.length=20", "engine.workers=2")


@pytest.fixture
def started(tmp_path: Path, options: Path) -> Callable[..., subprocess.Popen[str]]:
    def start(pause: float) -> subprocess.Popen[str]:
        plugins = [word for module in MODULES for word in ("--plugin", module)]
        line = command("sweep", *WORDS, f"agents.pause={pause}", *plugins, "--config-dir", str(options), "--json")
        process = subprocess.Popen(
            line, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("runs/*/*.partial-*/trace.jsonl")) and time.monotonic() < deadline:
            time.sleep(0.01)
        return process

    return start


def test_once_finishes_what_is_under_way_and_the_command_it_names_goes_on(started, tmp_path: Path) -> None:
    process = started(pause=0.03)
    process.send_signal(signal.SIGINT)
    out, told = process.communicate(timeout=60)
    data = json.loads(out)
    assert process.returncode == 130
    assert (data["stopped"], data["failed"]) == ("interrupted", [])
    assert 2 <= data["run_now"] <= 6
    assert data["left"] == 30 - data["run_now"]
    assert "are finished first (Ctrl-C again drops them)" in told
    assert f"{data['left']} cells are left; go on with: {data['command']}" in told
    assert "Traceback" not in told
    assert leftovers(Path(data["folder"])) == []


@pytest.mark.parametrize("signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)], ids=["twice", "SIGTERM"])
def test_twice_drops_what_is_under_way(signals: tuple[signal.Signals, ...], started) -> None:
    process = started(pause=5.0)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.5)
    out, told = process.communicate(timeout=20)
    data = json.loads(out)
    assert (process.returncode, data["run_now"], data["left"]) == (130, 0, 30)
    assert "Traceback" not in told
    assert leftovers(Path(data["folder"])) == []
