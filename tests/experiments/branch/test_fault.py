"""Branches of a run in which one participant does one thing wrong."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from maeil.trace import comparable, read_trace
from maeil.trace.events import ThoughtStart
from maeil.user_errors import UserError
from quorum.experiments.branch.command import BranchRequest, plan_branch
from quorum.experiments.branch.parent import Parent
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.fault import FAULT, Fault, read_label
from quorum.experiments.episode.runner import run_cell
from tests.experiments.branch.test_identity import assert_same, branched

CELLS = {
    "cube": "n=4 max_steps=60 seed=0",
    "cube talk": "n=4 agents=naive topology=debate max_steps=60 seed=2 fault.kinds=[withheld,wrong_plan]",
    "cube negotiators": "n=4 agents=negotiator topology=debate max_steps=45 seed=1",
    "transport": "env=transport n=4 max_steps=6 seed=1",
    "transport stubborn": "env=transport n=4 max_steps=7 seed=2 fault.kinds=[stubborn]",
    "transport talk": "env=transport n=4 agents=naive topology=centralized max_steps=14",
}


def faulty(words: str, out: Path) -> tuple[Path, Fault]:
    folder = run_cell(Cell.compose(["fault=one", *words.split()]), out).folder
    label = read_label(folder)
    assert label is not None
    assert label.fault is not None, label.reason
    return folder, label.fault


@pytest.mark.parametrize("cell", CELLS)
def test_without_a_change_the_fault_is_done_again_and_a_fresh_copy_does_not_do_it(cell: str, tmp_path: Path) -> None:
    run, fault = faulty(CELLS[cell], tmp_path / "runs")
    own = Cell.compose(["fault=one", *CELLS[cell].split()]).configuration.agents.name
    at = f"{fault.t}:{fault.t_hat}"
    for instant in ("0", at):
        assert_same(branched(run, instant, tmp_path / "same").folder, run)
    copy = branched(run, at, tmp_path / "copies", minds=[f"{fault.agent}={own}"])
    clean = run_cell(Cell.compose([w for w in CELLS[cell].split() if "fault" not in w]), tmp_path / "clean")
    assert copy.metrics["outcome.success"]
    assert comparable(copy.folder)[1:] == comparable(clean.folder)[1:]


@pytest.mark.parametrize("words", ["n=4 seed=5", "env=transport n=4", "n=4 agents=negotiator topology=debate"])
def test_a_fresh_copy_of_a_mind_without_a_fault_changes_nothing(words: str, tmp_path: Path) -> None:
    cell = Cell.compose(words.split())
    run = run_cell(cell, tmp_path / "runs").folder
    begun = [s for s in read_trace(run).events if isinstance(s.event, ThoughtStart)]
    middle = begun[len(begun) // 2]
    minds = [f"agent_1={cell.configuration.agents.name}"]
    assert comparable(branched(run, f"{middle.t}", tmp_path, minds=minds).folder)[1:] == comparable(run)[1:]


def test_the_copy_of_another_agent_does_not_undo_the_fault(tmp_path: Path) -> None:
    run, fault = faulty(CELLS["transport"], tmp_path / "runs")
    other = "agent_0" if fault.agent != "agent_0" else "agent_1"
    branch = branched(run, f"{fault.t}:{fault.t_hat}", tmp_path, minds=[f"{other}=heuristic"])
    assert comparable(branch.folder)[1:] == comparable(run)[1:]


def test_a_copy_is_a_cell_of_its_own_and_not_idle(tmp_path: Path) -> None:
    run, _ = faulty(CELLS["transport"], tmp_path / "runs")
    plain, copy = (plan_branch(BranchRequest(run, "0", minds=m)) for m in ((), ("agent_0=heuristic",)))
    assert plain.cell.name != copy.cell.name
    assert not copy.idle
    assert copy.cell.branch is not None
    assert copy.cell.branch.plain()["copied"] == ["agent_0"]
    assert plain.cell.branch is not None
    assert "copied" not in plain.cell.branch.plain()


def test_a_run_whose_label_is_gone_or_broken_is_refused(tmp_path: Path) -> None:
    run, _ = faulty(CELLS["transport"], tmp_path / "runs")
    without = tmp_path / "without"
    shutil.copytree(run, without)
    (without / FAULT).write_text('{"fault": {"agent": 3}}')
    with pytest.raises(UserError, match="it is no label of a fault"):
        Parent.open(without)
    (without / FAULT).unlink()
    with pytest.raises(UserError, match=r"its fault\.json is gone"):
        Parent.open(without)


def test_what_is_shown_of_a_parent_does_not_tell_the_fault(tmp_path: Path) -> None:
    run, fault = faulty(CELLS["transport"], tmp_path / "runs")
    assert f"{fault.draw}" not in repr(Parent.open(run))
