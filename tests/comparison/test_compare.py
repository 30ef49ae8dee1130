"""What a comparison pools, pairs and reports, on hand-made sweeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from maeil.outcomes import Outcome
from quorum.comparison import Comparison, Question, compare
from quorum.comparison.files import as_json
from quorum.comparison.notes import notes
from quorum.comparison.statistics.intervals import Estimate
from quorum.comparison.tables import SIMULATED, decimals, interval, p_value, tables
from quorum.runs import read_results
from quorum_base.user_errors import UserError
from tests.folders import VERSIONS, outcome, write_plan, write_run

STEPS = {"individual": [10, 20, 30, 44], "debate": [12, 25, 29, 50], "chain": [5, 9, 21, 30]}


def answer(folder: Path, *more: Path, **question: object) -> Comparison:
    return compare([read_results(path) for path in (folder, *more)], Question(**question))


def reported(comparison: Comparison) -> str:
    return "\n".join(notes(comparison))


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Give three topologies on the same four boards."""
    for topology, steps in STEPS.items():
        for seed, value in enumerate(steps):
            write_run(tmp_path, outcome(steps=value), seed=seed, topology__name=topology)
    return tmp_path


def test_each_level_has_the_statistics_of_its_runs(sweep: Path) -> None:
    found = answer(sweep, by=["topology"], metrics=["steps"])
    assert set(found.levels) == set(STEPS)
    for level, steps in STEPS.items():
        assert found.estimates["outcome.steps", level, None].value == np.mean(steps)
    median = answer(sweep, by=["topology"], metrics=["steps"], statistic="median")
    assert median.estimates["outcome.steps", "chain", None].value == 15


def test_the_interval_of_steps_stays_between_0_and_the_limit_of_the_runs(tmp_path: Path) -> None:
    for seed, steps in enumerate((150, 150, 150, 150, 25)):
        write_run(tmp_path, outcome(steps=steps), seed=seed, max_steps=150)
    found = answer(tmp_path, by=["topology"], metrics=["steps"]).estimates["outcome.steps", "individual", None]
    assert (found.value, found.low >= 0, found.high <= 150) == (125, True, True)


def test_differences_are_paired_over_the_boards(sweep: Path) -> None:
    found = {d.level: d for d in answer(sweep, by=["topology"], metrics=["steps"], baseline="individual").differences}
    delta = np.subtract(STEPS["debate"], STEPS["individual"])
    reference = stats.permutation_test(
        (np.array(STEPS["debate"]), np.array(STEPS["individual"])),
        lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf,
    )  # fmt: skip
    assert found["debate"].mean.value == delta.mean()
    assert found["debate"].p == pytest.approx(reference.pvalue)
    assert found["debate"].improvement.value == 0.25  # fewer steps are better, and one board of four has fewer
    assert found["chain"].improvement.value == 1.0
    assert found["chain"].p_holm == min(1, 2 * found["chain"].p)


def test_boards_of_one_arm_alone_are_left_out_and_reported(sweep: Path) -> None:
    write_run(sweep, outcome(steps=1_000), seed=99, topology__name="debate")
    found = answer(sweep, by=["topology"], metrics=["steps"], baseline="individual").differences
    debate = next(d for d in found if d.level == "debate")
    assert (debate.mean.value, debate.mean.boards, debate.unpaired) == (3.0, 4, 1)


def test_several_runs_on_one_board_count_as_their_mean(sweep: Path) -> None:
    for extra, value in enumerate((100, 110)):
        write_run(sweep, outcome(steps=value), seed=0, topology__name="debate", agents__temper=extra)
    found = answer(sweep, by=["topology"], metrics=["steps"], baseline="individual").differences
    debate = next(d for d in found if d.level == "debate")
    assert (debate.mean.value, debate.mean.boards) == pytest.approx(((74 - 10 + 5 - 1 + 6) / 4, 4))
    assert debate.improvement.value == pytest.approx((0 + 0 + 1 + 0) / 4)


