"""A line of episodes is played in order, each with the memory of the one before, also when it was stopped."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from maeil.outcomes import Outcome
from maeil.trace import comparable, read_trace
from maeil.trace.events import PlanChange
from quorum.agents.llm.spending import Spent
from quorum.installation.provenance import CodeVersion
from quorum.runs import read_results
from quorum.runs.finished import FinishedCell
from quorum.runs.verify import check_folder
from quorum.storage.memory_file import MEMORY, MEMORY_BEFORE, Memory, read_memory
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.engines.protocol import Finished
from quorum.sweeps.plan import plan
from quorum.sweeps.queue import Queue
from quorum.sweeps.run import SweepRequest
from quorum.sweeps.spending import Costs
from quorum_base.user_errors import UserError
from tests.conftest import PATIENCE, command, environment
from tests.sweeps.conftest import MODULES, Sweep, leftovers, stamps

LINE = ("agents=counter", "n=1", "env.length=2", "episode=range(0,4)")
TWO = (*LINE, "seed=0,1")


def episodes(folder: Path) -> dict[tuple[int, int], Path]:
    """Return the runs of a sweep by seed and episode."""
    found = {}
    for meta in folder.glob("corridor*/meta.json"):
        if ".partial-" not in meta.parent.name:
            data = json.loads(meta.read_text())
            found[data["seed"], data["configuration"]["episode"]] = meta.parent
    return dict(sorted(found.items()))


def reported(run: Path) -> str:
    """Return what a counter says in its plans: how many episodes there were before, and what it draws."""
    (said,) = {event.rationale for event in read_trace(run).of(PlanChange) if event.rationale}
    return said


def before(run: Path) -> int:
    """Return how many episodes the counter of a run says that there were before."""
    return int(reported(run).partition(" ")[0])


def contents(folder: Path) -> Mapping[tuple[int, int], Any]:
    """Return what must be equal in two sweeps of equal cells: names, traces without wall times, memories."""
    return {
        place: (run.name, [*comparable(run)], read_memory(run), read_memory(run, MEMORY_BEFORE))
        for place, run in episodes(folder).items()
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, options: Path) -> Path:
    """Play two lines of four episodes, in two processes; nobody changes them."""
    out = tmp_path_factory.mktemp("whole")
    words = ("env=corridor", *TWO, "engine.workers=2")
    run_sweep_command(SweepRequest(words, out, "s", plugins=MODULES, config_dir=options), quiet=True)
    return out / "s"


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> dict[tuple[int, int], Path]:
    """Put a copy of these lines where the sweep called `s` is; return its runs by seed and episode."""
    shutil.copytree(whole, tmp_path / "s")
    return episodes(tmp_path / "s")


def test_each_episode_of_a_line_begins_with_the_memory_of_the_one_before(whole: Path) -> None:
    runs = episodes(whole)
    assert [before(run) for run in runs.values()] == [0, 1, 2, 3] * 2
    for (seed, episode), run in runs.items():
        if episode:
            assert (run / MEMORY_BEFORE).read_bytes() == (runs[seed, episode - 1] / MEMORY).read_bytes()
    assert leftovers(whole) == []


def test_the_episodes_of_a_line_have_one_board_and_other_draws(whole: Path) -> None:
    runs = [run for (seed, _), run in episodes(whole).items() if seed == 0]
    assert len({read_trace(run).start.seed for run in runs}) == 1
    assert len({reported(run).partition(",")[2] for run in runs}) == 4


def test_the_results_of_a_line_have_its_episodes_as_a_factor(whole: Path) -> None:
    assert sorted(row.factors["episode"] for row in read_results(whole).rows if row.seed == 0) == [0, 1, 2, 3]


def test_without_memory_the_same_line_is_played_with_the_same_draws(sweep: Sweep, tmp_path: Path, whole: Path) -> None:
    sweep(*LINE, "memory.keep=false")
    control, kept = episodes(tmp_path / "s"), episodes(whole)
    assert [before(run) for run in control.values()] == [0] * 4
    assert not any((run / MEMORY).exists() for run in control.values())
    draws = [[reported(runs[0, k]).partition(",")[2] for k in range(4)] for runs in (control, kept)]
    assert draws[0] == draws[1]


def test_a_limit_stops_in_the_middle_and_the_same_command_goes_on(sweep: Sweep, tmp_path: Path, whole: Path) -> None:
    first = sweep(*TWO, limit=5)
    assert (len(first.finished), first.left, first.held) == (5, 3, 0)
    assert list(episodes(tmp_path / "s")) == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]
    earlier = stamps(tmp_path / "s")
    assert len(sweep(*TWO).finished) == 3
    assert earlier.items() < stamps(tmp_path / "s").items()
    assert contents(tmp_path / "s") == contents(whole)


@pytest.mark.conformance
def test_a_line_that_was_killed_in_the_middle_is_the_same_when_it_was_resumed(
    sweep: Sweep, tmp_path: Path, options: Path
) -> None:
    words = ("agents=counter", "n=1", "env.length=6", "episode=range(0,4)", "agents.pause=0.1")
    plugins = [word for module in MODULES for word in ("--plugin", module)]
    line = command("sweep", "env=corridor", *words, "engine.workers=1", *plugins, "--config-dir", str(options))
    process = subprocess.Popen(
        [*line, "--out", str(tmp_path), "--name", "s", "--quiet"],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + PATIENCE
    while len(episodes(tmp_path / "s")) < 2 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    assert 2 <= len(episodes(tmp_path / "s")) < 4
    sweep(*words)
    resumed = contents(tmp_path / "s")
    shutil.rmtree(tmp_path / "s")
    sweep(*words)
    assert contents(tmp_path / "s") == resumed
    assert [before(run) for run in episodes(tmp_path / "s").values()] == [0, 1, 2, 3]


def test_a_failed_episode_stops_its_line_alone_and_is_run_again_on_request(sweep: Sweep, tmp_path: Path) -> None:
    words = (*TWO[:-1], "seed=0", "agents.fails_in=2", f"agents.lives_after={tmp_path / 'lives'}")
    first = sweep(*words)
    assert ([done.outcome for done in first.failed], first.held) == (["error"], 1)
    assert "1 cells follow a failed one in their line, and wait until it succeeds" in first.complaint
    assert "--retry-failed" in first.complaint
    assert first.exit_code == 1
    again = sweep(*words)
    assert (len(again.finished), again.held, again.left) == (0, 1, 1)
    assert "1 cells follow a failed one" in again.complaint
    retried = sweep(*words, retry_failed=True)
    assert (len(retried.finished), retried.held, retried.left, retried.failed) == (2, 0, 0, ())
    assert [before(run) for run in episodes(tmp_path / "s").values()] == [0, 1, 2, 3]


@pytest.mark.conformance
@pytest.mark.parametrize(
    "engine",
    [
        pytest.param(
            ("engine=slurm", "engine.executor=local", "engine.cells=2", "engine.jobs=2"),
            marks=pytest.mark.skipif(find_spec("submitit") is None, reason="pip install 'quorum-harness[slurm]'"),
            id="slurm",
        ),
        pytest.param(
            ("engine=ray", "engine.actors=1"),
            marks=pytest.mark.skipif(find_spec("ray") is None, reason="pip install 'quorum-harness[ray]'"),
            id="ray",
        ),
    ],
)
def test_lines_are_the_same_with_another_engine(
    engine: tuple[str, ...], tmp_path: Path, options: Path, whole: Path
) -> None:
    plugins = [word for module in MODULES for word in ("--plugin", module)]
    line = command("sweep", "env=corridor", *TWO, *engine, *plugins, "--config-dir", str(options), "--quiet")
    line += ["--out", str(tmp_path), "--name", "s"]
    done = subprocess.run(line, cwd=tmp_path, env=environment(), check=False, stderr=subprocess.PIPE)
    assert done.returncode == 0, done.stderr[-2000:]
    assert contents(tmp_path / "s") == contents(whole)


def exchanged(run: Path) -> None:
    """Give a run another memory that is whole in itself."""
    other = Memory({"counters": {"episodes": 70, "draw": 0}})
    (run / MEMORY).write_bytes(other.data())
    meta = json.loads((run / "meta.json").read_text())
    meta["memory"]["after"] = other.digest
    meta["files"][MEMORY] = hashlib.sha256((run / MEMORY).read_bytes()).hexdigest()
    (run / "meta.json").write_text(json.dumps(meta))


def test_what_began_with_another_memory_than_its_line_now_has_is_not_done(
    sweep: Sweep, tmp_path: Path, copied: dict[tuple[int, int], Path]
) -> None:
    exchanged(copied[0, 1])
    check = check_folder(tmp_path / "s")
    assert [run.name for run in check.damaged] == [copied[0, 2].name]
    assert f"it differs from the memory.json of {copied[0, 1].name}" in "\n".join(check.lines())
    result = sweep(*TWO)
    assert list(result.damaged) == [copied[0, 2].name, copied[0, 3].name]
    assert "it started from a different memory than this episode left" in result.damaged[copied[0, 2].name]
    assert [before(run) for run in episodes(tmp_path / "s").values()] == [0, 1, 70, 71, 0, 1, 2, 3]


def test_episodes_behind_one_that_is_damaged_are_played_again(
    sweep: Sweep, tmp_path: Path, copied: dict[tuple[int, int], Path], whole: Path
) -> None:
    (copied[1, 2] / MEMORY).write_text("{}")
    result = sweep(*TWO)
    assert sorted(result.damaged) == sorted(copied[1, k].name for k in (2, 3))
    assert len(result.finished) == 2
    assert contents(tmp_path / "s") == contents(whole)


def test_a_whole_line_is_verified_without_a_complaint(whole: Path) -> None:
    assert check_folder(whole).damaged == ()


def test_a_memory_that_is_not_the_one_of_meta_is_damage(tmp_path: Path, copied: dict[tuple[int, int], Path]) -> None:
    meta = copied[0, 0] / "meta.json"
    data = json.loads(meta.read_text())
    data["memory"]["after"] = "0" * 64
    meta.write_text(json.dumps(data))
    problems = [problem for run in check_folder(tmp_path / "s").damaged for problem in run.problems]
    assert "memory.json: its digest differs from that in meta.json" in problems


@pytest.fixture
def planned(options: Path) -> Callable[..., Any]:
    return lambda *words: plan(("env=corridor", "agents=counter", *words), options)


@pytest.mark.parametrize("values", ["1", "1,2", "0,2", "range(2,5)"])
def test_a_line_has_no_gap_and_begins_with_its_first_episode(planned: Callable[..., Any], values: str) -> None:
    with pytest.raises(UserError, match=r"its team remembers earlier episodes, and the sweep has no episode \d"):
        planned(f"episode={values}")


@pytest.mark.parametrize("words", [("memory.keep=false",), ("agents=walker",)])
def test_episodes_without_memory_stand_for_themselves(options: Path, words: tuple[str, ...]) -> None:
    team = () if words[0].startswith("agents=") else ("agents=counter",)
    cells = plan(("env=corridor", *team, *words, "episode=3,1"), options).cells
    assert [cell.follows for cell in cells] == ["", ""]
    assert len({cell.name for cell in cells}) == 2


def test_a_sweep_has_no_store(planned: Callable[..., Any]) -> None:
    with pytest.raises(UserError, match=r"^memory.store: a sweep keeps the memory of a line in the folders of its cel"):
        planned("memory.store=there", "episode=0,1")


def test_a_cell_waits_for_no_worker_before_the_one_that_it_follows_is_done(
    planned: Callable[..., Any], tmp_path: Path
) -> None:
    cells = planned("seed=0,1", "episode=range(0,3)").cells
    queue = Queue(tmp_path, cells, Costs())
    shard = queue.take(6, idle=True)
    assert shard is not None
    assert [re.search(r"-s(\d)-", cell.name)[1] for cell in shard.cells] == ["0", "1"]  # type: ignore[index]
    assert {cell.episode for cell in shard.cells} == {0}
    assert (queue.waiting, queue.total) == (0, 6)
    assert queue.take(6, idle=True) is None


@pytest.mark.parametrize(("outcome", "waiting"), [(end, int(end != "error")) for end in Outcome])
def test_a_line_goes_on_after_every_end_but_an_error(
    planned: Callable[..., Any], tmp_path: Path, outcome: Outcome, waiting: int
) -> None:
    queue = Queue(tmp_path, planned("episode=range(0,2)").cells, Costs())
    shard = queue.take(1, idle=True)
    assert shard is not None
    name, code = shard.cells[0].name, CodeVersion("1")
    queue.report(Finished(FinishedCell(name, "", outcome, "", 1.0, Spent(), simulated=False, code=code)))
    assert queue.waiting == waiting
