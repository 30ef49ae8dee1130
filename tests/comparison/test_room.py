"""The share of the room between the team without talk and the reference, in a comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from quorum.comparison import Question, compare
from quorum.comparison.formats import Table
from quorum.comparison.tables import tables
from quorum.runs import read_results
from quorum_base.user_errors import UserError
from tests.folders import outcome, write_plan, write_run

ARMS = {
    "silent": (0.0, 0.2, 1.0, 0.0, 0.1, 0.0, 0.2, 0.0),
    "talk": (0.5, 0.2, 0.8, 1.0, 0.6, 0.5, 0.6, 0.5),
    "reference": (1.0, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0, 1.0),
}
"""Completion on eight boards, the third of which has no room."""


def compared(folder: Path, room: str | None, baseline: str | None = "silent") -> list[Table]:
    cells = []
    for arm, values in ARMS.items():
        for seed, completion in enumerate(values):
            name = f"{arm}-{seed}"
            digest = write_run(folder, outcome(completion == 1, completion), name=name, seed=seed, topology__note=arm)
            cells.append((name, digest, arm))
    write_plan(folder, cells, arms={arm: [] for arm in ARMS})
    question = Question(by=["arm"], metrics=["completion"], baseline=baseline, room=room)
    return tables(compare([read_results(folder)], question))


def test_the_share_is_of_the_means_over_all_boards(tmp_path: Path) -> None:
    """Gains of 0.5, 0, -0.2, 1, 0.5, 0.5, 0.4 and 0.5 of rooms of 1, 0.8, 0, 0.5, 0.9, 1, 0.8 and 1."""
    (found,) = [table for table in compared(tmp_path, "reference") if "share of the room" in table.title]
    ((level, boards, room, share),) = found.rows
    assert (level, boards) == ("talk", "8")
    assert room.startswith("0.750 [")
    assert share.startswith(f"{3.2 / 6:.2f} [")


def test_without_the_option_there_is_no_such_table(tmp_path: Path) -> None:
    assert not [table for table in compared(tmp_path, None) if "room" in table.title]


@pytest.mark.parametrize(
    ("room", "baseline", "message"),
    [
        ("referee", "silent", "--room referee: there is no such level"),
        ("reference", None, "--room reference: room needs another level as its baseline"),
        ("silent", "silent", "--room silent: room needs another level as its baseline"),
    ],
)
def test_a_level_that_there_is_not_is_refused(room: str, baseline: str | None, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        compared(tmp_path, room, baseline)
