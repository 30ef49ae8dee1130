"""Methods of attribution on episodes whose fault is known."""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from maeil.user_errors import UserError
from quorum.experiments.blame.labels import Case, labelled
from quorum.experiments.blame.scoring import METHODS, score
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.episode.fault import FAULT
from quorum.experiments.episode.runner import run_cell
from tests.conftest import ROOT, Quorum

CELLS = (
    *(f"env=transport n=4 max_steps=6 seed={seed}" for seed in range(1, 4)),
    "env=transport n=4 max_steps=6 seed=1 fault.kinds=[stubborn]",
    "n=4 agents=negotiator topology=debate max_steps=50 seed=2 fault.kinds=[withheld,false_message,wrong_plan]",
)
LEFT_OUT = "n=4 max_steps=10 seed=0"


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("labelled")
    for words in (*CELLS, LEFT_OUT):
        run_cell(Cell.compose(["fault=one", *words.split()]), out)
    run_cell(Cell.compose(["n=2", "max_steps=5"]), out)
    return out


def test_only_runs_with_a_fault_are_cases_and_others_are_told(sweep: Path) -> None:
    found = labelled(sweep)
    assert len(found.cases) == len(CELLS)
    assert found.without == {"it fails without a fault": 1, "played without fault=one": 1}


def test_a_fresh_copy_of_each_mind_finds_agent_and_step_in_every_case(sweep: Path) -> None:
    found = score(sweep, ["search:self"])
    assert [(v.agent, v.t) for v in found.verdicts["search:self"]] == [(t.agent, t.t) for t in found.truths]
    assert found.accuracy("search:self").both.value == 1
    assert 0 < found.accuracy("search:self").reruns < 60


def test_every_method_judges_every_case_and_the_reader_is_told_to_be_simulated(quorum: Quorum, sweep: Path) -> None:
    told = json.loads(quorum("attribution", str(sweep), "--json").stdout)
    names = {method if "reader" not in method else f"{method} (simulated)" for method in METHODS}
    assert {row["method"] for row in told["scores"]} == names
    assert all(len(episode["verdicts"]) == len(METHODS) for episode in told["labelled"])
    assert told["simulated"] is True
    whole = [row for row in told["scores"] if (row["world"], row["kind"]) == ("all", "all")]
    assert {row["episodes"] for row in whole} == {len(CELLS)}
    parts: dict[str, Any] = {}
    for row in told["scores"]:
        if row["kind"] == "all" and row["world"] != "all":
            parts[row["method"]] = parts.get(row["method"], 0) + row["both"]["hits"]
    assert parts == {row["method"]: row["both"]["hits"] for row in whole}


def test_the_table_has_each_method_with_its_accuracy_and_what_it_takes(quorum: Quorum, sweep: Path) -> None:
    printed = quorum("attribution", str(sweep), "--method", "rules", "--method", "chance", "--near", "2").stdout
    assert f"{len(CELLS)} labelled episodes" in printed
    assert "left out: 1 runs: it fails without a fault" in printed
    assert re.search(r"method +agent +step +step \+-2 +agent and step +re-runs +calls", printed)
    assert len(re.findall(r"^rules ", printed, re.MULTILINE)) == 3


def test_what_a_method_gets_holds_nothing_of_the_label(sweep: Path) -> None:
    for case, truth in labelled(sweep).cases:
        text = repr(case.scene)
        assert set(Case.__slots__) == {"run", "trace", "scene", "seed"}
        assert f'"{truth.kind}"' not in text
        assert truth.agent not in text


def test_no_method_reads_the_label() -> None:
    """The label is read where episodes are scored, and where a run is brought back; nowhere else."""
    may = {"blame/labels.py", "branch/parent.py", "episode/fault.py"}
    folder = ROOT / "experiments"
    for file in folder.rglob("*.py"):
        named = {node.id for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Name)}
        if named & {"read_label", "FAULT"}:
            assert str(file.relative_to(folder)) in may
        if file.parent.name == "blame" and file.name != "labels.py":
            assert ".fault" not in file.read_text("utf-8").replace("quorum.experiments.episode.fault", "")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--method", "magic"], "--method magic: there is no such method"),
        (["--set", "agents=heuristic"], "--set agents=heuristic: only the reader's model and its budget can be set"),
        (["--method", "reader:bisection", "--set", "budget.calls=2"], "reader:bisection: the reader cannot go on"),
    ],
)
def test_what_cannot_be_asked_is_told(quorum: Quorum, sweep: Path, options: list[str], told: str) -> None:
    found = quorum("attribution", str(sweep), *options)
    assert found.returncode == 2
    assert told in found.stderr


def test_a_folder_without_labelled_runs_is_told_with_the_way_out(quorum: Quorum, tmp_path: Path) -> None:
    run_cell(Cell.compose(["n=2", "max_steps=5"]), tmp_path)
    found = quorum("attribution", str(tmp_path))
    assert found.returncode == 2
    assert "it holds no labelled episode; 1: played without fault=one" in found.stderr
    assert "experiment=attribution" in found.stderr
    assert quorum("attribution", str(tmp_path / "nowhere")).returncode == 2


def test_a_broken_label_is_told(sweep: Path, tmp_path: Path) -> None:
    shutil.copytree(labelled(sweep).cases[0][0].run, tmp_path / "run")
    (tmp_path / "run" / FAULT).write_text("[]")
    with pytest.raises(UserError, match="it is no label of a fault"):
        labelled(tmp_path)