def test_across_n_a_difference_is_taken_at_each_n(tmp_path: Path) -> None:
    for n in (2, 4):
        for seed in range(3):
            write_run(tmp_path, outcome(steps=n + seed), n=n, seed=seed)
            write_run(tmp_path, outcome(steps=2 * n + seed), n=n, seed=seed, topology__name="debate")
    found = answer(tmp_path, by=["topology"], metrics=["steps"], baseline="individual")
    assert (found.across, found.points) == ("n", (2, 4))
    assert [(d.point, d.mean.value) for d in found.differences] == [(2, 2.0), (4, 4.0)]
    pooled = answer(tmp_path, by=["topology"], metrics=["steps"], baseline="individual", across="none")
    assert [(d.point, d.mean.value, d.mean.runs, d.mean.boards) for d in pooled.differences] == [(None, 3.0, 12, 3)]
    assert pooled.design.crossed == {"n": ("2", "4")}
    assert "Pooled over, the same in every level: n (2, 4)." in reported(pooled)


def test_what_goes_along_with_the_levels_is_reported(tmp_path: Path) -> None:
    write_run(tmp_path, outcome(), topology__name="individual", agents__name="heuristic")
    write_run(tmp_path, outcome(), topology__name="debate", agents__name="naive", topology__rounds=2)
    found = answer(tmp_path, by=["topology"])
    assert found.design.confounded == {"agents.name": ("heuristic", "naive")} or set(found.design.confounded) == {
        "agents.name"
    }
    assert "Confounded with topology: agents.name" in reported(found)
    assert answer(tmp_path, by=["topology", "agents"]).design.confounded == {}


def test_what_follows_from_what_is_compared_or_pooled_over_is_not_reported_again(tmp_path: Path) -> None:
    for n in (2, 4):
        for name, rounds in (("individual", 1), ("debate", 3)):
            write_run(tmp_path, outcome(), n=n, topology__name=name, topology__rounds=rounds)
    design = answer(tmp_path, by=["n"]).design
    assert (design.crossed, design.confounded) == ({"topology.name": ("individual", "debate")}, {})


def test_too_few_boards_for_a_small_p_value_are_reported(sweep: Path) -> None:
    assert "over at most 4 boards: no p-value can be below 0.125" in reported(answer(sweep, baseline="individual"))
    for topology in STEPS:
        for seed in range(4, 6):
            write_run(sweep, outcome(steps=seed), seed=seed, topology__name=topology)
    assert "no p-value" not in reported(answer(sweep, baseline="individual"))


def test_a_metric_in_which_no_board_differs_has_a_note_in_place_of_a_table(sweep: Path) -> None:
    found = answer(sweep, by=["topology"], baseline="individual", metrics=["success", "steps"])
    assert [table.title for table in tables(found)][2:] == ["outcome.steps ↓: difference from individual"]
    assert "outcome.success: no board differs from individual." in reported(found)


def test_what_varies_unlike_within_levels_is_reported(tmp_path: Path) -> None:
    for cap in (50, 100):
        write_run(tmp_path, outcome(), max_steps=cap)
    write_run(tmp_path, outcome(), max_steps=50, topology__name="debate")
    assert answer(tmp_path, by=["topology"]).design.pooled_over == {"max_steps": ("50", "100")}


LIMIT = {"max_concurrency": 4}
OPERATIONAL = [LIMIT, {"agents": {"agent_0": LIMIT}}, {"roles": {"planner": LIMIT}}, {"deadlines": {"planner": 9.0}}]


