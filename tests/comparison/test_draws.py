"""Draws of a board: averaged and never dropped, and what they say about chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean, variance

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil.metrics import METRICS
from maeil.outcomes import Outcome
from quorum.comparison import Comparison, Question, compare
from quorum.comparison.draws import flip_rate, largest_gap, noise, passes, variance_components
from quorum.comparison.files import as_json, draws
from quorum.comparison.findings import findings
from quorum.comparison.notes import notes
from quorum.comparison.statistics.intervals import Floats
from quorum.comparison.tables import tables
from quorum.runs import read_results
from tests.folders import outcome, write_run

STEPS = {"alone": [[10, 14], [20, 20], [30, 38]], "talk": [[12, 14], [19, 19], [35, 33]]}
"""Steps of each topology by board and draw."""
ASKED = {"models": ["some-model"]}
BOARDS = "outcome.steps"


def answer(folder: Path, **question: object) -> Comparison:
    asked = {"by": ("topology",), "metrics": ("steps",), "baseline": "alone"} | question
    return compare([read_results(folder)], Question(**asked))  # type: ignore[arg-type] # as a caller gives them


def write(folder: Path, steps: Mapping[str, Sequence[Sequence[int]]], **more: object) -> Path:
    for level, boards in steps.items():
        for seed, own in enumerate(boards):
            for draw, value in enumerate(own):
                write_run(folder, outcome(steps=value), seed=seed, draw=draw, topology__name=level, **more)  # type: ignore[arg-type]
    return folder


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    return write(tmp_path, STEPS)


def reported(comparison: Comparison) -> str:
    return "\n".join(notes(comparison))


def test_runs_are_paired_by_board_and_draws_are_averaged(sweep: Path) -> None:
    found = answer(sweep)
    (difference,) = found.differences
    assert difference.mean.value == fmean(fmean(b) - fmean(a) for a, b in zip(*STEPS.values(), strict=True))
    assert (difference.mean.boards, difference.mean.runs, difference.unpaired) == (3, 12, 0)
    assert found.estimates[BOARDS, "alone", None].value == fmean(map(fmean, STEPS["alone"]))


def test_a_draw_is_no_factor_unless_it_is_compared(sweep: Path) -> None:
    found = answer(sweep)
    assert (found.across, found.design.crossed, found.design.pooled_over, found.design.confounded) == (None, {}, {}, {})
    assert "Pooled over" not in reported(found)
    by_draw = answer(sweep, by=("draw",), baseline="0")
    assert (by_draw.levels, by_draw.noise) == (("0", "1"), {})
    assert by_draw.design.crossed == {"topology.name": ("alone", "talk")}
    (difference,) = by_draw.differences
    pairs = [b - a for boards in STEPS.values() for a, b in boards]
    assert (difference.mean.value, difference.mean.boards) == (fmean(pairs), 3)


def test_the_noise_of_a_group_by_hand(sweep: Path) -> None:
    found = answer(sweep).noise[BOARDS, "alone", None]
    within = fmean(map(variance, STEPS["alone"]))  # 8, 0 and 32
    assert found.within == pytest.approx(within) == pytest.approx(40 / 3)
    assert found.between == pytest.approx((2 * variance(map(fmean, STEPS["alone"])) - within) / 2)
    assert found.share == pytest.approx(found.within / (found.within + found.between))
    assert found.largest_gap == 4  # means of 20 and 24
    assert found.gap == pytest.approx(1.959964 * math.sqrt(2 * within / 3))
    assert (found.boards, found.several, found.fewest, found.most) == (3, 3, 2, 2)
    assert (found.flipping, found.passes) == (None, ())


def test_a_board_counts_under_each_value_of_other_factors_by_itself(tmp_path: Path) -> None:
    for n in (2, 4):  # n shifts all boards: it is in no variance
        for seed in range(3):
            for draw in range(2):
                steps = 100 * n + 10 * seed + draw
                write_run(tmp_path, outcome(steps=steps), n=n, seed=seed, draw=draw)
    found = answer(tmp_path, across="none", baseline=None).noise[BOARDS, "individual", None]
    assert (found.boards, found.within, found.between) == (6, 0.5, pytest.approx(100 - 0.25))


def test_what_is_pooled_over_is_no_draw(tmp_path: Path) -> None:
    for temper in (0, 1):
        write_run(tmp_path, outcome(steps=temper), seed=0, draw=temper, agents__temper=temper)
    write_run(tmp_path, outcome(steps=5), seed=0, topology__name="talk", agents__temper=0)
    assert answer(tmp_path, baseline=None).noise == {}


def test_episodes_of_a_line_are_no_draws(tmp_path: Path) -> None:
    for topology in ("alone", "talk"):
        for episode in range(2):
            write_run(tmp_path, outcome(steps=episode), episode=episode, topology__name=topology)
    for across in (None, "none"):
        assert answer(tmp_path, across=across).noise == {}


def test_yes_and_no_have_a_flip_rate_and_passes(tmp_path: Path) -> None:
    hits = [[True, True, True], [True, False, True], [False, False, False], [True, False, False]]
    for seed, own in enumerate(hits):
        for draw, success in enumerate(own):
            write_run(tmp_path, outcome(success=success), seed=seed, draw=draw)
    found = answer(tmp_path, metrics=("success", "completion"), baseline=None)
    success = found.noise["outcome.success", "individual", None]
    assert (success.flipping, success.several) == (2, 4)
    assert success.flip_rate == pytest.approx((0 + 2 / 3 + 0 + 2 / 3) / 4)
    assert success.passes == pytest.approx(((1 + 2 / 3 + 0 + 1 / 3) / 4, (1 + 1 / 3) / 4, 1 / 4))
    (table,) = [table for table in tables(found) if "chance" in table.title]  # completion is 1 in all: no table
    assert table.header[-5:] == ("boards that flip", "flip rate", "pass^1", "pass^2", "pass^3")
    assert table.rows[0][-5:] == ("2 of 4", "0.33", "0.50", "0.33", "0.25")
    records = {record["metric"]: record for record in draws(found)}
    assert records["outcome.success"]["pass_2"] == pytest.approx(1 / 3)
    assert as_json(found, [])["draws"][0] == records["outcome.success"]


def test_of_a_metric_that_is_better_low_a_success_is_0(tmp_path: Path) -> None:
    lower = next(name for name, metric in METRICS.items() if metric.rate and metric.better == "lower")
    for draw, fails in enumerate((0, 1, 0)):
        write_run(tmp_path, outcome() | {lower: fails}, draw=draw)
    found = answer(tmp_path, metrics=(lower,), baseline=None).noise[lower, "individual", None]
    assert found.passes == pytest.approx((2 / 3, 1 / 3, 0))


def test_boards_with_fewer_draws_are_counted_and_reported(tmp_path: Path) -> None:
    write(tmp_path, {"alone": [[10, 14, 12], [20, 22]], "talk": [[11, 15], [21, 23]]})
    failed = {"outcome": str(Outcome.ERROR)}
    write_run(tmp_path, outcome(steps=1), seed=1, draw=2, topology__name="alone", meta=failed)
    found = answer(tmp_path)
    assert "1 of 4 boards lack draws that other boards of their group have" in reported(found)
    assert "left out: 1 error" in reported(found)
    alone = found.noise[BOARDS, "alone", None]
    assert (alone.fewest, alone.most, alone.several) == (2, 3, 2)
    assert found.differences[0].mean.value == fmean([13 - 12, 22 - 21])


def test_one_draw_of_minds_that_draw_at_random_is_reported_with_the_way_out(tmp_path: Path) -> None:
    for name, meta, mind in (("model", ASKED, "naive"), ("rules", {}, "heuristic"), ("random", {}, "negotiator")):
        one = write(tmp_path / name, {"alone": [[10]], "talk": [[12]]}, meta=meta, agents__name=mind)
        assert ("'draw=range(0,3)'" in reported(answer(one))) == (name != "rules"), name
    several = write(tmp_path / "several", {"alone": [[10, 11]], "talk": [[12]]}, meta=ASKED)
    assert "Each board of talk has one draw" in reported(answer(several))
    assert "Each board" not in reported(answer(several, by=("draw",), baseline="0"))


def test_draws_that_agree_in_every_metric_are_reported(tmp_path: Path) -> None:
    alike = answer(write(tmp_path / "alike", {"alone": [[10, 10], [9, 9]], "talk": [[7, 7], [8, 8]]}))
    assert "All draws of a board agree in every metric" in reported(alike)
    assert alike.noise[BOARDS, "alone", None].gap == 0
    assert "All draws" not in reported(answer(write(tmp_path / "other", STEPS)))


def test_a_difference_below_the_gap_is_named_even_where_it_is_significant(tmp_path: Path) -> None:
    alone = [[10 * board, 10 * board + 6] for board in range(8)]
    write(tmp_path, {"alone": alone, "talk": [[first + 4, first + 4] for first, _ in alone]})
    found = answer(tmp_path)
    gap = 1.959964 * math.sqrt(2 * 18 / 8)  # that of `talk` is 0
    assert found.gap(found.differences[0]) == pytest.approx(gap)
    assert f"exceed in 5 % of cases: talk (+1.00, gap {gap:.2f})." in reported(found)
    assert f", smaller than the A/A gap of {gap:.2f})" in findings(found)[0]
    above = answer(write(tmp_path / "above", {"alone": [[0, 6]] * 8, "talk": [[20, 26]] * 8}))
    assert "smaller than" not in reported(above) + findings(above)[0]


BINARY = st.lists(st.lists(st.booleans(), min_size=2, max_size=6), min_size=1, max_size=6)
NUMBERS = st.floats(-100, 100, allow_subnormal=False)


def matrix(boards: Sequence[Sequence[float]]) -> Floats:
    """Return values by board and draw, NaN where there is none."""
    wide = max(map(len, boards))
    return np.array([[*map(float, own), *[math.nan] * (wide - len(own))] for own in boards])


@given(BINARY, st.integers(1, 6))
def test_pass_k_is_the_share_of_sets_of_draws_that_all_succeed(boards: list[list[bool]], k: int) -> None:
    shares = [fmean(all(some) for some in combinations(own, k)) for own in boards if len(own) >= k]
    found = passes(matrix(boards), k)
    assert found == pytest.approx(fmean(shares)) if shares else math.isnan(found)


@given(BINARY)
def test_the_flip_rate_is_the_share_of_pairs_of_draws_that_differ(boards: list[list[bool]]) -> None:
    shares = [fmean(a != b for a, b in combinations(own, 2)) for own in boards]
    assert flip_rate(matrix(boards)) == pytest.approx(fmean(shares))


@given(st.lists(st.lists(NUMBERS, min_size=1, max_size=4), min_size=2, max_size=5), NUMBERS)
def test_variances_do_not_depend_on_where_0_is_and_share_the_whole(boards: list[list[float]], shift: float) -> None:
    strata = [0] * len(boards)
    between, within = variance_components(matrix(boards), strata)
    moved = variance_components(matrix(boards) + shift, strata)
    assert moved == pytest.approx((between, within), abs=1e-6, nan_ok=True)
    assert math.isnan(within) or within >= 0
    if all(len(own) == len(boards[0]) > 1 for own in boards):  # the components of a balanced design
        assert between == pytest.approx(variance(map(fmean, boards)) - within / len(boards[0]), abs=1e-6)


def test_the_largest_gap_is_over_the_boards_that_have_both_draws() -> None:
    assert largest_gap(matrix([[1, 5, 3], [2, 2], [7]])) == 2  # draws 0 and 1: 4 and 0; 0 and 2: 2; 1 and 2: 2
    assert math.isnan(largest_gap(matrix([[1], [2]])))


BOARD_SD, DRAW_SD = 3.0, 2.0


@pytest.mark.conformance
def test_the_components_are_unbiased_with_unequal_draws_and_strata() -> None:
    random = np.random.default_rng(1)
    sizes, strata = [1, 2, 2, 3, 5, 4, 1, 2], [0, 0, 0, 0, 1, 1, 1, 1]
    found = []
    for _ in range(4000):
        boards = random.normal(np.array(strata) * 50, BOARD_SD)
        drawn = [random.normal(board, DRAW_SD, size) for board, size in zip(boards, sizes, strict=True)]
        found.append(variance_components(matrix(drawn), strata))
    errors = np.std(found, axis=0) / math.sqrt(len(found))
    assert np.abs(np.mean(found, axis=0) - (BOARD_SD**2, DRAW_SD**2)) == pytest.approx(0, abs=float(4 * errors.max()))


@pytest.mark.conformance
def test_flip_rate_and_passes_are_unbiased() -> None:
    random = np.random.default_rng(2)
    chances = np.array([0.1, 0.5, 0.9, 1.0])
    drawn = [(random.random((4, 5)) < chances[:, None]).astype(float) for _ in range(4000)]
    assert np.mean([flip_rate(own) for own in drawn]) == pytest.approx(2 * (chances * (1 - chances)).mean(), abs=0.01)
    for k in range(1, 6):
        assert np.mean([passes(own, k) for own in drawn]) == pytest.approx((chances**k).mean(), abs=0.01)


@pytest.mark.conformance
def test_two_sweeps_with_one_draw_a_board_exceed_the_gap_in_5_percent() -> None:
    random = np.random.default_rng(3)
    spreads = np.linspace(0.5, 4, 20)
    exceeded = 0
    for _ in range(4000):
        boards = random.normal(0, 10, 20)
        gap = noise(random.normal(boards[:, None], spreads[:, None], (20, 4)), [0] * 20).gap
        one, other = (random.normal(boards, spreads).mean() for _ in range(2))
        exceeded += abs(one - other) > gap
    assert exceeded / 4000 == pytest.approx(0.05, abs=0.015)
