"""The table of the README is the result of the experiment that `make run` runs."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT, Quorum

ROWS = re.findall(r"^\| `(\w+)`:[^|]*\| ([^|]+) \| ([^|]+) \|$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)


def test_the_table_has_every_arm() -> None:
    arms = re.findall(r"^  (\w+): \[", (ROOT / "configs" / "experiment" / "quickstart.yaml").read_text(), re.MULTILINE)
    assert [arm for arm, *_ in ROWS] == arms


@pytest.mark.claims
def test_the_difference_below_the_table_is_what_the_experiment_gives(quorum: Quorum) -> None:
    """`tests.docs.test_tables` measures the table itself."""
    assert quorum("sweep", "experiment=quickstart", "--name", "quick", "--quiet").returncode == 0
    words = ("--metric", "success", "--metric", "steps", "--baseline", "individual")
    shown = quorum("compare", "runs/quick", *words).stdout
    below = (ROOT / "README.md").read_text("utf-8").split("make run` prints this table")[1].split("<details>")[0]
    figures = re.findall(r"[+-]\d+\.\d \[[^]]*\]", below)
    assert figures
    for figure in figures:
        assert f" {figure} " in shown, figure
    success = shown.split("outcome.success ↑: difference")[1].split("outcome.steps ↓: difference")[0]
    assert all(float(p) > 0.05 for p in re.findall(r"\] │ +(\d\.\d+) │", success))