def resumed(folder: Path, later: dict[str, Any], **first: Any) -> Comparison:
    """Compare two topologies on six boards. Two of them, other ones in each topology, were played with other values."""
    for topology, seed in product(("individual", "debate"), range(6)):
        changed = later if seed in ((4, 5) if topology == "debate" else (3, 5)) else {}
        model = {"name": "openai", "model": "m", "max_concurrency": 16, "agents": {}, "roles": {}, **first, **changed}
        write_run(folder, outcome(steps=seed), seed=seed, topology__name=topology, llm=model, meta={"models": ["m"]})
    return answer(folder, by=["topology"], baseline="individual", metrics=["steps"])


@pytest.mark.parametrize("later", OPERATIONAL)
def test_how_a_model_is_reached_separates_no_runs(tmp_path: Path, later: dict[str, Any]) -> None:
    found = resumed(tmp_path, later)
    assert [(difference.mean.boards, difference.unpaired) for difference in found.differences] == [(6, 0)]
    assert (found.design.crossed, found.design.pooled_over, found.design.confounded) == ({}, {}, {})


@pytest.mark.parametrize("later", [{"temperature": 1.0}, {"extra_body": {"max_concurrency": 4}}])
def test_what_a_model_is_asked_separates_runs(tmp_path: Path, later: dict[str, Any]) -> None:
    (difference,) = resumed(tmp_path, later, temperature=0.0, extra_body={"max_concurrency": 16}).differences
    assert difference.unpaired == 4


def test_how_a_model_is_reached_is_reported_where_it_goes_along_with_the_levels(tmp_path: Path) -> None:
    for topology, limit in (("individual", 4), ("debate", 16)):
        model = {"name": "openai", "model": "m", "max_concurrency": limit}
        write_run(tmp_path, outcome(), topology__name=topology, llm=model, meta={"models": ["m"]})
    assert answer(tmp_path, by=["topology"]).design.confounded == {"llm.max_concurrency": ("4", "16")}


@pytest.mark.parametrize(("ended", "pooled"), [*((end, end != "error") for end in Outcome), (None, False)])
def test_only_whole_and_budgeted_episodes_are_pooled(tmp_path: Path, ended: str | None, pooled: bool) -> None:
    write_run(tmp_path, outcome(steps=10), seed=0)
    write_run(tmp_path, outcome(steps=90), seed=1, meta={"outcome": ended, "error": None})
    found = answer(tmp_path)
    assert found.estimates["outcome.steps", "individual", None].value == (50 if pooled else 10)
    expected = "2 of 2 runs are pooled." if pooled else f"1 of 2 runs are pooled; left out: 1 {ended or 'unfinished'}."
    assert expected in reported(found)
    assert ("used up a budget" in reported(found)) == (ended == "budget")


def test_what_is_missing_unfinished_and_damaged_is_reported(tmp_path: Path) -> None:
    digest = write_run(tmp_path, outcome(), name="a")
    write_run(tmp_path, None, name="b", seed=1)
    write_run(tmp_path, outcome(), name="c.partial-12", seed=2)
    write_plan(tmp_path, [("a", digest, None), ("d", "0" * 64, None)])
    text = reported(answer(tmp_path))
    assert "1 planned cells have not been run" in text
    assert "1 folders hold unfinished runs" in text
    assert "b is damaged and left out: metrics.json" in text


def test_a_cell_that_two_folders_hold_counts_once(tmp_path: Path) -> None:
    for folder in ("before", "after"):
        for seed in range(2):
            write_run(tmp_path / folder, outcome(steps=10 * seed), seed=seed)
    found = answer(tmp_path / "before", tmp_path / "after")
    assert found.estimates["outcome.steps", "individual", None].runs == 2
    assert "2 runs repeat a cell" in reported(found)
    by_sweep = answer(tmp_path / "before", tmp_path / "after", by=["sweep"], baseline="before")
    assert by_sweep.levels == ("before", "after")
    assert [d.mean.boards for d in by_sweep.differences] == [2, 2, 2]


