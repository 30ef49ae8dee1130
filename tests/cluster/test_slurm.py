"""Sweeps on a real cluster of Slurm: jobs and nodes are killed, commands too, and the results are the same."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from quorum.runs import as_csv, read_results
from tests.cluster.slurm_cluster import MISSING, NO_BOOKKEEPERS, SlurmCluster, can_keep_books, can_run, slurm_cluster
from tests.conftest import PATIENCE, command, environment
from tests.sweeps.conftest import MODULES, leftovers

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(find_spec("submitit") is None, reason="pip install 'quorum-harness[slurm]'"),
    pytest.mark.skipif(not can_run(), reason=MISSING),
]

CELLS = 12
GRID = {"agents": "mortal", "n": "1", "seed": f"range(0,{CELLS})", "env.length": "20", "agents.pause": "0.1"}
SLURM = {"": "slurm", ".cells": "3", ".jobs": "4", ".memory": "500M", ".minutes": "30"}
LOCAL = {"": "local", ".workers": "1"}

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[SlurmCluster]:
    """Run a cluster; with accounts where a test says so."""
    with slurm_cluster(accounts=getattr(request, "param", False)) as running:
        yield running


@pytest.fixture
def start(cluster: SlurmCluster, tmp_path: Path, options: Path) -> Iterator[Start]:
    """Begin a sweep called `s` in its own folder; no job of it outlives the test."""
    (tmp_path / "here").mkdir()

    def begin(grid: Mapping[str, str] = GRID, engine: Mapping[str, str] = SLURM) -> subprocess.Popen[str]:
        plugins = [word for module in MODULES for word in ("--plugin", module)]
        said = [f"{key}={value}" for key, value in grid.items()]
        said += [f"engine{key}={value}" for key, value in engine.items()]
        log = f"agents.log={tmp_path / 'log'}"
        line = command("sweep", "env=corridor", *said, log, *plugins, "--config-dir", str(options))
        process = subprocess.Popen(
            [*line, "--name", "s", "--out", str(tmp_path)],
            cwd=tmp_path / "here",
            env=environment(**cluster.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    started: list[subprocess.Popen[str]] = []
    yield begin
    for process in started:
        process.kill()
        process.communicate()
    cluster.tell("scancel", "--user=root", "--quiet")
    cluster.tell("scancel", "--user=root", "--quiet", "--signal=KILL")
    _until(lambda: not cluster.jobs("PENDING,RUNNING,COMPLETING"))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, options: Path) -> str:
    """Give the table of the same cells, run on this machine."""
    folder = tmp_path_factory.mktemp("local")
    plugins = [word for module in MODULES for word in ("--plugin", module)]
    grid = [f"{key}={value}" for key, value in GRID.items()]
    line = command("sweep", "env=corridor", *grid, *plugins, "--config-dir", str(options), "--name", "s")
    subprocess.run([*line, "--out", str(folder)], cwd=folder, env=environment(), check=True, capture_output=True)
    return _table(folder / "s")


def _table(folder: Path) -> str:
    """Return the results without the columns that name the log, which is no part of what the cells do."""
    rows = as_csv(read_results(folder)).splitlines()
    keep = [i for i, title in enumerate(rows[0].split(",")) if title.startswith(("outcome", "seed", "constraint"))]
    return "\n".join(sorted(",".join(row.split(",")[i] for i in keep) for row in rows))


def _until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.2)


def _ends_well(process: subprocess.Popen[str], folder: Path, undisturbed: str) -> str:
    reported, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, reported
    assert f"{CELLS} of {CELLS} done" in reported
    assert _table(folder) == undisturbed
    assert set(leftovers(folder)) <= {".slurm"}
    return reported


def test_the_cells_of_a_cancelled_job_and_of_a_killed_one_are_run_again(
    cluster: SlurmCluster, start: Start, tmp_path: Path, undisturbed: str
) -> None:
    process = start()
    first, _ = cluster.wait_for("RUNNING", 2)[:2]
    _until((tmp_path / "log").exists)
    cluster.tell("scancel", first)
    subprocess.run(["pkill", "-9", "-n", "-f", f"submitit.core._submit.*{tmp_path}"], check=True)
    _ends_well(process, tmp_path / "s", undisturbed)


def test_a_node_that_is_lost_costs_what_was_under_way(
    cluster: SlurmCluster, start: Start, tmp_path: Path, undisturbed: str
) -> None:
    process = start()
    cluster.wait_for("RUNNING", 2)
    _until((tmp_path / "log").exists)
    cluster.end("slurmd")
    time.sleep(2)
    cluster.start("slurmd")
    _ends_well(process, tmp_path / "s", undisturbed)


def test_a_controller_that_is_away_for_a_while_loses_nothing(
    cluster: SlurmCluster, start: Start, tmp_path: Path, undisturbed: str
) -> None:
    process = start()
    cluster.wait_for("RUNNING", 2)
    cluster.end("slurmctld")
    time.sleep(15)
    cluster.start("slurmctld")
    _ends_well(process, tmp_path / "s", undisturbed)


def test_the_jobs_of_a_killed_command_play_no_cell_beside_the_next_command(
    cluster: SlurmCluster, start: Start, tmp_path: Path, undisturbed: str
) -> None:
    process = start()
    cluster.wait_for("RUNNING", 2)
    waiting = cluster.wait_for("PENDING", 1)
    _until((tmp_path / "log").exists)
    process.kill()
    process.wait()
    cluster.tell("scontrol", "hold", *waiting)  # they begin when the next command is at work
    again = start(engine=LOCAL)
    _until(lambda: not cluster.jobs("RUNNING"))
    cluster.tell("scontrol", "release", *waiting)
    _ends_well(again, tmp_path / "s", undisturbed)
    _until(lambda: not cluster.jobs("PENDING,RUNNING"))
    started = (tmp_path / "log").read_text().splitlines()
    assert len(started) <= CELLS + 2  # once each, but for the two that a stopped job had under way


def test_a_later_command_is_refused_while_jobs_of_a_killed_one_play(
    cluster: SlurmCluster, start: Start, tmp_path: Path
) -> None:
    slow = {**GRID, "agents.pause": "0.6"}
    process = start(grid=slow)
    cluster.wait_for("RUNNING", 2)
    _until((tmp_path / "log").exists)
    process.kill()
    reported, _ = start(grid=slow).communicate(timeout=PATIENCE)
    assert "still run cells of this sweep" in reported
    assert "Traceback" not in reported


def test_ctrl_c_cancels_jobs_that_wait_and_lets_cells_end(cluster: SlurmCluster, start: Start, tmp_path: Path) -> None:
    process = start()
    cluster.wait_for("RUNNING", 2)
    cluster.wait_for("PENDING", 1)
    _until((tmp_path / "log").exists)
    process.send_signal(signal.SIGINT)
    reported, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, reported
    assert not cluster.jobs("PENDING,RUNNING")
    assert leftovers(tmp_path / "s") == [".slurm"]


def test_what_a_job_waits_for_and_what_the_cluster_refuses_is_reported(cluster: SlurmCluster, start: Start) -> None:
    refused, _ = start(engine={**SLURM, ".partition": "nowhere"}).communicate(timeout=PATIENCE)
    errors = [line for line in refused.splitlines() if "sbatch" in line]
    assert errors == [
        "error: engine=slurm: sbatch: error: Batch job submission failed: Invalid partition name specified"
    ]
    waits = start(engine={**SLURM, ".minutes": "600"})
    cluster.wait_for("PENDING", 1)
    time.sleep(22)  # a line is printed every ten seconds
    waits.send_signal(signal.SIGINT)
    assert "PartitionTimeLimit" in waits.communicate(timeout=PATIENCE)[0]


def test_the_cause_of_a_jobs_error_is_reported_and_no_module_of_the_folder_hides_another(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "here" / "yaml.py").write_text("raise SystemExit('this is not the yaml that you meant')\n")
    one = {**GRID, "seed": "0"}
    fails = {**SLURM, ".extra": "['--comment=quorum']", ".setup": "['exit 3']"}
    reported, _ = start(grid=one, engine=fails).communicate(timeout=PATIENCE)
    assert "ended: FAILED (NonZeroExitCode)" in reported
    reported, _ = start(grid=one).communicate(timeout=PATIENCE)
    assert "done: 0 before" in reported


@pytest.mark.skipif(not can_keep_books(), reason=NO_BOOKKEEPERS)
@pytest.mark.parametrize("cluster", [True], indirect=True, ids=["accounts"])
def test_jobs_beyond_a_users_limit_wait_and_all_are_charged_to_the_account(
    cluster: SlurmCluster, start: Start, tmp_path: Path, undisturbed: str
) -> None:
    for words in (
        "add account physics",
        "add user root account=physics",
        "add qos careful",
        "modify user root set qos+=careful",
        "modify user root where account=physics set MaxSubmitJobs=2",
    ):
        cluster.tell("sacctmgr", "--immediate", *words.split())
    refusal, _ = start(engine={**SLURM, ".account": "chemistry"}).communicate(timeout=PATIENCE)
    assert "Invalid account or account/partition combination specified" in refusal
    process = start(engine={**SLURM, ".account": "physics", ".qos": "careful"})
    first = cluster.wait_for("RUNNING", 1)[0]
    _until((tmp_path / "log").exists)
    cluster.tell("scancel", first)
    reported = _ends_well(process, tmp_path / "s", undisturbed)
    assert "not queued: sbatch: error: Batch job submission failed: Job violates accounting/QOS policy" in reported
    columns = ("sacct", "--noheader", "--parsable2", "--allocations")
    charged = [line.split("|") for line in cluster.tell(*columns, "--format=account,qos,state").splitlines()]
    assert {(account, qos) for account, qos, _ in charged} == {("physics", "careful")}
    assert len(charged) >= CELLS // 3
