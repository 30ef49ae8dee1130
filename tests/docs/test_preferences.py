"""The sentences on fresh draws in "Train a team" are those of the recorded pairs."""

from __future__ import annotations

import csv
from collections import defaultdict
from statistics import fmean

import numpy as np

from quorum.comparison.statistics.flips import sign_flip_interval
from tests.conftest import ROOT

PAIRS = list(csv.DictReader((ROOT / "docs" / "validity" / "preferences.csv").read_text("utf-8").splitlines()))
PAGE = " ".join((ROOT / "docs" / "train.md").read_text("utf-8").split())


def test_margins_repeat_as_the_page_says() -> None:
    changes: defaultdict[str, list[float]] = defaultdict(list)
    for pair in PAIRS:
        changes[pair["board"]].append(float(pair["fresh_margin"]) - float(pair["margin"]))
    decisions = {(pair["board"], pair["agent"], pair["step"]) for pair in PAIRS}
    assert f"{len(PAIRS)} pairs at {len(decisions)} decisions on {len(changes)} boards" in PAGE
    of_boards = np.array([fmean(found) for found in changes.values()])
    low, high = sign_flip_interval(of_boards)
    assert f"by {of_boards.mean():+.1f} steps [{low:.1f}, {high:.1f}]" in PAGE
    better = sum(float(pair["fresh_margin"]) > 0 for pair in PAIRS)
    assert f"the better one in {better} pairs" in PAGE


def test_the_largest_margins_shrink_as_the_page_says() -> None:
    largest = sorted(PAIRS, key=lambda pair: float(pair["margin"]))[-len(PAIRS) // 10 :]
    before, fresh = (fmean(float(pair[name]) for pair in largest) for name in ("margin", "fresh_margin"))
    assert f"the mean of the {len(largest)} largest falls from {before:.1f} to {fresh:.1f}" in PAGE
