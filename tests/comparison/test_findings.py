"""The findings in words: what differs and by how much, or that nothing is significant, and how many boards it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from matplotlib.text import Text

from quorum.comparison import FIRST, Comparison, Question, compare
from quorum.comparison.differences import Difference
from quorum.comparison.figures import FIGURES, style
from quorum.comparison.findings import boards_needed, constant, findings
from quorum.comparison.statistics.intervals import Estimate
from quorum.runs import read_results
from tests.folders import outcome, write_run

STEPS = "outcome.steps"


def _comparison(folder: Path, arms: dict[str, Sequence[int]], **question: object) -> Comparison:
    """Compare topologies whose steps on each board are given."""
    for arm, values in arms.items():
        for seed, steps in enumerate(values):
            write_run(folder, outcome(steps=steps), name=f"{arm}-{seed}", n=2, seed=seed, topology__name=arm)
    asked = {"by": ("topology",), "metrics": ("steps", "success"), "baseline": FIRST} | question
    return compare([read_results(folder)], Question(**asked))  # type: ignore[arg-type] # as a caller gives them


def _difference(mean: float, deviation: float) -> Difference:
    some = Estimate(mean, math.nan, math.nan, 8, 8)
    return Difference(STEPS, "b", None, some, deviation, 8, 0, 0.5, 0.5, some, math.nan, math.nan)


def test_what_differs_is_reported_with_its_size_interval_and_p(tmp_path: Path) -> None:
    found = _comparison(tmp_path, {"alone": [20, 22, 24, 26, 28, 30, 32, 34], "talk": [10, 11, 12, 13, 14, 15, 16, 17]})
    steps, success = findings(found)
    assert steps.startswith("Steps: difference from alone: talk is better: -13.5 [-")
    assert "environment steps (p = 0.008, 8 boards)" in steps
    assert success == "Success is 1 in all 16 runs that define it."


def test_without_a_significant_difference_the_sentence_says_how_many_boards_would_do(tmp_path: Path) -> None:
    found = _comparison(tmp_path, {"alone": [20, 30, 40, 50, 60, 70, 80, 90], "talk": [18, 33, 38, 52, 57, 71, 79, 89]})
    steps = findings(found)[0]
    assert steps.startswith("Steps: no significant difference from alone. The largest is -0.38 [")
    needed = boards_needed(found.differences[0])
    assert needed is not None
    assert f"To find one of this size, you need about {needed} boards; there are 8." in steps


def test_a_difference_that_only_the_correction_takes_away_is_reported_with_both_p_values(tmp_path: Path) -> None:
    arms = {"a": [10] * 6, "b": [12, 13, 14, 15, 16, 17], "c": [9, 11, 9, 11, 9, 12], "d": [9, 12, 8, 11, 9, 12]}
    steps = findings(_comparison(tmp_path, arms))[0]
    assert "no significant difference from a" in steps
    assert "(p = 0.031, by Holm's correction 0.094)" in steps


def test_without_a_baseline_the_ends_are_named(tmp_path: Path) -> None:
    found = _comparison(tmp_path, {"a": [1, 2, 3], "b": [7, 8, 9]}, baseline=None)
    assert findings(found)[0].startswith("Steps (mean): highest for b, 8.00 [")
    assert "lowest for a, 2.00 [" in findings(found)[0]


def test_the_first_of_several_levels_is_the_baseline_and_a_single_one_is_none(tmp_path: Path) -> None:
    assert _comparison(tmp_path / "two", {"a": [1, 2], "b": [3, 4]}).baseline == "a"
    assert _comparison(tmp_path / "one", {"a": [1, 2]}).baseline is None


@pytest.mark.parametrize(("mean", "deviation", "boards"), [(1.0, 1.0, 10), (0.5, 1.0, 34), (10.0, 1.0, 6)])
def test_boards_needed_are_those_of_a_paired_test_of_80_per_cent_power(
    mean: float, deviation: float, boards: int
) -> None:
    # (1.96 + 0.84)^2 + 1.96^2 / 2 = 9.8 for a difference of one standard deviation; six at least for any p of 0.05
    assert boards_needed(_difference(mean, deviation)) == boards
    assert boards_needed(_difference(-mean, deviation)) == boards


def test_a_difference_without_a_size_needs_no_number_of_boards() -> None:
    assert boards_needed(_difference(0.0, 1.0)) is None
    assert boards_needed(_difference(math.nan, math.nan)) is None


def test_a_metric_is_constant_only_where_all_runs_agree(tmp_path: Path) -> None:
    found = _comparison(tmp_path, {"a": [1, 2], "b": [3, 4]})
    assert constant(found, "outcome.success") == 1
    assert constant(found, STEPS) is None


def test_differences_have_a_row_for_each_level_and_its_zero(tmp_path: Path) -> None:
    found = _comparison(tmp_path, {"a": [1] * 6, "b": [3, 4, 5, 6, 7, 8], "c": [2, 3, 2, 3, 2, 3]})
    with style.styled():
        (drawing,) = FIGURES["difference"](found)
        (axes,) = drawing.figure.axes
        assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "c"]
        assert [tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2] == [(0, 0)]
        assert len(axes.containers) == 2
        assert any("difference from a" in text.get_text() for text in drawing.figure.findobj(Text))


def test_levels_that_all_succeed_have_their_interval(tmp_path: Path) -> None:
    found = _comparison(tmp_path, {"a": [1, 2, 3], "b": [3, 4, 5]})
    with style.styled():
        drawings = {drawing.name: drawing.figure for drawing in FIGURES["metrics"](found)}
        (axes,) = drawings["outcome.success"].axes
        assert len(axes.containers) == 2
        (axes,) = drawings[STEPS].axes
        assert len(axes.containers) == 2
        boards = [len(line.get_xdata()) for line in axes.lines if line.get_alpha() == 0.3]
        assert boards == [3, 3]
