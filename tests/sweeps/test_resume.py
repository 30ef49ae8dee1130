"""The same command again runs what is missing, and nothing else."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from quorum.sweeps import sweep_folder
from quorum.sweeps.engines.locks import sweep_lock
from quorum_base.user_errors import UserError
from tests.sweeps.conftest import Sweep, leftovers, stamps

GRID = ("agents=mortal", "n=1", "seed=0,1", "env.length=3,4")


def test_done_cells_are_not_run_again_and_a_limit_bounds_one_call(sweep: Sweep, tmp_path: Path) -> None:
    log = tmp_path / "log"
    words = (*GRID, f"agents.log={log}")
    first = sweep(*words, limit=3)
    assert (first.planned, first.before, len(first.finished), first.left) == (4, 0, 3, 1)
    before = stamps(tmp_path / "s")
    second = sweep(*words)
    assert (second.before, len(second.finished), second.left) == (3, 1, 0)
    assert (second.exit_code, second.complaint) == (0, "")
    third = sweep(*words)
    assert (third.before, len(third.finished)) == (4, 0)
    after = stamps(tmp_path / "s")
    assert before.items() < after.items()
    assert len(log.read_text().splitlines()) == 4
    assert leftovers(tmp_path / "s") == []


def test_failed_cells_are_run_again_on_request_only_and_their_attempts_are_kept(sweep: Sweep, tmp_path: Path) -> None:
    words = ("agents=walker", "n=1", "env.length=2,5", "agents.fails_at=4")
    first = sweep(*words)
    ((outcome, reason),) = [(done.outcome, done.reason) for done in first.failed]
    assert outcome == "error"
    assert reason.endswith("walker.py:34, in Walker.think: RuntimeError: the walker stumbled")
    assert first.exit_code == 1
    assert "run them with --retry-failed" in first.complaint
    again = sweep(*words)
    assert (len(again.finished), len(again.failed)) == (0, 1)
    before = stamps(tmp_path / "s")
    retried = sweep(*words, retry_failed=True)
    name = first.failed[0].name
    assert [done.name for done in retried.finished] == [name]
    assert {cell for cell, stamp in stamps(tmp_path / "s").items() if before[cell] != stamp} == {name}
    assert (tmp_path / "s" / ".retried" / name / "1" / "traceback.txt").exists()


def test_a_damaged_cell_is_set_aside_and_run_again(sweep: Sweep, tmp_path: Path) -> None:
    words = (*GRID[:2], "seed=0,1")
    sweep(*words)
    damaged, *_ = sorted((tmp_path / "s").glob("corridor*"))
    (damaged / "meta.json").write_text("{")
    summary = sweep(*words)
    assert ([done.name for done in summary.finished], summary.left) == ([damaged.name], 0)
    assert (tmp_path / "s" / ".retried" / damaged.name / "1" / "meta.json").read_text() == "{"


def test_what_killed_commands_left_half_written_is_removed(sweep: Sweep, tmp_path: Path) -> None:
    words = (*GRID[:2], "seed=0")
    name = sweep(*words).finished[0].name
    half = tmp_path / "s" / f"{name}.partial-12345678"
    shutil.copytree(tmp_path / "s" / name, half)
    (tmp_path / "s" / ".results.csv.1234abcd").write_text("name")
    (tmp_path / "s" / "sweep.json").write_text("{")
    mine = tmp_path / "s" / ".gitignore"
    mine.write_text("*")
    assert sweep(*words).before == 1
    mine.unlink()
    assert leftovers(tmp_path / "s") == []
    assert name in (tmp_path / "s" / "sweep.json").read_text()


def test_a_larger_grid_of_the_same_name_keeps_what_was_done(sweep: Sweep, tmp_path: Path) -> None:
    sweep("agents=mortal", "n=1", "seed=0")
    larger = sweep("agents=mortal", "n=1", "seed=1,0,2")
    assert (larger.before, len(larger.finished)) == (1, 2)
    smaller = sweep("agents=mortal", "n=1", "seed=2")
    assert (smaller.planned, smaller.before) == (1, 1)
    assert len(stamps(tmp_path / "s")) == 3
    assert (tmp_path / "s" / "sweep.json").read_text().count('"hash"') == 3


def test_a_table_later_than_all_runs_is_left_alone_and_any_other_is_written_again(sweep: Sweep, tmp_path: Path) -> None:
    words = ("agents=mortal", "n=1", "seed=0,1")
    sweep(*words)
    table = tmp_path / "s" / "results.csv"

    def written_by(*words: str) -> bool:
        before = table.stat().st_ino if table.exists() else None
        kept = table.open() if before is not None else None  # or else the new file could get the number of the old one
        sweep(*words)
        if kept is not None:
            kept.close()
        return table.stat().st_ino != before

    assert not written_by(*words)
    run, *_ = (tmp_path / "s").glob("corridor*")
    shutil.copytree(run, tmp_path / "copy")  # keeps the time of modification, as rsync does
    shutil.rmtree(run)
    shutil.copytree(tmp_path / "copy", run)
    assert written_by(*words)
    assert written_by("agents=mortal", "n=1", "seed=1,0")
    assert not written_by("agents=mortal", "n=1", "seed=1,0")
    table.unlink()
    assert written_by("agents=mortal", "n=1", "seed=1,0")


def test_two_commands_do_not_work_in_one_folder(sweep: Sweep, tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    with sweep_lock(tmp_path / "s"), pytest.raises(UserError, match=r"another quorum sweep is running.*process \d+ on"):
        sweep(*GRID)
    assert sweep(*GRID, limit=1).left == 3


@pytest.mark.parametrize("waits", [True, False])
def test_however_cells_are_read_all_of_them_are_seen(
    waits: bool, sweep: Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In threads where reading waits, one after the other where it computes."""
    words = (*GRID[:2], "seed=range(0,5)")
    sweep(*words)
    damaged, *_ = sorted((tmp_path / "s").glob("corridor*"), reverse=True)
    (damaged / "meta.json").write_text("{")
    used = []
    pool = sweep_folder.ThreadPoolExecutor
    monkeypatch.setattr(sweep_folder, "_SAMPLE", 2)
    monkeypatch.setattr(sweep_folder, "ThreadPoolExecutor", lambda number: used.append(number) or pool(number))
    monkeypatch.setattr(sweep_folder.time, "thread_time", lambda: 0.0 if waits else time.perf_counter())
    again = sweep(*words)
    assert (again.before, [done.name for done in again.finished]) == (4, [damaged.name])
    assert bool(used) == waits
