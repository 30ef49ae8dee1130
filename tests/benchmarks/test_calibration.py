"""The fit of the simulated model's profiles: its published rows, its loss, and boards that no fit has seen."""

from __future__ import annotations

import math

import pytest

from benchmarks.calibration import (
    CHECK_BOARDS,
    FIT_BOARDS,
    LIMIT,
    MOST,
    PROFILES,
    Found,
    Row,
    loss,
    mean_loss,
    published_rows,
)
from quorum.configuration.cell import Cell


def test_rows_have_the_published_ranges_or_the_tolerance_of_reading_below_the_limit() -> None:
    rows = {row.n: row for row in published_rows("gpt-4o")}
    assert rows.keys() == MOST.keys()
    assert (rows[2].low, rows[2].steps, rows[2].high) == (138, 147, 161)
    assert (rows[8].low, rows[8].high) == (190, LIMIT)
    assert (rows[8].fewest, rows[8].most) == (pytest.approx(4.7), pytest.approx(5.3))
    assert [(row.fewest, row.most) for row in published_rows("gpt-4o-mini")][:2] == [(0, 1), (0, 2)]


def test_the_loss_is_the_mean_square_of_shares() -> None:
    row = Row(n=8, blocks=5, steps=200, low=190, high=200, fewest=4.7, most=5.3)
    assert loss(row, Found(5, 200)) == 0
    assert math.isclose(loss(row, Found(2, 200)), 0.5**2 / 2)
    assert math.isclose(loss(row, Found(5, 100)), 0.5**2 / 2)
    assert math.isclose(mean_loss([row, row], [Found(5, 200), Found(2, 100)]), 0.125)


@pytest.mark.parametrize(
    ("blocks", "steps", "fits"), [(5, 195, True), (5.3, 200, True), (4.6, 195, False), (5, 189, False)]
)
def test_a_row_fits_within_its_interval_of_steps_and_the_tolerance_of_blocks(
    blocks: float, steps: float, fits: bool
) -> None:
    assert Row(n=8, blocks=5, steps=200, low=190, high=200, fewest=4.7, most=5.3).fits(Found(blocks, steps)) is fits


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_names_its_model_and_rows_and_holds_some_out(profile: str) -> None:
    model, fitted = PROFILES[profile]
    assert fitted < {row.n for row in published_rows(model)}
    source = Cell.compose(["agents=naive", f"llm={profile}"]).plain["llm"]["calibrated_to"]
    assert source.startswith(f"{model} with {' and '.join(map(str, sorted(fitted)))} agents")


def test_the_boards_of_the_fit_are_not_those_of_the_tables() -> None:
    assert not set(FIT_BOARDS) & set(CHECK_BOARDS)