def test_arms_are_compared_by_what_the_plan_calls_them(tmp_path: Path) -> None:
    cells = []
    for seed in range(2):
        for rounds, arm in ((1, "short"), (2, "long")):
            digest = write_run(tmp_path, outcome(steps=rounds), name=f"{arm}{seed}", seed=seed, topology__rounds=rounds)
            cells.append((f"{arm}{seed}", digest, arm))
    write_plan(tmp_path, cells)
    found = answer(tmp_path, baseline="short")
    assert (found.by, found.levels) == (("arm",), ("short", "long"))
    assert found.design.confounded == {}


def test_versions_of_the_code_are_not_mixed_unless_accepted(tmp_path: Path) -> None:
    git = {"commit": "1a2b3c4d" * 5, "changed": False}
    write_run(tmp_path, outcome(), seed=0, meta={"git": git})
    write_run(tmp_path, outcome(), seed=1, meta={"git": {**git, "changed": True}})
    write_run(tmp_path, outcome(), seed=2, meta={"versions": {**VERSIONS, "quorum-harness": "0.9"}})
    with pytest.raises(UserError, match=r"1 by 0\.9, 1 by 1\.0\.0 \(1a2b3c4d\), 1 by 1\.0\.0 \(1a2b3c4d, changed\)"):
        answer(tmp_path)
    assert "made by different versions of the code" in reported(answer(tmp_path, accept_versions=True))
    assert len(answer(tmp_path, by=["version"]).levels) == 3


def test_a_simulated_model_is_reported_everywhere(tmp_path: Path) -> None:
    write_run(tmp_path, outcome(), agents__name="heuristic")
    write_run(tmp_path / "none", outcome(), agents__name="heuristic")
    made_up = {"simulated": True, "models": ["simulated"]}
    write_run(
        tmp_path,
        outcome(model__calls=40, model__parse_failures=1, model__empty_answers=2),
        agents__name="naive",
        meta=made_up,
    )
    some = answer(tmp_path, by=["agents"])
    assert "It answered in: naive." in notes(some)[0]
    assert "Parse failures: 2.5% of 40 calls (1)." in reported(some)
    runs, shown = tables(some)
    assert "Empty answers: 5.0% of 40 calls (2), not counted above." in reported(some)
    assert ("naive", "1", "40", "2.5%", "5.0%", "simulated") in runs.rows
    assert {row[0] for row in shown.rows} == {"heuristic", "naive (simulated)"}
    assert all(SIMULATED in table.caption for table in tables(some))
    assert not any(SIMULATED in table.caption for table in tables(answer(tmp_path / "none", by=["agents"])))


def test_a_metric_that_is_not_always_defined_says_where_not(tmp_path: Path) -> None:
    for seed, value in enumerate((2.0, 4.0, None)):
        write_run(tmp_path, outcome(outcome__steps_over_lower_bound=value), seed=seed)
    found = answer(tmp_path, metrics=["steps_over_lower_bound"])
    assert found.estimates["outcome.steps_over_lower_bound", "individual", None].runs == 2
    assert "outcome.steps_over_lower_bound is not defined in 1 of 3 runs" in reported(found)


def test_a_share_keeps_a_doubt_when_all_runs_agree_and_a_difference_does_not_invent_one(sweep: Path) -> None:
    found = answer(sweep, by=["topology"], metrics=["success"], baseline="individual")
    exact = stats.binomtest(4, 4).proportion_ci(method="exact")
    assert found.estimates["outcome.success", "chain", None].low == pytest.approx(exact.low)
    assert all((d.mean.value, d.p) == (0, 1) and np.isnan([d.mean.low, d.mean.high]).all() for d in found.differences)


