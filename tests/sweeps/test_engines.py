"""The same sweep through every engine gives the same table of results."""

from __future__ import annotations

import json
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from quorum.cluster.on_ray import _RayWorker
from quorum.cluster.slurm import run_shard
from quorum.episode.planned_cell import PlannedCell
from quorum.installation.provenance import CodeVersion, provenance
from quorum.runs import as_csv, read_results
from quorum.sweeps.engines.locks import claim_of, sweep_lock
from quorum.sweeps.engines.protocol import CallStatus, Shard, Started, SweepJob, Waits
from quorum.sweeps.engines.worker_pool import Member, hand_out
from quorum.sweeps.plan import plan
from quorum.sweeps.queue import Queue
from quorum.sweeps.spending import Costs
from quorum.sweeps.stopping import Stop
from quorum_base.user_errors import UserError
from tests.conftest import command, environment
from tests.sweeps.conftest import MODULES, Sweep, leftovers, stamps


def table(folder: Path) -> str:
    return as_csv(read_results(folder))


@pytest.fixture(scope="module")
def relic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file: while it is not there, the worker of the first cell with a corridor of four cells dies."""
    return tmp_path_factory.mktemp("relics") / "relic"


@pytest.fixture(scope="module")
def words(relic: Path) -> tuple[str, ...]:
    return ("agents=mortal", "n=1,2", "seed=0,1", "env.length=3,4", "agents.dies_in=4", f"agents.lives_after={relic}")


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory, options: Path, words: tuple[str, ...], relic: Path) -> str:
    """Give the table that `local` leaves when nobody dies."""
    folder = tmp_path_factory.mktemp("local")
    relic.touch()
    done = _by_command(folder, options, *words)
    assert done.returncode == 0, done.stderr
    return table(folder / "runs" / "s")


def _by_command(folder: Path, options: Path, *words: str) -> subprocess.CompletedProcess[str]:
    plugins = [word for module in MODULES for word in ("--plugin", module)]
    line = command("sweep", "env=corridor", *words, *plugins, "--config-dir", str(options), "--name", "s", "--json")
    return subprocess.run(line, cwd=folder, env=environment(), check=False, capture_output=True, text=True)


@pytest.mark.conformance  # these engines take longer to start than their cells
@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(
            ("engine=slurm", "engine.executor=local", "engine.cells=4", "engine.jobs=2"),
            marks=pytest.mark.skipif(find_spec("submitit") is None, reason="pip install 'quorum-harness[slurm]'"),
            id="slurm",
        ),
        pytest.param(
            ("engine=ray", "engine.actors=2"),
            marks=[
                pytest.mark.skipif(find_spec("ray") is None, reason="pip install 'quorum-harness[ray]'"),
            ],
            id="ray",
        ),
    ],
)
def test_another_engine_gives_the_same_table_though_a_worker_dies(
    engine: tuple[str, ...], tmp_path: Path, options: Path, words: tuple[str, ...], relic: Path, local: str
) -> None:
    relic.unlink()
    done = _by_command(tmp_path, options, *words, *engine)
    assert done.returncode == 0, done.stderr[-2000:]
    assert relic.exists()
    assert (json.loads(done.stdout)["run_now"], json.loads(done.stdout)["left"]) == (8, 0)
    assert table(tmp_path / "runs" / "s") == local
    assert set(leftovers(tmp_path / "runs" / "s")) <= {".slurm"}


@pytest.mark.skipif(find_spec("submitit") is None, reason="pip install 'quorum-harness[slurm]'")
def test_without_slurm_its_executor_is_told(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    provenance()  # asks git, and remembers
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match=r"engine\.executor: .*\n?.*engine\.executor=local"):
        sweep("agents=walker", engine=("engine=slurm",))


def test_a_job_that_waited_in_a_queue_runs_no_cell_that_has_been_done_since(
    sweep: Sweep, tmp_path: Path, options: Path
) -> None:
    grid = ("agents=mortal", "n=1", "seed=0,1", f"agents.log={tmp_path / 'log'}")
    sweep(*grid, limit=1)
    before = stamps(tmp_path / "s")
    job = SweepJob(tmp_path / "s", Path.cwd(), MODULES, CodeVersion.of(provenance()), claim_of(tmp_path / "s"))
    assert run_shard(job, Shard(plan(("env=corridor", *grid), options).cells), 1, 64) == []
    assert before.items() < stamps(tmp_path / "s").items()
    assert len((tmp_path / "log").read_text().splitlines()) == 2


def test_a_job_that_waited_while_another_command_took_the_sweep_over_plays_nothing(
    sweep: Sweep, tmp_path: Path, options: Path
) -> None:
    grid = ("agents=mortal", "n=1", "seed=0,1", f"agents.log={tmp_path / 'log'}")
    sweep(*grid, limit=1)
    job = SweepJob(tmp_path / "s", Path.cwd(), MODULES, CodeVersion.of(provenance()), "of the command that queued it")
    shard = Shard(plan(("env=corridor", *grid), options).cells)
    with sweep_lock(tmp_path / "s"):
        assert run_shard(job, shard, 1, 64) == []
    assert run_shard(job, shard, 1, 64) == []
    assert len((tmp_path / "log").read_text().splitlines()) == 1


class _Recorded(Member):
    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def send(self, cells: tuple[PlannedCell, ...]) -> None:
        self.sent += [cell.name for cell in cells]


def _hand_out(queue: Queue, most: int, episodes: int) -> list[_Recorded]:
    members: list[_Recorded] = []
    hand_out(queue, members, episodes, lambda: _Recorded() if len(members) < most else None)
    return members


def _queue(folder: Path, *words: str) -> Queue:
    return Queue(folder, plan(words).cells, Costs())


def test_teams_without_models_are_handed_out_two_to_a_worker_and_others_as_many_as_it_plays(tmp_path: Path) -> None:
    members = _hand_out(_queue(tmp_path, "seed=range(0,9)"), 2, 3)
    assert [len(member.cells) for member in members] == [2, 2]
    members = _hand_out(_queue(tmp_path, "agents=naive", "seed=range(0,9)"), 2, 3)
    assert [len(member.cells) for member in members] == [3, 3]


def test_few_cells_take_few_workers_and_none_takes_two_while_another_has_none(tmp_path: Path) -> None:
    members = _hand_out(_queue(tmp_path, "seed=range(0,3)"), 3, 64)
    assert [len(member.cells) for member in members] == [1, 1, 1]


def test_a_cell_that_workers_died_with_twice_is_alone_with_an_idle_worker(tmp_path: Path) -> None:
    queue = _queue(tmp_path, "agents=naive", "seed=range(0,3)")
    for _ in range(2):
        shard = queue.take(1, idle=True)
        assert shard is not None
        assert not shard.alone
        queue.running |= {cell.name for cell in shard.cells}
        queue.lost(shard.cells, "killed")
    assert queue.take(3, idle=False) is None
    alone = queue.take(3, idle=True)
    assert alone == Shard(shard.cells, alone=True)
    member = _Recorded()
    member.give(alone)
    assert not member.has_room(64)


def test_nothing_is_handed_out_once_the_sweep_stops(tmp_path: Path) -> None:
    queue = _queue(tmp_path, "seed=range(0,3)")
    queue.end(Stop.INTERRUPTED, "interrupted")
    assert _hand_out(queue, 2, 64) == []


async def test_an_actor_leaves_the_start_of_a_cell_to_the_driver_and_reports_the_rest_once() -> None:
    class Plays:
        async def run_all(self, cells: tuple[str, ...]) -> None:
            for cell in cells:
                actor._keep(Started(cell))
                actor._keep(Waits(cell))

        def report_calls(self) -> None:
            actor._keep(CallStatus("here:1"))

    actor = _RayWorker(None, 1)
    actor._worker = Plays()
    assert await actor.run(("a", "b")) == [Waits("a"), Waits("b"), CallStatus("here:1")]
    assert await actor.run(()) == [CallStatus("here:1")]
