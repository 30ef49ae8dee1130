"""Estimates of dry runs are near what is then played, for every named experiment and every published figure."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks.estimates import compare, sweeps
from quorum.experiments.configuration.catalogue import EXPERIMENT, options
from quorum.experiments.reproduce.figure_file import figure_names, load_figure

NEAR = 0.3


def test_the_table_has_all_experiments_and_figures() -> None:
    found = set(sweeps().values())
    assert {(f"{EXPERIMENT}={option.name}",) for option in options() if option.group == EXPERIMENT} <= found
    parts = {(f"{EXPERIMENT}={p.experiment}", *p.words) for name in figure_names() for p in load_figure(name).parts}
    assert parts <= found


@pytest.mark.conformance
@pytest.mark.parametrize(("name", "words"), sweeps().items())
def test_no_estimate_is_off_by_more_than_thirty_percent(name: str, words: Sequence[str]) -> None:
    row = compare(name, words)
    if row is None:  # it asks no model
        return
    assert row.spent.answers > 0
    assert row.worst <= NEAR, row.line()