def test_a_board_that_crossed_factors_meet_again_is_one_board(tmp_path: Path) -> None:
    """Three levels of noise and two prompts on seven seeds: 42 runs an arm are 7 boards."""
    random = np.random.default_rng(1)
    boards = random.integers(20, 60, 7)
    for topology, more in (("individual", 0), ("debate", 2)):
        for seed, poor, prompt in product(range(7), (0.0, 0.1, 0.2), ("long", "short")):
            steps = int(boards[seed] + more + random.integers(0, 4))
            write_run(
                tmp_path, outcome(steps=steps), seed=seed, topology__name=topology, agents__poor=poor, agents__p=prompt
            )
    found = answer(tmp_path, by=["topology"], metrics=["steps"], baseline="individual")
    (difference,) = found.differences
    assert (difference.mean.runs, difference.mean.boards, difference.differing) == (84, 7, 7)
    assert difference.p >= 2 / 2**7
    assert difference.improvement.boards == 7
    own = found.estimates["outcome.steps", "debate", None]
    assert (own.runs, own.boards) == (42, 7)
    steps = np.array([row.metrics["outcome.steps"] for row in found.groups["debate", None].rows])
    seeds = np.array([row.seed for row in found.groups["debate", None].rows])
    reference = stats.ttest_1samp([steps[seeds == seed].mean() for seed in range(7)], 0).confidence_interval()
    assert own.high - own.low == pytest.approx(reference.high - reference.low, rel=0.1)
    assert "84 runs, 14 boards in 2 groups" in reported(found)
    _, shown, differing = tables(found)
    assert shown.header[:3] == ("topology", "runs", "boards")
    assert [row[1:3] for row in shown.rows] == [("42", "7"), ("42", "7")]
    assert differing.rows[0][1] == "7"


def test_boards_that_lack_runs_of_others_are_reported(sweep: Path) -> None:
    for seed in range(3):
        write_run(sweep, outcome(steps=5), seed=seed, agents__poor=0.5)
        write_run(sweep, outcome(steps=5), seed=seed, topology__name="debate", agents__poor=0.5)
        write_run(sweep, outcome(steps=5), seed=seed, topology__name="chain", agents__poor=0.5)
    assert "3 boards lack runs that other boards of their group have" in reported(answer(sweep, by=["topology"]))


def test_rows_that_cannot_reject_do_not_use_up_holms_correction(tmp_path: Path) -> None:
    for seed in range(8):
        write_run(tmp_path, outcome(steps=30 + seed), seed=seed)
        write_run(tmp_path, outcome(steps=20 + seed), seed=seed, topology__name="debate")
    for number in range(3):
        for seed in range(3):
            write_run(tmp_path, outcome(steps=20 + seed), seed=seed, topology__name=f"few{number}")
    found = {
        d.level: d for d in answer(tmp_path, by=["topology"], metrics=["steps"], baseline="individual").differences
    }
    assert found["debate"].p == found["debate"].p_holm == 2 / 2**8
    assert found["few0"].p == 0.25
    assert found["few0"].p_holm > 0.25


def test_where_no_board_differs_the_cell_says_so(sweep: Path) -> None:
    for seed, steps in enumerate(STEPS["individual"]):
        write_run(sweep, outcome(steps=steps), seed=seed, topology__name="same")
    found = answer(sweep, by=["topology"], metrics=["steps"], baseline="individual")
    rows = {row[0]: row for row in tables(found)[-1].rows}
    assert rows["same"][2] == "no board differs"
    assert "[" not in rows["debate"][2], "four boards have no interval"


def test_a_share_beyond_1_is_a_mistake_in_its_metric(tmp_path: Path) -> None:
    write_run(tmp_path, outcome(completion=1.5))
    write_run(tmp_path, outcome(), seed=1)
    with pytest.raises(UserError, match=r"outcome.completion: registered as a share.* 1 to 1.5\nRegister it"):
        answer(tmp_path, metrics=["completion"])


