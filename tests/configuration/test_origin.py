"""Origins: what they add to a cell and to its row, and how they are read from an untrusted file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from quorum.configuration.cell import Cell
from quorum.configuration.origin import CHANGE, DRAW, NO_CHANGE, PARENT, Origin, read_origin
from quorum.configuration.registry import origins
from quorum.runs.rows import Damaged, Row
from quorum.runs.run_folder import RunFolder
from quorum.what_if.branch.origin import BranchOrigin
from tests.folders import write_run

BRANCH = BranchOrigin("a-run", 5, None, "abc", ("n=3",), ("--say agent_0:b",), 2, luck=True)
HASH = "367cb80f173e39d14f8c6f1d43e9006ed55b1bb04c121eb41271c9e0d6b54ae5"


def test_the_hash_and_the_name_of_a_branch_stay_what_they_were() -> None:
    composed = Cell.compose(["n=2", "seed=3"])
    cell = Cell(composed.configuration, {}, BRANCH)
    assert cell.hash == HASH
    assert cell.name == f"cube-n2-heuristic-individual-s3-at5-{HASH[:8]}"


@pytest.mark.parametrize("origin", [BRANCH, replace(BRANCH, t_hat=5.5, copied=("agent_1",)), BRANCH.unchanged()])
def test_an_origin_is_read_as_it_was_written(origin: BranchOrigin) -> None:
    assert read_origin(orjson.loads(orjson.dumps(origin.to_json()))) == origin
    assert {PARENT, CHANGE, DRAW} <= origin.factors.keys()


def test_the_unchanged_origin_shares_the_beginning_and_nothing_of_the_change() -> None:
    unchanged = BRANCH.unchanged()
    assert unchanged.beginning == BRANCH.beginning
    assert (unchanged.factors[CHANGE], unchanged.factors[DRAW]) == (NO_CHANGE, 0)


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ("a branch", "should be an object"),
        ({"kind": "elsewhere"}, "no origin is called 'elsewhere'"),
        ({**BRANCH.to_json(), "t": "5"}, "t: "),
        ({**BRANCH.to_json(), "draw": -1}, "draw: "),
        ({"run": "a-run"}, "Field required"),
    ],
)
def test_what_is_no_origin_is_refused(plain: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_origin(plain)


class Elsewhere(Origin):
    """An origin of a kind that a plug-in adds."""

    identity: Mapping[str, Any] = {"place": "elsewhere"}
    label = "elsewhere"
    factors: Mapping[str, Any] = {PARENT: "a-run", CHANGE: "place", DRAW: 0}
    beginning = ("a-run",)

    def unchanged(self) -> Origin:
        return self

    def to_json(self) -> dict[str, Any]:
        return {"kind": "elsewhere"}

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Origin:
        return cls()


def test_another_kind_of_origin_names_its_cell_and_gives_its_row_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(origins, "_registered", {})
    origins.register("elsewhere", Elsewhere)
    composed = Cell.compose(["n=2"])
    cell = Cell(composed.configuration, {}, Elsewhere())
    assert cell.hash != Cell(composed.configuration, {}).hash
    assert "-elsewhere-" in cell.name
    write_run(
        tmp_path, {"outcome.steps": 1}, name="run", meta={"branch": cell.origin.to_json() if cell.origin else None}
    )
    row = RunFolder(tmp_path / "run").row()
    assert isinstance(row, Row)
    assert isinstance(row.origin, Elsewhere)
    assert row.factors[CHANGE] == "place"


def test_a_run_with_an_origin_of_an_unknown_kind_is_damaged_and_says_why(tmp_path: Path) -> None:
    write_run(tmp_path, {}, name="run", meta={"branch": {"kind": "elsewhere"}})
    damaged = RunFolder(tmp_path / "run").row()
    assert isinstance(damaged, Damaged)
    assert "no origin is called 'elsewhere'" in damaged.reason
