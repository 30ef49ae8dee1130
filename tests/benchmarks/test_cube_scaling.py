"""The scaling study of CUBE: everything is measured, growth is judged, levels are not; no test looks at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cube_scaling import growth_points, judge_growth, write
from benchmarks.cube_speed.parts import action_bench, action_names, team_board
from benchmarks.cube_speed.published import Series, published_series
from benchmarks.cube_speed.study import TEAM, Measured, study
from benchmarks.cube_speed.timing import medians
from benchmarks.growth import power_law
from cube_env.symbolic.actions import CUBE_VOCABULARY, EMCOOP_VOCABULARY

SIZES = (2, 4, 8, 16)


def test_every_symbolic_action_of_both_vocabularies_is_measured() -> None:
    assert set(action_names()) == {*CUBE_VOCABULARY.names, *EMCOOP_VOCABULARY.names}


@pytest.mark.parametrize("n", [1, 2, 8, 33])
def test_the_team_of_a_push_stands_on_the_face(n) -> None:
    board = team_board(n)
    weight, (top, left) = board.blocks[0]
    face = {(row, left - 1) for row in range(top, top + weight)}
    assert len(face & set(board.agents)) == min(n, weight)
    assert len(board.agents) == n


def test_medians_leave_the_first_run_out() -> None:
    values = iter([100.0, 3.0, 1.0, 2.0])
    assert medians({"a": lambda: next(values)}, 3) == {"a": 2.0}


@pytest.mark.parametrize("n", [4, 16, 32])
def test_an_agent_that_walks_is_under_way_in_every_tick(n) -> None:
    bench = action_bench("move_to_block", n, team=False)
    bench.world.reset(0)
    controller = bench.world.start_action(0, bench.action)
    for _ in range(12):
        assert controller.status() is None
        bench.world.step([controller.act()] + [0] * (n - 1))
    controller.close()


@pytest.mark.conformance
def test_the_study_measures_every_quantity_at_every_size() -> None:
    found = study((2, 4), (1, 2), seconds=0.1)
    names = {name + suffix for name in action_names() for suffix in ("", TEAM)}
    assert {*found} == {"step", "step, live observations", "memory", "CPU", *names}
    assert {tuple(values) for values in found.values()} == {(2, 4), (1, 2)}
    assert all(value > 0 for values in found.values() for value in values.values())


def _measured(exponent: float) -> Measured:
    names = {series.quantity: series.sizes for series in published_series()}
    names |= {name + suffix: names["idle"] for name in action_names() for suffix in ("", TEAM)}
    return {name: {n: 1e-6 * (1 + 0.1 * (n == 8)) * n**exponent for n in sizes} for name, sizes in names.items()}


def test_growth_is_judged_above_rounding_and_levels_are_not() -> None:
    published = Series(quantity="step", unit="s", sizes=SIZES, values=[0.1, 2, 4.1, 8], last_digit=0.5)
    paced = Series(quantity="CPU", unit="%", sizes=SIZES, values=[2, 4, 8, 16.1], why="no pace is given")
    alike = {name: {n: 1e-6 * n + 1e-8 * (n == 8) for n in SIZES} for name in ("step", "CPU")}
    step, cpu, levels = growth_points([published, paced], alike)
    assert (step.verdict, step.reason) == ("agrees", "the intervals overlap")
    assert (cpu.verdict, cpu.reason) == ("not comparable", "no pace is given")
    assert (levels.verdict, levels.reason) == ("not comparable", "another machine")
    flat = {name: {n: 1e-6 + 1e-9 * n for n in SIZES} for name in alike}
    assert next(growth_points([published], flat)).reason == "grows more slowly here"
    rounded = Series(quantity="step", unit="s", sizes=SIZES, values=[0.1, 0.1, 4, 8], last_digit=0.5)
    assert next(growth_points([rounded], flat)).reason == "too few sizes above rounding"


def test_the_study_leaves_tables_and_both_figures(tmp_path: Path) -> None:
    series = published_series()
    assert {one.quantity for one in series} <= {"step", "memory", "CPU", *action_names()}
    assert all(len(one.sizes) == len(one.values) for one in series)
    *_, verdicts = write(series, _measured(1.0), tmp_path / "study")
    assert {file.name for file in (tmp_path / "study").iterdir()} == {"tables.md", "scaling.png", "action_heatmap.png"}
    assert {row[3] for row in verdicts.rows} == {"agrees", "differs", "not comparable"}


def test_a_growth_agrees_where_the_intervals_of_the_exponents_overlap() -> None:
    sizes = [1, 2, 4, 8]
    values = ([3.0, 12.0, 48.0, 192.0], [1.0, 2.2, 3.9, 8.1], [1.0, 2.0, 4.0, 8.0])
    square, noisy, linear = (fit.exponent for found in values if (fit := power_law(sizes, found)) is not None)
    assert judge_growth(linear, noisy).verdict == "agrees"
    assert judge_growth(noisy, square).reason == "grows faster here"
    assert judge_growth(square, noisy).reason == "grows more slowly here"
    assert judge_growth(None, noisy).verdict == "not comparable"
