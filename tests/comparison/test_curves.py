"""The score along the steps, against the traces' own lines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from quorum.comparison import Question, compare
from quorum.comparison.figures import draw_figures
from quorum.comparison.files import curves, records_as_csv
from quorum.comparison.notes import notes
from quorum.runs import read_results
from tests.folders import real_sweep


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a squeeze of which every step scores, for two sizes, and for one of them longer."""
    folder = tmp_path_factory.mktemp("curves")
    sizes = (("n=3", "max_steps=6"), ("n=3", "max_steps=9", "env.rho=0.4"), ("n=5", "max_steps=6"))
    real_sweep(folder, [("env=squeeze", *size) for size in sizes])
    return folder


def scores(folder: Path, steps: int) -> list[float]:
    """Return the score after each step, by the lines of the trace; the last one for those behind its end."""
    found = [0.0] * (steps + 1)
    for line in (folder / "trace.jsonl").read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "score":
            found[event["t"] :] = [event["score"]] * (steps + 1 - event["t"])
    return found


def test_a_curve_is_the_mean_over_the_runs_where_one_that_has_ended_keeps_its_score(sweep: Path) -> None:
    results = read_results(sweep)
    found = compare([results], Question(by=["agents"], across="n", curves=True)).curves
    longer = found["heuristic", 3]
    runs = [row.folder for row in results.rows if row.factors["n"] == 3]
    assert longer.steps == tuple(range(10))
    assert [e.value for e in longer.estimates] == pytest.approx(np.mean([scores(run, 9) for run in runs], axis=0))
    assert {e.runs for e in longer.estimates} == {2}
    assert found["heuristic", 5].steps == tuple(range(7))


def test_they_are_drawn_and_written_only_when_asked_for(sweep: Path) -> None:
    results = read_results(sweep)
    asked, plain = (compare([results], Question(across="n", curves=wanted)) for wanted in (True, False))
    assert "curves" in [drawing.name for drawing in draw_figures(asked)]
    assert "curves" not in [drawing.name for drawing in draw_figures(plain)]
    assert plain.curves == {}
    lines = records_as_csv(curves(asked)).splitlines()
    assert lines[0].endswith("simulated,runs,boards,step,score,score_low,score_high")
    assert len(lines) == 1 + 10 + 7


@pytest.mark.parametrize("damage", ["missing", "torn", "half"])
def test_half_a_trace_enters_no_curve_and_is_named(sweep: Path, tmp_path: Path, damage: str) -> None:
    other = tmp_path / "s"
    shutil.copytree(sweep, other)
    run = next(row.folder for row in read_results(other).rows if row.factors["n"] == 3)
    trace = run / "trace.jsonl"
    lines = trace.read_bytes().splitlines(keepends=True)
    meta = json.loads((run / "meta.json").read_text())
    meta.pop("files", None)  # so that the trace itself shows what is wrong
    (run / "meta.json").write_text(json.dumps(meta))
    match damage:
        case "missing":
            trace.unlink()
        case "torn":
            trace.write_bytes(b"".join(lines)[:-1])
        case "half":
            trace.write_bytes(b"".join(lines[: len(lines) // 2]))
    found = compare([read_results(other)], Question(by=["agents"], across="n", curves=True))
    assert {e.runs for e in found.curves["heuristic", 3].estimates} == {1}
    (named,) = (note for note in notes(found) if "curves" in note)
    assert run.name in named


def test_a_group_without_a_whole_trace_has_no_curve(sweep: Path, tmp_path: Path) -> None:
    other = tmp_path / "s"
    shutil.copytree(sweep, other)
    for row in read_results(other).rows:
        if row.factors["n"] == 5:
            (row.folder / "trace.jsonl").unlink()
    found = compare([read_results(other)], Question(by=["agents"], across="n", curves=True))
    assert found.curves["heuristic", 5].steps == ()
    assert "curves" in [drawing.name for drawing in draw_figures(found)]
    assert len(records_as_csv(curves(found)).splitlines()) == 1 + 10
