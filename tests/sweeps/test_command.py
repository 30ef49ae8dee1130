"""What the command prints, and where."""

from __future__ import annotations

import json
import logging
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from quorum import cli
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.engines.protocol import Engine, SweepJob
from quorum.sweeps.plan import plan
from quorum.sweeps.progress import nothing
from quorum.sweeps.queue import Queue
from quorum.sweeps.run import SweepRequest, run_sweep
from quorum.sweeps.stopping import Stop
from tests.sweeps.conftest import MODULES

WORDS = ("env=corridor", "agents=walker", "n=1", "engine.workers=1")


@pytest.fixture
def quorum(tmp_path: Path, options: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def run(*arguments: str) -> tuple[int, str, str]:
        plugins = [word for module in MODULES for word in ("--plugin", module)]
        line = ["quorum", "sweep", *WORDS, *arguments, *plugins, "--config-dir", str(options), "--name", "s"]
        monkeypatch.setattr(sys, "argv", line)
        monkeypatch.chdir(tmp_path)
        with pytest.raises(SystemExit) as left:
            cli.main()
        return left.value.code or 0, *capsys.readouterr()

    log = logging.getLogger("quorum")
    before = log.level
    yield run
    log.setLevel(before)  # `--quiet` raises it for the rest of the process


def test_progress_goes_to_standard_error_and_the_summary_to_standard_output(quorum) -> None:
    code, out, reported = quorum("seed=0,0,1")
    assert code == 0
    assert "2 of 2 done: 0 before, 2 now" in out
    notice, first, *_, last = reported.splitlines()
    assert notice == "notice: 1 points of the grid repeat the cell of another point; each cell runs once"
    assert (first, last) == ("s: 0/2 done, 2 to run", "s: 2/2 done, 0 running, 0 failed, ETA 0:00 min")


def test_json_is_alone_on_standard_output_and_quiet_says_nothing_but_errors(quorum) -> None:
    code, out, reported = quorum("seed=0,1", "--quiet", "--json", "--limit", "1")
    data = json.loads(out)
    assert (code, reported, data["run_now"], data["left"]) == (0, "", 1, 1)
    assert data["command"].startswith("quorum sweep env=corridor agents=walker n=1 engine.workers=1 seed=0,1 --name s")
    assert quorum("seed=0", "--quiet") == (0, "", "")
    code, out, reported = quorum("seed=5", "agents.fails_at=1", "--quiet")
    assert (code, out) == (1, "")
    assert reported == "1 cells ended in an error: run them with --retry-failed\n"


class StoppedEngine(Engine):
    """Stops for another reason, and is then interrupted by the user."""

    def width(self, *, uses_models: bool) -> int:
        return 1

    def run(self, work: Queue, job: SweepJob) -> None:
        work.end(Stop.BUDGET, "no money")
        assert not work.dropping
        signal.raise_signal(signal.SIGINT)
        assert work.dropping


def test_ctrl_c_drops_what_a_sweep_finishes_that_has_stopped_for_another_reason(
    asked: Callable[..., SweepRequest], options: Path
) -> None:
    words = asked("agents=walker", engine=())
    planned = plan(words.words, options)
    summary = run_sweep(planned, words.folder("s"), StoppedEngine(), request=words, view=nothing)
    assert summary.stop is Stop.INTERRUPTED
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_command_that_goes_on_names_the_sweep_and_everything_that_bounds_it(
    asked: Callable[..., SweepRequest], options: Path
) -> None:
    outcome = run_sweep_command(
        asked("agents=walker", "seed=0,1", limit=1, retry_failed=True, budget_usd=3.0, budget_calls=5), quiet=True
    )
    assert outcome.request.command.startswith("quorum sweep env=corridor agents=walker seed=0,1 engine.workers=1 ")
    plugins = " ".join(f"--plugin {module}" for module in MODULES)
    assert f"--name s {plugins} --config-dir {options}" in outcome.request.command
    assert outcome.request.command.endswith(" --limit 1 --budget-usd 3 --budget-calls 5")
    assert outcome.request.command in outcome.complaint
    assert "--retry-failed" not in outcome.request.command
