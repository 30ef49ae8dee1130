"""Workers that die, disks that are full: what is lost, and what is said."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from quorum.sweeps.queue import MOST_DEATHS
from quorum.sweeps.run import SweepRequest
from quorum.sweeps.stopping import Stop
from quorum_base.user_errors import UserError
from tests.conftest import command, environment
from tests.sweeps.conftest import MODULES, Sweep, leftovers, stamps

GRID = ("agents=mortal", "n=1", "env.length=2,3,4,5,6", "agents.dies_in=4")


def test_a_worker_that_dies_loses_its_unfinished_cells_alone_and_they_are_run_again(
    sweep: Sweep, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    outcome = sweep(*GRID, f"agents.log={log}", f"agents.lives_after={tmp_path / 'relic'}")
    assert (outcome.exit_code, outcome.left, outcome.failed) == (0, 0, ())
    assert sorted(log.read_text().split()[::2]) == ["2", "3", "4", "4", "5", "6"]
    assert leftovers(tmp_path / "s") == []


def test_a_cell_with_which_workers_always_die_ends_as_an_error_and_the_others_are_run(
    sweep: Sweep, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    outcome = sweep(*GRID, f"agents.log={log}")
    (failed,) = outcome.failed
    assert (outcome.exit_code, outcome.left, len(outcome.finished)) == (1, 0, 5)
    assert (
        failed.reason
        == "3 workers died while running this cell; the last one: its worker process ended: signal SIGKILL"
    )
    assert log.read_text().split()[::2].count("4") == MOST_DEATHS
    assert not list((tmp_path / "s").glob("*.partial-*"))


def test_workers_that_cannot_begin_end_the_sweep(sweep: Sweep, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    unable = "import multiprocessing, os\nif multiprocessing.parent_process() is not None: os._exit(7)\n"
    (tmp_path / "unable.py").write_text(unable)
    monkeypatch.syspath_prepend(tmp_path)
    outcome = sweep("agents=walker", "n=1", plugins=(*MODULES, "unable"))
    assert (outcome.exit_code, outcome.stop, outcome.left) == (2, Stop.STUCK, 1)
    assert "3 workers in a row ended before they began a cell: its worker process ended: exit code 7" in (
        outcome.complaint
    )


def test_workers_have_the_environment_variables_of_their_sweep(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("one", "two"):  # the server that forks the second's worker is older than its variable
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"{name}-cache"))
        assert sweep("agents=asker", "llm=parrot", "llm.cache=true", "n=1", name=name).exit_code == 0
        assert list((tmp_path / f"{name}-cache").rglob("*"))


def test_a_server_of_workers_that_cannot_begin_ends_the_sweep(tmp_path: Path) -> None:
    broken = "import os, sys\nif 'multiprocessing.forkserver' in sys.orig_argv[-1]: os._exit(7)\n"
    (tmp_path / "sitecustomize.py").write_text(broken)
    variables = environment()
    variables["PYTHONPATH"] = os.pathsep.join((str(tmp_path), variables["PYTHONPATH"]))
    done = subprocess.run(
        command("sweep", "n=2", "seed=0,1", "--quiet"),
        check=False,
        cwd=tmp_path,
        env=variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "3 workers in a row ended before they began a cell: the process that starts workers has ended" in done.stderr


def test_a_sweep_whose_cells_all_fail_stops(sweep: Sweep) -> None:
    outcome = sweep("agents=walker", "n=1", "seed=range(0,30)", "agents.fails_at=1")
    assert outcome.stop is Stop.FAILURES
    assert 10 <= len(outcome.finished) <= 12
    assert "10 cells in a row ended in an error, the last one with: tests/plugins/walker.py:" in outcome.complaint
    assert "in Walker.think: RuntimeError: the walker stumbled" in outcome.complaint
    assert "cells are left; continue with: quorum sweep" in outcome.complaint


def test_a_full_disk_is_a_clear_stop_and_leaves_nothing_half_written(sweep: Sweep, tmp_path: Path) -> None:
    words = ("agents=mortal", "n=1", "env.length=2,3,4,5,6", "agents.fills_in=4")
    outcome = sweep(*words)
    assert (outcome.exit_code, outcome.stop) == (2, Stop.STUCK)
    assert "results cannot be written there: No space left on device\nMake room" in outcome.complaint
    assert leftovers(tmp_path / "s") == []
    assert len(stamps(tmp_path / "s")) == len(outcome.finished) == 2


@pytest.mark.conformance
def test_files_that_may_not_grow_are_reported_too_and_the_same_command_goes_on(
    asked: Callable[..., SweepRequest], tmp_path: Path, options: Path
) -> None:
    plugins = [word for module in MODULES for word in ("--plugin", module)]
    words = ["env=corridor", "agents=walker", "n=1", "max_steps=450", "env.length=3,400", "engine.workers=1"]
    line = command("sweep", *words, *plugins, "--config-dir", str(options), "--name", "s")

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, resource.RLIM_INFINITY))

    done = subprocess.run(
        line, cwd=tmp_path, env=environment(), preexec_fn=small_files, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "results cannot be written there: File too large" in done.stderr
    assert "1 cells are left; continue with: quorum sweep env=corridor" in done.stderr
    assert "Traceback" not in done.stderr
    assert leftovers(tmp_path / "runs" / "s") == []
    done = subprocess.run(line, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, len(stamps(tmp_path / "runs" / "s"))) == (0, 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_reported(sweep: Sweep, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir(mode=0o500)
    with pytest.raises(UserError, match=r"nothing can be written to .*s: Permission denied"):
        sweep("agents=walker", "n=1")