def test_intervals_of_a_rate_stay_within_0_and_1_and_are_there_where_all_runs_agree(tmp_path: Path) -> None:
    for seed, value in enumerate((1, 1, 1, 0.2, 1, 1)):
        write_run(tmp_path, outcome(repair__precision=value), seed=seed)
        write_run(tmp_path, outcome(repair__precision=1), seed=seed, topology__name="debate")
        write_run(tmp_path, outcome(repair__precision=0), seed=seed, topology__name="chain")
    found = answer(tmp_path, by=["topology"], metrics=["repair.precision"], baseline="debate")
    mixed, sure, never = (
        found.estimates["repair.precision", level, None] for level in ("individual", "debate", "chain")
    )
    assert 0 < mixed.low < mixed.value < mixed.high <= 1
    assert 0.5 < sure.low < sure.high == 1
    assert (never.value, never.low) == (0, 0)
    ends = {item.level: (item.mean.low, item.mean.high) for item in found.differences}
    assert ends["chain"][0] == -1, "all boards differ alike, and some doubt is left"
    assert not found.bounds, "bounds for runs that are left out are reported for shares alone"


def test_a_rate_beyond_1_is_a_mistake_in_its_metric(tmp_path: Path) -> None:
    write_run(tmp_path, outcome(plans__coherence=1.5))
    write_run(tmp_path, outcome(plans__coherence=1), seed=1)
    with pytest.raises(UserError, match=r"plans.coherence: registered as a rate.* 1 to 1.5\nRegister it"):
        answer(tmp_path, metrics=["plans.coherence"])


@pytest.fixture
def failing(tmp_path: Path) -> Path:
    """Give two arms on 20 boards; one ends its seven failures as errors."""
    broken = {"outcome": "error", "error": {"class": "X", "message": "y"}}
    for seed in range(20):
        write_run(tmp_path, outcome(success=seed >= 6), seed=seed)
        lost = seed < 7
        write_run(
            tmp_path, None if lost else outcome(), seed=seed, topology__name="debate", meta=broken if lost else {}
        )
    return tmp_path


def test_runs_that_are_left_out_are_counted_as_failures_and_as_successes_beside(failing: Path) -> None:
    found = answer(failing, by=["topology"], metrics=["success", "steps"], baseline="individual")
    assert found.estimates["outcome.success", "debate", None].value == 1.0
    failures, successes = found.bounds["outcome.success", "debate", None]
    exact = stats.binomtest(13, 20).proportion_ci(method="exact")
    assert (failures.value, failures.low, failures.high) == pytest.approx((0.65, exact.low, exact.high))
    assert (successes.value, successes.runs) == (1.0, 20)
    assert set(found.bounds) == {("outcome.success", "debate", None)}, "steps are no share, and one arm lost no run"
    success, steps = found.differences
    assert (success.mean.value, success.mean.boards, success.differing) == (0.0, 13, 0)
    assert (success.lowest, success.highest) == pytest.approx((0.65 - 0.7, 1.0 - 0.7))
    assert np.isnan(steps.lowest)
    assert "left-out runs counted as failures, and as successes" in reported(found)


def test_the_bounds_stand_in_tables_records_and_json_alike(failing: Path) -> None:
    found = answer(failing, by=["topology"], metrics=["success"], baseline="individual")
    table = next(table for table in tables(found) if "counted as failures and as successes" in table.title)
    (row,) = table.rows
    assert row[:3] == ("debate", "13", "7")
    assert row[4].startswith("0.650 [")
    record = next(r for r in as_json(found, [])["estimates"] if r["topology.name"] == "debate")
    assert (record["if_failures"], record["if_successes"], record["left_out"]) == (0.65, 1.0, 7)
    assert f"0.650 [{record['if_failures_low']:.3f}, {record['if_failures_high']:.3f}]" == row[4]


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"by": ["topolgy"]}, r"--by topolgy: the runs have no such factor\nDid you mean 'topology'"),
        ({"by": ["seed"]}, "seeds cannot be compared, because each seed is a board"),
        ({"by": ["name"]}, "several factors end in this name\nGive one of them: env.name"),
        ({"by": ["topology"], "across": "topology"}, "--by already compares by it"),
        ({"across": "m"}, "--across m: the runs have no such factor"),
        ({"metrics": ["completon"]}, r"Did you mean 'completion'"),
        ({"metrics": ["outcome.return"]}, "the runs do not have it"),
        ({"by": ["topology"], "baseline": "debat"}, r"Did you mean 'debate'\? Levels: "),
        ({"by": ["env"], "baseline": "cube"}, "there is no other level"),
        ({"statistic": "mode"}, "Statistics: mean, median, iqm"),
    ],
)
def test_what_a_user_gets_wrong_is_reported_with_the_nearest_names(sweep: Path, question: dict, message: str) -> None:
    with pytest.raises(UserError, match=message):
        answer(sweep, **question)


