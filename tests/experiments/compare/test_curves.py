"""The score along the steps, against the traces' own lines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from maeil.user_errors import UserError
from quorum.experiments.compare import Question, compare
from quorum.experiments.compare.figures import draw_figures
from quorum.experiments.compare.records import as_csv, curves
from quorum.experiments.results import read_results
from tests.experiments.folders import real_sweep


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
    lines = as_csv(curves(asked)).splitlines()
    assert lines[0].endswith("simulated,runs,boards,step,score,score_low,score_high")
    assert len(lines) == 1 + 10 + 7


def test_a_trace_that_is_not_there_is_named(sweep: Path, tmp_path: Path) -> None:
    run = next(row.folder for row in read_results(sweep).rows)
    other = tmp_path / "s" / run.name
    other.mkdir(parents=True)
    for file in run.iterdir():
        if file.name != "trace.jsonl":
            (other / file.name).write_bytes(file.read_bytes())
    with pytest.raises(UserError, match=r"--curves: .*no trace\.jsonl there"):
        compare([read_results(tmp_path / "s")], Question(curves=True))
