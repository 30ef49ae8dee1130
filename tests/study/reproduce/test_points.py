"""The points of a figure, from runs that were written by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from quorum.comparison import Question, compare
from quorum.runs import read_results
from quorum.study.reproduce.figure_file import PublishedFigure
from quorum.study.reproduce.points import Point, points_of, shares, verdict_tables
from tests.folders import outcome, write_plan, write_run

TOKENS = "model.prompt_tokens + model.completion_tokens"
CLAIM = {"says": "talk costs steps", "metric": "outcome.steps", "order": ["debate > alone"]}
SIMULATED = {"simulated": True, "models": ["simulated"]}


def _sweep(folder: Path, published: Any, *, more: int = 5, rules: str = "", **meta: Any) -> None:
    """Write two arms on seven boards at n = 2; debate takes five steps more. An arm of rules asks no model."""
    cells = []
    for arm, extra in (("alone", 0), ("debate", more)):
        for seed in range(7):
            values = outcome(
                steps=20 + seed % 3 + extra, constraints__missing_spatial=3, constraints__missing_none=1,
                outcome__seconds=1, model__prompt_tokens=100, model__completion_tokens=10 + extra,
            )  # fmt: skip
            name, own = f"{arm}-{seed}", {} if arm == rules else meta
            cells.append((name, write_run(folder, values, name=name, seed=seed, topology__note=arm, meta=own), arm))
    write_plan(folder, cells, published=published)


def _figure(**part: Any) -> PublishedFigure:
    margins = {"outcome.steps": 1.5, "outcome.seconds": "10 %", TOKENS: "2 %"}
    parts = [{"experiment": "e", **part}]
    figure = {"paper": "P", "figure": "1", "shows": "s", "model": "GPT-4", "because": "b", "margins": margins}
    return PublishedFigure.model_validate({**figure, "parts": parts})


def _points(folder: Path, floors: Mapping[str, Path] | None = None, **part: Any) -> list[Point]:
    figure = _figure(**part)
    teams = {team: read_results(found) for team, found in {"here": folder, **(floors or {})}.items()}
    return [*points_of(figure, figure.parts[0], teams, accept_versions=False)]


def _published(factors: list[str], rows: list[list[Any]], metrics: tuple[str, ...] = ("outcome.steps",)) -> Any:
    return {"source": "a paper", "factors": factors, "metrics": [*metrics], "rows": rows}


def test_a_published_number_stands_next_to_the_runs_of_its_factors(tmp_path: Path) -> None:
    rows = [["alone", 2, 21.0], ["debate", 2, 21.0], ["debate", 8, 30.0], ["alone", 2, None]]
    _sweep(tmp_path, _published(["arm", "n"], rows), **SIMULATED)
    alone, debate, missing = _points(tmp_path)
    assert (alone.what, alone.published, alone.verdict) == ("steps: alone, n = 2", "21.0", "agrees")
    assert alone.here.startswith("20.9 [")
    assert alone.reason.endswith("margin 1.500; simulated here, GPT-4 there")
    assert debate.reason.startswith("higher here; difference +4.86 [")
    assert (missing.verdict, missing.reason, missing.published) == ("not comparable", "no such run here", "30")


def test_what_is_not_comparable_needs_no_remark_on_models(tmp_path: Path) -> None:
    _sweep(tmp_path, _published(["arm"], [["alone", 9.0]], ("outcome.seconds",)), **SIMULATED)
    assert [point.reason for point in _points(tmp_path)] == ["wall time of another machine"]


def test_two_published_models_are_two_named_comparisons_and_never_one_total(tmp_path: Path) -> None:
    rows = [["alone", "gpt-4o", 21.0], ["alone", "gpt-4o-mini", 30.0], ["alone", None, 21.0]]
    _sweep(tmp_path, _published(["arm", "llm.model"], rows), **SIMULATED)
    points = _points(tmp_path)
    assert [(point.model, point.verdict) for point in points] == [
        ("gpt-4o", "agrees"), ("gpt-4o-mini", "differs"), ("", "agrees")
    ]  # fmt: skip
    assert points[0].reason.endswith("simulated here, gpt-4o there")
    assert "there" not in points[2].reason
    tables = {table.title: table.caption for table in verdict_tables(_figure(), points)}
    assert [*tables] == [
        "published (no model) and here, point by point", "published (gpt-4o) and here, point by point",
        "published (gpt-4o-mini) and here, point by point",
    ]  # fmt: skip
    assert [caption[:31] for caption in tables.values()] == [
        "here: 1 agrees, 0 differs, 0 un", "here: 1 agrees, 0 differs, 0 un", "here: 0 agrees, 1 differs, 0 un"
    ]  # fmt: skip


def test_the_same_model_here_and_there_needs_no_remark(tmp_path: Path) -> None:
    _sweep(tmp_path, _published(["arm"], [["alone", 21.0]]), models=["GPT-4"])
    assert [point.reason[-12:] for point in _points(tmp_path)] == ["margin 1.500"]


def test_means_over_successes_stand_next_to_the_successful_runs(tmp_path: Path) -> None:
    table = {**_published(["arm"], [["a", 0.5, [12.0, 2.0]]], ("outcome.success", "outcome.steps")), "trials": 10}
    cells = []
    for seed in range(8):
        values = outcome(seed < 6, steps=10 + seed % 3 if seed < 6 else 99)
        cells.append((f"a-{seed}", write_run(tmp_path, values, name=f"a-{seed}", seed=seed), "a"))
    write_plan(tmp_path, cells, published={**table, "of_successes": ["outcome.steps"]})
    figure = _figure().model_copy(update={"margins": {"outcome.success": 0.1, "outcome.steps": 1.5}})
    _, steps = points_of(figure, figure.parts[0], {"here": read_results(tmp_path)}, accept_versions=False)
    assert steps.here.startswith("11.0 [")
    assert steps.published == "12.0 [9.2, 14.8]"  # Student over 5 trials: 2.776 * 2 / sqrt(4)


def test_a_claim_is_judged_at_every_value_that_it_was_made_for(tmp_path: Path) -> None:
    _sweep(tmp_path, None)
    (agrees,) = _points(tmp_path, claims=[CLAIM])
    assert (agrees.what, agrees.published) == ("talk costs steps: steps, n = 2", "debate > alone")
    assert (agrees.verdict, agrees.here[:4]) == ("agrees", "+5.0")
    here, elsewhere = _points(tmp_path, claims=[{**CLAIM, "order": ["debate < alone"], "at": [2, 4]}])
    assert (here.verdict, elsewhere.verdict) == ("differs", "not comparable")
    (nowhere,) = _points(tmp_path, claims=[{**CLAIM, "where": {"env.level": "hard"}}])
    assert nowhere.verdict == "not comparable"


def test_floors_play_the_same_points_and_the_row_says_where_they_agree_too(tmp_path: Path) -> None:
    table = _published(["arm"], [["alone", 21.0], ["debate", 26.0]])
    folders = {team: tmp_path / team for team in ("here", "chance", "echo")}
    for team, more in (("here", 5), ("chance", 5), ("echo", 0)):
        folders[team].mkdir()
        _sweep(folders[team], table, more=more, rules="alone", simulated=True, models=[team])
    here = folders.pop("here")
    alone, debate, order = _points(here, folders, claims=[CLAIM])
    assert (alone.verdict, alone.chance, alone.echo) == ("agrees", "agrees", "")
    assert alone.reason.endswith("; rules have no echo")
    assert (debate.verdict, debate.chance, debate.echo) == ("agrees", "agrees", "differs")
    assert "; chance agrees too; " in debate.reason
    assert (order.verdict, order.chance, order.echo) == ("agrees", "agrees", "differs")
    assert ", alone" not in order.reason
    (first, *_) = verdict_tables(_figure(), [alone, debate])
    assert first.header == ("point", "published", "here", "verdict", "chance", "echo", "reason")
    assert "chance: 2 agrees, 0 differs, 0 undecided, 0 not comparable; echo: 0 agrees, 1 differs" in first.caption


def test_in_an_order_a_team_of_rules_keeps_its_rules(tmp_path: Path) -> None:
    """Random answers in place of the model are compared with the rules themselves, not with random plans."""
    for team, more in (("here", 5), ("chance", 9)):
        (tmp_path / team).mkdir()
        _sweep(tmp_path / team, None, more=more, rules="alone", simulated=True, models=[team])
    for file in (tmp_path / "chance").glob("alone-*/metrics.json"):
        file.write_text(json.dumps(outcome(steps=199)))
    (order,) = _points(tmp_path / "here", {"chance": tmp_path / "chance"}, claims=[CLAIM])
    assert (order.verdict, order.chance) == ("agrees", "agrees")


def test_metrics_add_up_in_each_run_and_a_ratio_divides_means(tmp_path: Path) -> None:
    _sweep(tmp_path, None)
    claim = {"says": "talk costs tokens", "metric": TOKENS, "order": ["debate > alone"]}
    (total,) = _points(tmp_path, claims=[claim])
    assert total.what == "talk costs tokens: prompt tokens + completion tokens, n = 2"
    assert (total.here[:6], total.verdict) == ("+5.00 ", "agrees")
    for seed in range(3, 7):  # three of seven succeed: 115 tokens an episode are 115 * 7 / 3 a success
        file = tmp_path / f"debate-{seed}" / "metrics.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), "outcome.success": False}))
    (ratio,) = _points(tmp_path, claims=[{**claim, "per": "outcome.success"}])
    assert ratio.here.startswith(f"+{115 * 7 / 3 - 110:.0f} [")
    for seed in range(3):
        file = tmp_path / f"debate-{seed}" / "metrics.json"
        file.write_text(json.dumps({**json.loads(file.read_text()), "outcome.success": False}))
    (none,) = _points(tmp_path, claims=[{**claim, "per": "outcome.success"}])
    assert none.verdict == "not comparable"


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


def test_our_own_control_is_no_published_point(tmp_path: Path) -> None:
    _sweep(tmp_path, None)
    points = _points(tmp_path, claims=[CLAIM, {**CLAIM, "says": "ours", "control": True}])
    published, control = verdict_tables(_figure(), points)
    assert published.title == "published (GPT-4) and here, point by point"
    assert (control.title, control.header[1]) == ("our control and here, point by point", "expected")
    assert [len(table.rows) for table in (published, control)] == [1, 1]
    assert published.caption.startswith("here: 1 agrees, 0 differs, 0 undecided, 0 not comparable; ")
