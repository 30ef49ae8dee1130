"""Estimates of dry runs are near what is then played, for every named experiment and every published figure."""

from __future__ import annotations

import pytest

from benchmarks.estimates import compare, sweeps
from quorum.configuration.catalogue import EXPERIMENT, options
from quorum.study.reproduce.figure_file import figure_names, load_figure

NEAR = 0.3
ROWS = ("cube_baselines", "quickstart", "repair_cube", "tom_cube")
"""A few rows that are quickly played; `python -m benchmarks.estimates` plays all of them."""
BOARDS = 4
"""Boards of each; the mean of one or two boards is further from that of all."""


def test_the_table_has_all_experiments_and_figures() -> None:
    found = set(sweeps().values())
    assert {(f"{EXPERIMENT}={option.name}",) for option in options() if option.group == EXPERIMENT} <= found
    parts = {(f"{EXPERIMENT}={p.experiment}", *p.words) for name in figure_names() for p in load_figure(name).parts}
    assert parts <= found


@pytest.mark.conformance
@pytest.mark.parametrize("name", ROWS)
def test_no_estimate_is_off_by_more_than_thirty_percent(name: str) -> None:
    row = compare(name, sweeps()[name], boards_played=BOARDS)
    assert row is not None
    assert row.spent.answers > 0
    assert row.worst <= NEAR, row.line()
