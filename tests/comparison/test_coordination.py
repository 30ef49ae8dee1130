"""What coordination costs and brings, against a single mind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from quorum.comparison import Question, compare
from quorum.comparison.comparison import Comparison
from quorum.comparison.coordination import coordination
from quorum.comparison.tables import tables
from quorum.runs import read_results
from tests.folders import outcome, write_plan, write_run

Runs = Sequence[tuple[bool, float, int]]
"""Success, completion and calls on each board."""
TEAM: Runs = [(True, 1.0, 30), (False, 0.5, 50), (True, 1.0, 40), (False, 0.0, 40)]
SOLO: Runs = [(True, 1.0, 8), (False, 0.25, 12), (False, 0.5, 10), (False, 0.25, 10)]


def compared(folder: Path, arms: Mapping[str, Runs], baseline: str) -> Comparison:
    cells = []
    for arm, runs in arms.items():
        for seed, (success, completion, calls) in enumerate(runs):
            values = outcome(success, completion, model__calls=calls)
            meta = {"models": ["m"], "simulated": True}
            digest = write_run(folder, values, name=f"{arm}-{seed}", seed=seed, topology__note=arm, meta=meta)
            cells.append((f"{arm}-{seed}", digest, arm))
    write_plan(folder, cells, arms={arm: [] for arm in arms})
    return compare([read_results(folder)], Question(by=["arm"], baseline=baseline))


def test_the_measures_are_those_of_the_paper(tmp_path: Path) -> None:
    groups = compared(tmp_path, {"team": TEAM, "solo": SOLO}, "solo").groups
    found = coordination(groups["team", None], groups["solo", None])
    assert found is not None
    assert found.efficiency.value == pytest.approx(0.5 / (40 / 10))
    assert found.overhead.value == pytest.approx((40 - 10) / 10)
    assert found.amplification.value == pytest.approx(0.5 / 0.75)
    assert found.synergy.value == pytest.approx((0 + 0.25 + 0.5 - 0.25) / 4)
    assert found.overhead.low < 3 < found.overhead.high


def test_where_the_single_mind_makes_no_error_there_is_nothing_to_amplify(tmp_path: Path) -> None:
    groups = compared(tmp_path, {"team": TEAM, "solo": [(True, 1.0, 9)] * 4}, "solo").groups
    found = coordination(groups["team", None], groups["solo", None])
    assert found is not None
    assert np.isnan([found.amplification.value, found.amplification.low, found.amplification.high]).all()


def test_the_interval_of_a_ratio_holds_the_truth_in_about_95_percent(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    found = compared(tmp_path, {"team": TEAM * 5, "solo": SOLO * 5}, "solo")
    team, solo = found.groups["team", None], found.groups["solo", None]
    held = []
    for _ in range(200):
        turns = random.gamma(4, 10, 20), random.gamma(4, 2.5, 20)
        drawn = [
            replace(group, rows=tuple(replace(row, metrics={**row.metrics, "model.calls": own}) for row, own in pairs))
            for group, pairs in (
                (team, zip(team.rows, turns[0], strict=True)),
                (solo, zip(solo.rows, turns[1], strict=True)),
            )
        ]
        measured = coordination(*drawn)
        assert measured is not None
        held.append(measured.overhead.low <= 3 <= measured.overhead.high)
    assert 0.9 <= np.mean(held) <= 0.99


def test_the_table_is_there_where_the_baseline_is_a_single_mind(tmp_path: Path) -> None:
    arms = {"team": TEAM, "other": TEAM, "solo": SOLO}
    titles = [table.title for table in tables(compared(tmp_path / "solo", arms, "solo"))]
    assert "Coordination against the single mind of solo" in titles
    titles = [table.title for table in tables(compared(tmp_path / "other", arms, "other"))]
    assert not [title for title in titles if title.startswith("Coordination")]
