"""The points of a figure, from runs that were written by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from quorum.comparison import Question, compare
from quorum.runs import read_results
from quorum.study.reproduce.figure_file import PublishedFigure
from quorum.study.reproduce.points import Point, points_of, shares, verdict_table
from tests.folders import outcome, write_plan, write_run

CLAIM = {"says": "talk costs steps", "metric": "outcome.steps", "order": ["debate > alone"]}
SIMULATED = {"simulated": True, "models": ["simulated"]}


def _sweep(folder: Path, published: Any, **meta: Any) -> None:
    """Write two arms on seven boards at n = 2; debate takes five steps more."""
    cells = []
    for arm, more in (("alone", 0), ("debate", 5)):
        for seed in range(7):
            values = outcome(
                steps=20 + seed + more, constraints__missing_spatial=3, constraints__missing_none=1, outcome__seconds=1
            )
            name = f"{arm}-{seed}"
            cells.append((name, write_run(folder, values, name=name, seed=seed, topology__note=arm, meta=meta), arm))
    write_plan(folder, cells, published=published)


def _points(folder: Path, **part: Any) -> list[Point]:
    figure = PublishedFigure.model_validate(
        {"paper": "P", "figure": "1", "shows": "s", "model": "GPT-4", "parts": [{"experiment": "e", **part}]}
    )
    return [*points_of(figure, figure.parts[0], read_results(folder), accept_versions=False)]


def _published(factors: list[str], rows: list[list[Any]], metrics: tuple[str, ...] = ("outcome.steps",)) -> Any:
    return {"source": "a paper", "factors": factors, "metrics": [*metrics], "rows": rows}


def test_a_published_number_stands_next_to_the_runs_of_its_factors(tmp_path: Path) -> None:
    rows = [["alone", 2, 23.0], ["debate", 2, 23.0], ["debate", 8, 30.0], ["alone", 2, None]]
    _sweep(tmp_path, _published(["arm", "n"], rows), **SIMULATED)
    alone, debate, missing = _points(tmp_path)
    assert (alone.what, alone.published, alone.verdict) == ("steps: alone, n = 2", "23.0", "agrees")
    assert alone.here.startswith("23.0 [")
    assert alone.reason == "the intervals overlap; simulated here, GPT-4 there"
    assert debate.reason == "higher here by 5.0; simulated here, GPT-4 there"
    assert (missing.verdict, missing.reason) == ("not comparable", "no such run here")


def test_what_is_not_comparable_needs_no_remark_on_models(tmp_path: Path) -> None:
    _sweep(tmp_path, _published(["arm"], [["alone", 9.0]], ("outcome.seconds",)), **SIMULATED)
    assert [point.reason for point in _points(tmp_path)] == ["wall time of another machine"]


def test_the_model_of_a_row_is_named_and_need_not_be_that_of_the_runs(tmp_path: Path) -> None:
    rows = [["alone", "gpt-4o", 23.0], ["alone", None, 23.0]]
    _sweep(tmp_path, _published(["arm", "llm.model"], rows), **SIMULATED)
    named, unnamed = _points(tmp_path)
    assert (named.what, named.verdict) == ("steps: alone, gpt-4o", "agrees")
    assert named.reason.endswith("simulated here, gpt-4o there")
    assert unnamed.reason == "the intervals overlap"


def test_the_same_model_here_and_there_needs_no_remark(tmp_path: Path) -> None:
    _sweep(tmp_path, _published(["arm"], [["alone", 23.0]]), models=["GPT-4"])
    assert [point.reason for point in _points(tmp_path)] == ["the intervals overlap"]


def test_a_claim_is_judged_at_every_value_that_it_was_made_for(tmp_path: Path) -> None:
    _sweep(tmp_path, None)
    (agrees,) = _points(tmp_path, claims=[CLAIM])
    assert (agrees.what, agrees.published) == ("talk costs steps: steps, n = 2", "debate > alone")
    assert (agrees.verdict, agrees.reason, agrees.here[:4]) == ("agrees", "over 7 boards", "+5.0")
    here, elsewhere = _points(tmp_path, claims=[{**CLAIM, "order": ["debate < alone"], "at": [2, 4]}])
    assert (here.verdict, elsewhere.verdict) == ("differs", "not comparable")


def test_what_has_no_counterpart_is_listed_with_its_reason(tmp_path: Path) -> None:
    _sweep(tmp_path, None)
    *_, aside = _points(tmp_path, claims=[CLAIM], asides=[{"says": "score 509", "why": "one episode"}])
    assert (aside.what, aside.verdict, aside.reason) == ("score 509", "not comparable", "one episode")


def test_shares_are_of_the_whole_of_each_group(tmp_path: Path) -> None:
    _sweep(tmp_path, None)
    metrics = ["constraints.missing_spatial", "constraints.missing_none"]
    found = compare([read_results(tmp_path)], Question(("arm",), "n", metrics))
    table = shares(found, metrics)
    assert table.header == ("arm", "n", "per run", "spatial", "none")
    assert table.rows == (("alone", "2", "4.0", "75.0%", "25.0%"), ("debate", "2", "4.0", "75.0%", "25.0%"))


def test_the_table_counts_the_verdicts(tmp_path: Path) -> None:
    _sweep(tmp_path, None)
    table = verdict_table(_points(tmp_path, claims=[CLAIM]))
    assert table.caption.startswith("1 agrees, 0 differs, 0 not comparable.")
