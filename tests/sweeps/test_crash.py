"""A sweep whose command, or whose workers, are killed again and again ends as if nothing had happened."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children
from pathlib import Path

import pytest

from quorum.episode.runner import run_cell
from quorum.runs import as_csv, read_results
from quorum.sweeps.command import choose_engine
from quorum.sweeps.plan import plan
from quorum.sweeps.queue import Queue
from quorum.sweeps.run import SweepRequest, SweepStatus, run_sweep
from quorum.sweeps.sweep_folder import SweepFolder
from tests.conftest import PATIENCE, command, environment
from tests.sweeps.conftest import MODULES, Sweep, leftovers, stamps

ENGINE = ("engine.workers=2",)


@dataclass(frozen=True)
class Trial:
    """A sweep that is disturbed.

    Attributes:
        cells: in its grid.
        kills: how often something is killed.
        words: of the grid.
    """

    cells: int
    kills: int
    words: tuple[str, ...]


SHORT = Trial(16, 2, ("agents=mortal", "n=1,2", "env.length=range(2,6)", "seed=0,1", "agents.pause=0.01"))
LONG = Trial(60, 5, ("agents=mortal", "n=1,2,3", "env.length=range(2,12)", "seed=0,1", "agents.pause=0.01"))


@pytest.fixture(
    scope="module", params=[SHORT, pytest.param(LONG, marks=pytest.mark.conformance)], ids=lambda trial: trial.cells
)
def trial(request: pytest.FixtureRequest) -> Trial:
    """Give a short sweep, and for `make conformance` a long one."""
    found: Trial = request.param
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, options: Path, trial: Trial) -> str:
    """Give the table of results of the same cells, run one by one."""
    folder = SweepFolder(tmp_path_factory.mktemp("undisturbed"), "s")
    folder.path.mkdir()
    planned = plan(("env=corridor", *trial.words), options)
    for cell in planned.cells:
        run_cell(cell.cell(), folder.path)
    folder.write_manifest(planned)
    return as_csv(read_results(folder.path))


@contextmanager
def killing(moments: list[int], queue: Queue, _standing: SweepStatus) -> Iterator[Callable[[], None]]:
    """Kill a worker each time when so many cells are done; `moments` shrinks."""
    draw = random.Random(2)

    def show() -> None:
        if moments and len(queue.finished) >= moments[0] and queue.running:
            time.sleep(draw.random() * 0.1)
            draw.choice([process for process in active_children() if process.name == "quorum-worker"]).kill()
            moments.pop(0)

    yield show


def test_killed_workers_change_nothing(
    asked: Callable[..., SweepRequest], undisturbed: str, tmp_path: Path, options: Path, trial: Trial
) -> None:
    words = asked(*trial.words, engine=())
    moments = sorted(random.Random(1).sample(range(1, trial.cells - 5), trial.kills))
    planned = plan(words.words, options)
    assert len(planned.cells) == trial.cells

    def view(queue: Queue, status: SweepStatus):
        return killing(moments, queue, status)

    folder = words.folder("s")
    summary = run_sweep(planned, folder, choose_engine(ENGINE), request=words, view=view)
    assert moments == []
    assert (summary.left, summary.failed, len(summary.finished)) == (0, (), trial.cells)
    assert len({done.name for done in summary.finished}) == trial.cells
    assert as_csv(read_results(tmp_path / "s")) == undisturbed
    assert leftovers(tmp_path / "s") == []


def test_killed_commands_change_nothing_and_no_cell_is_run_again_after_it_was_done(
    tmp_path: Path, options: Path, undisturbed: str, sweep: Sweep, trial: Trial
) -> None:
    draw = random.Random(3)
    plugins = [word for module in MODULES for word in ("--plugin", module)]
    line = command(
        "sweep", "env=corridor", *trial.words, *ENGINE, *plugins, "--config-dir", str(options), "--name", "s", "--quiet"
    )
    folder = tmp_path / "s"
    done: dict[str, tuple[int, int]] = {}
    ends = Counter[int]()
    for _ in range(trial.kills):
        process = subprocess.Popen([*line, "--out", str(tmp_path)], env=environment())
        more = draw.randrange(1, 5)
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and len(stamps(folder)) < len(done) + more and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(draw.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        ends[process.wait()] += 1
        now = stamps(folder)
        assert done.items() <= now.items()
        assert all((folder / name / "metrics.json").exists() for name in now)
        done = now
    assert ends == {-signal.SIGKILL: trial.kills}
    assert 0 < len(done) < trial.cells
    summary = sweep(*trial.words, engine=ENGINE)
    assert (summary.before >= len(done), summary.left, summary.failed) == (True, 0, ())
    assert done.items() <= stamps(folder).items()
    assert as_csv(read_results(folder)) == undisturbed
    assert leftovers(folder) == []