def test_without_a_run_that_counts_there_is_no_comparison(tmp_path: Path) -> None:
    write_run(tmp_path, None, meta={"outcome": "error", "error": {"class": "X", "message": "y"}})
    with pytest.raises(UserError, match="there is no run to compare: 1 ended with an error"):
        answer(tmp_path)


@pytest.mark.parametrize(
    ("metric", "resolved"),
    [("messages", "communication.messages"), ("interruptions", "plans.interruptions")],
)
def test_the_last_part_of_a_metrics_name_will_do(tmp_path: Path, metric: str, resolved: str) -> None:
    values = {"communication.messages": 1, "plans.interruptions": 1, "coop2.interruptions": 2}
    write_run(tmp_path, {**outcome(), **values})
    assert answer(tmp_path, metrics=[metric]).metrics == (resolved,)


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (0.9333, 0.85, 0.98, "0.933 [0.850, 0.980]"),
        (62.04, 40.0, 90.0, "62.0 [40.0, 90.0]"),
        (1234.5, 1000.0, 1500.0, "1234 [1000, 1500]"),
        (0.0, 0.0, 0.0, "0.00 [0.00, 0.00]"),
        (float("nan"), float("nan"), float("nan"), "-"),
        (3.0, float("nan"), float("nan"), "3.00"),
        (-0.001, -0.4, 0.4, "-0.001 [-0.400, 0.400]"),
    ],
)
def test_numbers_are_written_with_the_digits_that_they_deserve(
    value: float, low: float, high: float, text: str
) -> None:
    found = Estimate(value, low, high, 5, 5)
    assert interval(found, decimals([found])) == text


def test_a_column_has_one_number_of_decimals() -> None:
    column = [Estimate(99.2, 75.0, 121.0, 5, 5), Estimate(4.0, 3.0, 5.0, 5, 5)]
    assert [interval(found, decimals(column)) for found in column] == ["99.2 [75.0, 121.0]", "4.0 [3.0, 5.0]"]


def test_p_values_are_not_written_as_0() -> None:
    write: Callable[[float], str] = p_value
    assert [write(0.00004), write(0.0312), write(float("nan"))] == ["<0.001", "0.031", "-"]


PROMPT = "prompts/common/system.jinja"


def test_runs_of_one_configuration_with_other_inputs_are_not_pooled_unless_accepted(tmp_path: Path) -> None:
    for seed, text in enumerate("aab"):
        write_run(tmp_path, outcome(), seed=seed, meta={"inputs": {PROMPT: text * 64}})
    with pytest.raises(UserError, match=rf"different inputs: {PROMPT} differ between .*\n.*--by inputs"):
        answer(tmp_path)
    found = answer(tmp_path, by=["inputs"])
    assert [tally.pooled for tally in found.pool.tallies] == [2, 1]
    assert f"different between levels: {PROMPT}" not in reported(found)
    assert [found.levels for found in [answer(tmp_path, by=[PROMPT])]] == [("aaaaaaaa", "bbbbbbbb")]
    assert f"{PROMPT} (aaaaaaaa, bbbbbbbb)" in reported(answer(tmp_path, accept_versions=True))


