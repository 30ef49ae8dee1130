"""The rules by which a published point agrees, differs, or is not comparable, on cases made by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from maeil.metrics import METRICS
from quorum.comparison.differences import Pairing, differences
from quorum.comparison.statistics.intervals import Estimate
from quorum.runs.sweep_file import Published
from quorum.study.reproduce.verdicts import judge_number, judge_order, published_estimate

STEPS, SUCCESS, SECONDS = METRICS["outcome.steps"], METRICS["outcome.success"], METRICS["outcome.seconds"]
TABLE = Published(source="a paper", factors=["n"], metrics=["outcome.steps"], rows=[])
TEN = TABLE.model_copy(update={"trials": 10})
READ = TABLE.model_copy(update={"tolerance": 0.05})
HERE = Estimate(20.0, 18.0, 22.0, 10, 10)


@pytest.mark.parametrize(
    ("value", "table", "verdict"),
    [
        (21.9, TABLE, "agrees"),
        (22.1, TABLE, "differs"),
        (17.9, TABLE, "differs"),
        (23.0, READ, "agrees"),  # 5 % of it reaches down to 21.85
        (23.2, READ, "differs"),
        ([24.0, 3.0], TEN, "agrees"),  # Student: 24 - 2.26 * 3 / sqrt(10) = 21.85
        ([24.3, 3.0], TEN, "differs"),
        ([24.0, 3.0], TABLE, "differs"),  # without trials, a deviation says nothing of the mean
    ],
)
def test_a_number_agrees_where_the_two_intervals_overlap(value, table: Published, verdict: str) -> None:
    assert judge_number(STEPS, value, HERE, table).verdict == verdict


def test_a_difference_says_by_how_much_and_which_way() -> None:
    assert judge_number(STEPS, 30, HERE, TABLE).reason == "lower here by 10.0"
    assert judge_number(STEPS, 10.5, HERE, TABLE).reason == "higher here by 9.5"


def test_a_published_share_of_trials_has_the_interval_of_its_trials() -> None:
    found = published_estimate(SUCCESS, 0.8, TEN)
    assert (round(found.low, 3), round(found.high, 3)) == (0.444, 0.975)  # Clopper and Pearson
    here = Estimate(0.3, 0.1, 0.5, 10, 10)
    assert judge_number(SUCCESS, 0.8, here, TEN).verdict == "agrees"
    assert judge_number(SUCCESS, 0.8, here, TABLE).verdict == "differs"


def test_where_all_boards_agree_the_value_is_its_own_interval() -> None:
    silent = Estimate(0.0, math.nan, math.nan, 10, 10)
    assert judge_number(METRICS["communication.messages"], 0, silent, READ).verdict == "agrees"
    assert judge_number(METRICS["communication.messages"], 1, silent, READ).verdict == "differs"


@pytest.mark.parametrize(
    ("metric", "here", "reason"),
    [
        (STEPS, None, "no such run here"),
        (STEPS, Estimate(math.nan, math.nan, math.nan, 0, 0), "no such run here"),
        (STEPS, Estimate(20.0, math.nan, math.nan, 3, 1), "one board has no interval"),
        (SECONDS, HERE, "wall time of another machine"),
    ],
)
def test_a_number_without_a_counterpart_is_not_comparable(metric, here, reason: str) -> None:
    found = judge_number(metric, 20, here, TABLE)
    assert (found.verdict, found.reason) == ("not comparable", reason)


def _difference(*deltas: float):
    level = {(board,): [10 + delta] for board, delta in enumerate(deltas)}
    other = {(board,): [10.0] for board, _ in enumerate(deltas)}
    return differences(STEPS, [Pairing("a", None, level, other)])[0]


def test_an_order_agrees_only_where_the_paired_difference_is_significant_that_way() -> None:
    up, noise = _difference(1, 2, 3, 2, 1, 2, 3), _difference(1, -1, 2, -2, 1, -1, 0.5)
    assert judge_order(1, up).verdict == "agrees"
    assert judge_order(-1, up).reason == "significant in the other direction"
    assert judge_order(-1, replace(up, p=0.051)).reason == "no significant difference (p = 0.051)"
    assert judge_order(1, noise).reason.startswith("no significant difference")
    assert judge_order(1, _difference(*[0] * 7)).reason == "no board differs"
    assert {judge_order(sign, d).verdict for sign, d in ((-1, up), (1, noise))} == {"differs"}


def test_an_order_over_too_few_boards_is_not_comparable() -> None:
    found = judge_order(1, _difference(1, 2, 3, 2, 1))
    assert (found.verdict, found.reason) == ("not comparable", "too few boards (5) for a significant difference")
    assert judge_order(1, None).reason == "the two share no boards"
