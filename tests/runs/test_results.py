"""Results are read from the folders alone: every run once, in planning order, and nothing that is not whole."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from quorum.runs import as_csv, read_results, write_csv
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.folders import outcome, real_sweep, write_plan, write_run


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real") / "sweep"
    folder.mkdir()
    naive = ["agents=naive", "n=2"]
    real_sweep(folder, [["n=2", "seed=1"], [*naive, "topology=debate"], ["n=2", "seed=0"]])
    return folder


def lines(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(read_results(folder)))))


def test_real_runs_are_read_as_they_were_written(real: Path) -> None:
    results = read_results(real)
    assert [(row.seed, row.outcome, row.simulated) for row in results.rows] == [
        (1, "success", False),
        (0, "success", True),
        (0, "success", False),
    ]
    naive = results.rows[1]
    assert naive.models == ("simulated",)
    assert naive.factors["topology.rounds"] == 1
    assert naive.factors["llm.name"] == "simulated"
    assert not any(key.startswith(("llm.", "budget.")) for key in results.rows[0].factors)
    written = json.loads((real / naive.name / "metrics.json").read_text())
    assert naive.metrics == {name: None if value is None else float(value) for name, value in written.items()}


def test_the_table_has_no_wall_times_and_is_rebuilt_to_the_same_bytes(real: Path) -> None:
    first = write_csv(read_results(real)).read_bytes()
    header = first.decode().splitlines()[0].split(",")
    assert "outcome.steps" in header
    metrics = header[header.index("outcome.success") :]
    assert not [name for name in metrics if name.endswith("_seconds") or name == "model.retries"]
    (real / "results.csv").unlink()
    assert write_csv(read_results(real)).read_bytes() == first
    assert sorted(path.name for path in real.glob(".*")) == []


def test_the_table_does_not_depend_on_when_and_how_fast_runs_were(real: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(real, copy)
    for run in copy.iterdir():
        if run.is_dir():
            meta, metrics = (json.loads((run / name).read_text()) for name in ("meta.json", "metrics.json"))
            del meta["files"]
            meta.update(start="2030-01-01T00:00:00+00:00", end="2030-01-01T01:00:00+00:00", machine={})
            metrics.update({name: 99.0 for name in metrics if name.endswith("_seconds")})
            (run / "meta.json").write_text(json.dumps(meta))
            (run / "metrics.json").write_text(json.dumps(metrics))
    assert as_csv(read_results(copy)) == as_csv(read_results(real))


def test_planning_order_goes_before_names(tmp_path: Path) -> None:
    digests = {name: write_run(tmp_path, outcome(), name=name, seed=k) for k, name in enumerate("abcd")}
    write_plan(tmp_path, [(name, digests[name], None) for name in "cb"])
    assert [row.name for row in read_results(tmp_path).rows] == ["c", "b", "a", "d"]


def test_a_cell_of_two_arms_is_a_row_in_each(tmp_path: Path) -> None:
    digest = write_run(tmp_path, outcome(), name="a")
    write_plan(tmp_path, [("a", digest, "one"), ("a", digest, "two")], arms={"one": [], "two": ["n=2"]})
    assert [(row.name, row.arm) for row in read_results(tmp_path).rows] == [("a", "one"), ("a", "two")]


def test_what_was_planned_and_not_run_is_reported(tmp_path: Path) -> None:
    digest = write_run(tmp_path, outcome(), name="a")
    write_plan(tmp_path, [("a", digest, None), ("b", "0" * 64, None)])
    assert [cell.name for cell in read_results(tmp_path).missing] == ["b"]


@pytest.mark.parametrize("name", ["a.partial-1a2b", ".partial-a"])
def test_partial_folders_are_counted_and_never_read(tmp_path: Path, name: str) -> None:
    write_run(tmp_path, outcome(), name="whole")
    write_run(tmp_path, outcome(), name=name, seed=1)
    results = read_results(tmp_path)
    assert ([row.name for row in results.rows], results.unfinished) == (["whole"], 1)


def test_of_runs_of_one_cell_the_last_pooled_one_counts(tmp_path: Path) -> None:
    write_run(tmp_path, outcome(steps=1), name="a")
    write_run(tmp_path, outcome(steps=2), name="a.2")
    write_run(tmp_path, outcome(steps=10), name="a.10")
    write_run(tmp_path, name="a.11", meta={"outcome": "error"})
    assert [row.name for row in read_results(tmp_path).rows] == ["a.10"]


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("meta.json", "{", "meta.json"),
        ("meta.json", '{"hash": 3}', "meta.json: hash"),
        ("metrics.json", "[]", "no metrics"),
        ("metrics.json", '{"outcome.steps": "ten"}', "outcome.steps is not a number"),
        ("metrics.json", '{"outcome.steps": NaN}', "metrics.json"),
        ("metrics.json", None, "metrics.json"),
    ],
)
def test_a_damaged_run_is_left_out_with_the_reason(tmp_path: Path, file: str, content: str | None, reason: str) -> None:
    write_run(tmp_path, outcome(), name="fine")
    write_run(tmp_path, outcome(), name="broken", seed=1)
    if content is None:
        (tmp_path / "broken" / file).unlink()
    else:
        (tmp_path / "broken" / file).write_text(content)
    results = read_results(tmp_path)
    assert [row.name for row in results.rows] == ["fine"]
    assert [item.name for item in results.damaged] == ["broken"]
    assert reason in results.damaged[0].reason


def test_values_are_written_the_same_everywhere(tmp_path: Path) -> None:
    values = outcome(steps=62, completion=1 / 3, plans__number=None)
    write_run(tmp_path, values, name="a", env__layout="..\n.0", env__list=[1, "x"])
    (line,) = lines(tmp_path)
    assert (line["outcome.success"], line["outcome.steps"], line["plans.number"]) == ("1", "62", "")
    assert float(line["outcome.completion"]) == 1 / 3
    assert (line["env.layout"], line["env.list"], line["simulated"]) == ("..\n.0", '[1, "x"]', "false")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda folder: folder / "swep", "/sweep?"),
        (lambda folder: folder, "It contains sweeps"),
        (lambda folder: folder / "file", "it is a file"),
        (lambda folder: folder / "empty", "it contains no finished runs"),
    ],
)
def test_a_wrong_folder_is_reported_with_the_way_out(tmp_path: Path, make, message: str) -> None:
    digest = write_run(tmp_path / "sweep", outcome(), name="a")
    write_plan(tmp_path / "sweep", [("a", digest, None)])
    (tmp_path / "file").write_text("")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match=message.replace("?", r"\?")):
        read_results(make(tmp_path))


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "damaged"), ('{"schema": 2}', "newer version"), ('{"schema": 1, "name": "x"}', "damaged: cells")],
)
def test_a_plan_that_cannot_be_read_is_reported(tmp_path: Path, text: str, message: str) -> None:
    write_run(tmp_path, outcome(), name="a")
    (tmp_path / "sweep.json").write_text(text)
    with pytest.raises(UserError, match=message):
        read_results(tmp_path)


def test_the_command_rebuilds_and_prints_the_table(real: Path, quorum: Quorum) -> None:
    (real / "results.csv").unlink(missing_ok=True)
    done = quorum("results", str(real))
    assert done.returncode == 0, done.stderr
    assert "3 runs: 3 success" in done.stdout
    assert (real / "results.csv").exists()
    (real / "results.csv").unlink()
    assert quorum("results", str(real), "--csv").stdout == as_csv(read_results(real))
    printed = json.loads(quorum("results", str(real), "--json").stdout)
    assert [run["factors"]["seed"] for run in printed["runs"]] == [1, 0, 0]
    assert not (real / "results.csv").exists()
