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
def test_the_table_is_what_the_experiment_gives(quorum: Quorum) -> None:
    assert quorum("sweep", "experiment=quickstart", "--name", "quick", "--quiet").returncode == 0
    shown = quorum("compare", "runs/quick", "--metric", "success", "--baseline", "individual").stdout
    table = [[cell.strip() for cell in line.split("│")] for line in shown.splitlines() if line.startswith("│")]
    for arm, *cells in ROWS:
        assert [row[3:5] for row in table if row[1].partition(" ")[0] == arm and "[" in row[3]] == [cells]
    assert "+0.500 [0.167, 0.833]" in shown
