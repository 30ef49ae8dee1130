"""`quorum branch --luck`: in each draw other luck from the branch point on, the same for a change and its control."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maeil.trace import Trace, comparable, read_trace
from maeil.trace.events import StepTaken, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.verify import verify_run
from quorum.what_if.extensions.luck.events import WorldLuck
from tests.conftest import Quorum

AT = 12
CELL = ("env=crafter_coop", "n=2", "max_steps=40", "seed=3")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return run_cell(Cell.compose(CELL), tmp_path / "runs").folder


def luck_of(trace: Trace) -> tuple[int, int]:
    """The step in which the only other luck of a trace begins, and its seed."""
    (found,) = trace.stamped(WorldLuck)
    return found.t, found.event.seed


def steps_of(folder: Path) -> list[StepTaken]:
    return [s.event for s in read_trace(folder).events if isinstance(s.event, StepTaken)]


def test_each_draw_has_its_own_luck_and_a_change_meets_that_of_its_control(quorum: Quorum, run: Path) -> None:
    words = (
        "branch",
        str(run),
        "--at",
        str(AT),
        "--mind",
        "agent_1=idle",
        "--draws",
        "3",
        "--luck",
        "--name",
        "what-if",
    )
    done = quorum(*words)
    assert done.returncode == 0, done.stderr
    folders = sorted(file.parent for file in (run.parent / "what-if").glob("*/trace.jsonl"))
    lucks: dict[bool, dict[int, tuple[int, int]]] = {True: {}, False: {}}
    for folder in folders:
        cell = json.loads((folder / "meta.json").read_text())["branch"]
        lucks["idle" in folder.name][cell["draw"]] = luck_of(read_trace(folder))
        assert verify_run(folder).problems == []
        assert steps_of(folder)[:AT] == steps_of(run)[:AT]
    assert lucks[True] == lucks[False]
    assert {at for at, _ in lucks[True].values()} == {AT}
    assert len({seed for _, seed in lucks[True].values()}) == 3
    controls = {tuple(comparable(folder)[1:]) for folder in folders if "idle" not in folder.name}
    assert len(controls) == 3  # agents without draws: what differs is luck, and what it leads to
    again = quorum(*words)
    assert "6 before, 0 now" in " ".join((again.stdout + again.stderr).split())


def test_a_single_branch_has_the_luck_of_the_first_draw(quorum: Quorum, run: Path) -> None:
    single = json.loads(quorum("branch", str(run), "--at", str(AT), "--luck", "--json").stdout)["folder"]
    assert quorum("branch", str(run), "--at", str(AT), "--luck", "--draws", "2", "--name", "more").returncode == 0
    of_one = run.parent.parent / single
    (first,) = [file.parent for file in (run.parent / "more").glob(f"{of_one.name}/trace.jsonl")]
    assert comparable(first) == comparable(of_one) != comparable(run)


def test_inside_a_conversation_the_other_luck_begins_with_the_next_step(quorum: Quorum, run: Path) -> None:
    start = next(s for s in read_trace(run).stamped(ThoughtStart) if s.t >= AT)
    done = quorum("branch", str(run), "--at", f"{start.t}:{start.t_hat}", "--luck", "--json")
    assert done.returncode == 0, done.stderr
    folder = run.parent.parent / json.loads(done.stdout)["folder"]
    assert luck_of(read_trace(folder))[0] == start.t + 1
    assert verify_run(folder).problems == []
    assert steps_of(folder)[: start.t + 1] == steps_of(run)[: start.t + 1]


@pytest.mark.parametrize(
    ("cell", "arguments", "words"),
    [
        (("env=transport", "n=2", "max_steps=4"), ("--at", "2"), "are not random"),
        (CELL, ("--at", "12", "--probe", "beliefs"), "--luck would have no effect"),
    ],
)
def test_luck_that_cannot_be_drawn_is_refused_before_anything_is_written(
    quorum: Quorum, tmp_path: Path, cell: tuple[str, ...], arguments: tuple[str, ...], words: str
) -> None:
    run = run_cell(Cell.compose(cell), tmp_path / "runs").folder
    for draws in ("1", "2"):
        done = quorum("branch", str(run), *arguments, "--luck", "--draws", draws)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr
        assert "Traceback" not in done.stderr
    assert list(run.parent.iterdir()) == [run]


@pytest.mark.parametrize("option", [("--luck",), ("--world", '{"cells": {"30,30": "grass"}}')])
def test_what_a_luck_branch_has_drawn_is_named_when_it_is_branched_with_luck_or_a_change(
    quorum: Quorum, run: Path, option: tuple[str, ...]
) -> None:
    drawn = (
        run.parent.parent / json.loads(quorum("branch", str(run), "--at", "12", "--luck", "--json").stdout)["folder"]
    )
    done = quorum("branch", str(drawn), "--at", "20", *option)
    assert done.returncode == 2
    assert f"{option[0]}: this run, or an ancestor of it, has drawn its luck again with --luck at step 12" in (
        " ".join(done.stderr.split())
    )