def test_one_configuration_has_one_set_of_inputs_however_its_model_is_reached(tmp_path: Path) -> None:
    for seed, text in enumerate("ab"):
        model = {"name": "openai", "model": "m", "max_concurrency": seed + 1}
        write_run(tmp_path, outcome(), seed=seed, llm=model, meta={"models": ["m"], "inputs": {PROMPT: text * 64}})
    with pytest.raises(UserError, match=f"different inputs: {PROMPT} differ"):
        answer(tmp_path)


def test_inputs_that_go_along_with_the_levels_are_reported(sweep: Path) -> None:
    for file in sweep.glob("*/meta.json"):
        meta = json.loads(file.read_text())
        text = "b" if meta["configuration"]["topology"]["name"] == "chain" else "a"
        file.write_text(json.dumps({**meta, "inputs": {PROMPT: text * 64}}))
    assert f"Confounded with topology: {PROMPT} (aaaaaaaa, bbbbbbbb)" in reported(answer(sweep, by=["topology"]))


def test_minds_that_have_other_templates_are_compared_without_a_word(tmp_path: Path) -> None:
    for agents, inputs in (
        ("naive", {PROMPT: "a" * 64}),
        ("planner", {}),
        ("llamac", {"prompts/roles/turn": "b" * 64}),
    ):
        write_run(tmp_path, outcome(), agents__name=agents, meta={"inputs": inputs})
    assert "prompts/" not in reported(answer(tmp_path, by=["agents"]))


def test_what_varies_among_runs_whose_minds_have_no_use_for_it_is_told(sweep: Path) -> None:
    for file in sweep.glob("*/meta.json"):
        meta = json.loads(file.read_text())
        unused = {"topology": "does not talk", "prompts": "asks no language model"}
        file.write_text(json.dumps({**meta, "unused": unused}))
    found = reported(answer(sweep, by=["topology"]))
    assert "agents=heuristic does not talk, so topology changes no decision, but 12 runs differ in it." in found
    assert "prompts changes" not in found


def test_episodes_of_lines_are_the_x_axis_where_n_does_not_vary_and_are_paired_one_by_one(tmp_path: Path) -> None:
    for keep, steps in {False: [30, 30, 30], True: [30, 24, 18]}.items():
        for (episode, value), seed in product(enumerate(steps), range(6)):
            write_run(tmp_path, outcome(steps=value + seed), seed=seed, episode=episode, memory={"keep": keep})
    found = answer(tmp_path, by=["memory.keep"], metrics=["steps"], baseline="false")
    assert (found.across, found.points) == ("episode", (0, 1, 2))
    assert [(d.point, d.mean.value, d.mean.boards) for d in found.differences] == [(0, 0, 6), (1, -6, 6), (2, -12, 6)]
    assert found.design.crossed == found.design.confounded == {}


def test_n_goes_before_the_episodes_as_the_x_axis(tmp_path: Path) -> None:
    for n, episode, seed in product((2, 4), (0, 1), range(2)):
        write_run(tmp_path, outcome(steps=n), seed=seed, n=n, episode=episode)
    found = answer(tmp_path, metrics=["steps"])
    assert found.across == "n"
    assert found.design.crossed == {"episode": ("0", "1")}


def test_runs_that_several_builds_of_a_service_answered_are_noted(tmp_path: Path) -> None:
    for seed, build in enumerate(("fp_1", "fp_1", "fp_2")):
        meta = {"models": ["gpt-x"], "fingerprints": [build]}
        write_run(tmp_path / "two", outcome(), seed=seed, topology__name="debate", meta=meta)
        write_run(tmp_path / "one", outcome(), seed=seed, topology__name="debate", meta={**meta, "fingerprints": ["f"]})
    assert "2 builds of gpt-x answered in the pooled runs: fp_1, fp_2." in reported(answer(tmp_path / "two"))
    assert "builds of" not in reported(answer(tmp_path / "one"))
