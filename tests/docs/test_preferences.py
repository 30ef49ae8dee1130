"""The sentences on fresh draws in "Train a team" are those of the recorded pairs."""

from __future__ import annotations

import csv
from collections import defaultdict
from statistics import fmean

import numpy as np
import pytest

from quorum.comparison.statistics.flips import sign_flip_interval
from tests.conftest import ROOT

PAIRS = list(csv.DictReader((ROOT / "docs" / "validity" / "preferences.csv").read_text("utf-8").splitlines()))
PAGE = " ".join((ROOT / "docs" / "train.md").read_text("utf-8").split())


def by_board(column: str) -> dict[str, list[float]]:
    found: defaultdict[str, list[float]] = defaultdict(list)
    for pair in PAIRS:
        found[pair["board"]].append(float(pair[column]))
    return found


def test_margins_repeat_as_the_page_says() -> None:
    before, after = by_board("margin"), by_board("fresh_margin")
    changes = {board: np.subtract(after[board], before[board]) for board in before}
    decisions = {(pair["board"], pair["agent"], pair["step"]) for pair in PAIRS}
    assert f"{len(PAIRS)} pairs at {len(decisions)} decisions on {len(changes)} boards" in PAGE
    of_boards = np.array([found.mean() for found in changes.values()])
    low, high = sign_flip_interval(of_boards)
    assert f"by {of_boards.mean():+.1f} steps [{low:.1f}, {high:.1f}]" in PAGE
    assert fmean(fmean(margins) for margins in by_board("margin").values()) == pytest.approx(4.0, abs=0.05)
    fresh = [float(pair["fresh_margin"]) for pair in PAIRS]
    better, equal, worse = (sum(np.sign(one) == sign for one in fresh) for sign in (1, 0, -1))
    assert f"the better one in {better} pairs, equal in {equal} and worse in {worse}" in PAGE


def test_the_largest_margins_change_as_the_page_says() -> None:
    in_order = sorted(PAIRS, key=lambda pair: float(pair["margin"]))
    means = []
    for number in (12, 30):
        largest = in_order[-number:]
        means.append(tuple(fmean(float(pair[name]) for pair in largest) for name in ("margin", "fresh_margin")))
    boards = len({pair["board"] for pair in in_order[-12:]})
    (before, after), (quarter, later) = means
    assert f"the 12 largest margins, on {boards} boards, fall from {before:.1f} to {after:.1f}" in PAGE
    assert f"largest quarter hardly fall ({quarter:.1f} to {later:.1f})" in PAGE
