"""Sweeps on a cluster of Ray with its own nodes: nodes are lost and join, and the results are the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from quorum.episode.episode_folder import PARTIAL
from quorum.runs import as_csv, read_results
from tests.conftest import PATIENCE, command, environment
from tests.sweeps.conftest import MODULES, leftovers

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(find_spec("ray") is None, reason="pip install 'quorum-harness[ray]'"),
]

CELLS = 24
GRID = ("agents=mortal", "n=1", f"seed=range(0,{CELLS})", "env.length=20", "agents.pause=0.1")

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give a cluster of three nodes with a processor each, next to a head without any."""
    for key, value in environment().items():
        monkeypatch.setenv(key, value)  # which the nodes pass on to their workers
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(3):
        made.add_node(num_cpus=1)
    yield made
    made.shutdown()


@pytest.fixture
def start(tmp_path: Path, options: Path) -> Iterator[Start]:
    """Begin a sweep called `s` whose cells tell a log when they begin."""

    def begin(*engine: str) -> subprocess.Popen[str]:
        plugins = [word for module in MODULES for word in ("--plugin", module)]
        line = command("sweep", "env=corridor", *GRID, f"agents.log={tmp_path / 'log'}", *plugins, "--config-dir")
        process = subprocess.Popen(
            [*line, str(options), *engine, "--name", "s", "--out", str(tmp_path), "--json"],
            cwd=tmp_path,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    started: list[subprocess.Popen[str]] = []
    yield begin
    for process in started:
        process.kill()
        process.communicate()


def _outcomes(folder: Path) -> list[str]:
    rows = as_csv(read_results(folder)).splitlines()
    keep = [i for i, title in enumerate(rows[0].split(",")) if title.startswith(("outcome", "seed"))]
    return sorted(",".join(row.split(",")[i] for i in keep) for row in rows)


def _started(folder: Path) -> int:
    log = folder / "log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def _actors(cluster: Any) -> list[str]:
    """Return the processes in which workers of the cluster run; another test may have one at the same time."""
    nodes = _processes("-f", f"raylet/raylet .*--gcs-address={cluster.address}")
    return _processes("--parent", ",".join(nodes), "-f", "ray::_RayWorker")


def _processes(*which: str) -> list[str]:
    return subprocess.run(["pgrep", *which], capture_output=True, text=True).stdout.split()  # noqa: PLW1510


def _under_way(folder: Path) -> set[str]:
    """Return the cells that are played just now."""
    return {path.name.partition(PARTIAL)[0] for path in (folder / "s").glob(f"*{PARTIAL}*")}


def _until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.1)


def _ends_well(process: subprocess.Popen[str], folder: Path) -> None:
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err[-3000:]
    reported = json.loads(out)
    assert (reported["run_now"], reported["left"], reported["failed"]) == (CELLS, 0, [])
    assert leftovers(folder / "s") == []
    assert len(_outcomes(folder / "s")) == CELLS + 1


def test_a_sweep_goes_on_with_the_nodes_that_are_left(cluster: Any, start: Start, tmp_path: Path) -> None:
    process = start("engine=ray", f"engine.address={cluster.address}")
    # All nodes at once: on a busy machine the first cell may be done before the third node has begun.
    _until(lambda: len(_under_way(tmp_path)) == 3)
    under_way = _under_way(tmp_path)
    cluster.remove_node(cluster.worker_nodes.copy().pop(), allow_graceful=False)
    gone = time.time()
    _ends_well(process, tmp_path)
    recovered = max((tmp_path / "s" / name / "meta.json").stat().st_mtime for name in under_way) - gone
    assert recovered < 60  # 6 s on two cores
    assert _started(tmp_path) <= CELLS + 2  # what the node had is run again, and nothing else


def test_a_node_that_joins_is_used(cluster: Any, start: Start, tmp_path: Path) -> None:
    for node in list(cluster.worker_nodes):
        cluster.remove_node(node)
    process = start("engine=ray", f"engine.address={cluster.address}")
    time.sleep(3)
    assert process.poll() is None  # it waits: there is no place
    cluster.add_node(num_cpus=1)
    _until(lambda: _started(tmp_path) >= 2)
    cluster.add_node(num_cpus=1)
    _until(lambda: len(_actors(cluster)) == 2)
    _ends_well(process, tmp_path)


def test_more_actors_than_places_keep_no_cell_waiting(cluster: Any, start: Start, tmp_path: Path) -> None:
    _ends_well(start("engine=ray", f"engine.address={cluster.address}", "engine.actors=5"), tmp_path)
    assert _started(tmp_path) == CELLS


@pytest.mark.parametrize("server", ["raylet", "gcs_server"])
def test_a_node_of_its_own_that_is_gone_ends_the_sweep_with_the_command_that_goes_on(
    server: str, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "300")  # a busy machine
    process = start("engine=ray", "engine.actors=2", "engine.cpus=0.5")
    deadline = time.monotonic() + PATIENCE
    while len(list(tmp_path.glob("s/*/metrics.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    names = {int(child): Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0] for child in children}
    [number] = [number for number, name in names.items() if name.endswith(f"/{server}".encode())]
    os.kill(number, signal.SIGKILL)
    _, reported = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2, reported
    assert f"the node that this command started has ended: its {server} is gone" in reported
    assert "cells are left; continue with: quorum sweep" in reported
    assert leftovers(tmp_path / "s") == []
