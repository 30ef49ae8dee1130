"""Ctrl-C: once finishes what is under way, twice drops it; the command says how to go on."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, command, environment
from tests.sweeps.conftest import MODULES, leftovers

WORDS = ("env=corridor", "agents=mortal", "n=1", "seed=range(0,30)", "env.length=20", "engine.workers=2")


@pytest.fixture
def started(tmp_path: Path, options: Path) -> Callable[..., subprocess.Popen[str]]:
    def start(pause: float) -> subprocess.Popen[str]:
        plugins = [word for module in MODULES for word in ("--plugin", module)]
        line = command("sweep", *WORDS, f"agents.pause={pause}", *plugins, "--config-dir", str(options), "--json")
        process = subprocess.Popen(
            line, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + PATIENCE
        while not list(tmp_path.glob("runs/*/*.partial-*/trace.jsonl")) and time.monotonic() < deadline:
            time.sleep(0.01)
        return process

    return start


def test_once_finishes_what_is_under_way_and_the_command_it_names_goes_on(started, tmp_path: Path) -> None:
    process = started(pause=0.1)  # two seconds an episode: more are done before the signal only if it is that late
    process.send_signal(signal.SIGINT)
    out, reported = process.communicate(timeout=PATIENCE)
    data = json.loads(out)
    assert process.returncode == 130
    assert (data["stopped"], data["failed"]) == ("interrupted", [])
    assert 2 <= data["run_now"] <= 6
    assert data["left"] == 30 - data["run_now"]
    assert "finish first (Ctrl-C again drops them)" in reported
    assert f"{data['left']} cells are left; continue with: {data['command']}" in reported
    assert "Traceback" not in reported
    assert leftovers(Path(data["folder"])) == []


@pytest.mark.parametrize(
    "signals",
    [(signal.SIGINT, signal.SIGINT), pytest.param((signal.SIGTERM,), marks=pytest.mark.conformance)],
    ids=["twice", "SIGTERM"],
)
def test_twice_drops_what_is_under_way(signals: tuple[signal.Signals, ...], started) -> None:
    process = started(pause=5.0)
    assert process.stdout is not None
    assert process.stderr is not None
    reported = ""
    end = threading.Timer(120, process.kill)
    end.start()
    for number in signals[:-1]:  # the next one is sent when this one was heard: two at once may be one
        process.send_signal(number)
        while "Ctrl-C again drops them" not in reported:
            reported += (line := process.stderr.readline())
            assert line, reported
    process.send_signal(signals[-1])
    with process:
        reported += process.stderr.read()
        data = json.loads(process.stdout.read())
    end.cancel()
    assert (process.returncode, data["run_now"], data["left"]) == (130, 0, 30)
    assert "Traceback" not in reported
    assert leftovers(Path(data["folder"])) == []
