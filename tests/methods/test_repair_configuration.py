"""`extension=repair`: without it cells are as they were, and wrong values are refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import comparable
from quorum.configuration.cell import Cell
from quorum.configuration.schema import validate
from quorum.episode.parts import build
from quorum.episode.planned_cell import PlannedCell
from quorum.episode.runner import run_cell
from quorum_base.user_errors import UserError
from tests.composing import compose

NAIVE = ("agents=naive", "n=3", "max_steps=12")
REPAIR = (*NAIVE, "extension=repair")


def test_without_repairs_a_cell_has_the_name_that_it_had_before_there_were_any() -> None:
    raw = compose(NAIVE)
    assert "extension" not in validate(raw).to_json()
    assert Cell.of(raw).hash == Cell.compose([*NAIVE, "extension=[]"]).hash == Cell.of({**raw, "extension": {}}).hash


def test_every_value_of_a_repair_and_its_template_are_part_of_the_name() -> None:
    cells = [
        Cell.compose([*NAIVE, "extension=repair", *(f"extension.repair.{word}" for word in words)])
        for words in ((), ("predictor=exact",), ("cooldown=0",), ("guidance=false",))
    ]
    assert len({cell.hash for cell in cells}) == 4
    assert "extension repair/repair.jinja" in cells[0].inputs
    assert "extension repair/repair.jinja" not in Cell.compose(NAIVE).inputs
    assert PlannedCell.of(cells[1]).cell().hash == cells[1].hash


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        ((*NAIVE, "extension=repairs"), "extension: there is no option 'repairs'"),
        ((*NAIVE, "extension=[repair,repairs]"), "extension: there is no option 'repairs'"),
        ((*NAIVE, "extension.repair.predictor=exact"), "extension.repair.predictor: there is no such key"),
        ((*REPAIR, "extension.repair.guide=true"), "extension.repair.guide: there is no such key"),
        ((*REPAIR, "extension.repair.predictor=lucky"), "extension.repair.predictor: "),
        ((*REPAIR, "extension.repair.cooldown=-1"), "extension.repair.cooldown: "),
    ],
)
def test_a_wrong_value_is_reported_by_its_key(words: tuple[str, ...], reported: str) -> None:
    with pytest.raises(UserError) as error:
        Cell.compose(words)
    assert error.value.message.startswith(reported)


def test_a_world_without_rules_of_repair_is_refused_when_its_parts_are_built() -> None:
    cell = Cell.compose(["env=squeeze", "n=4", "agents=naive", "extension=repair"])
    with pytest.raises(UserError, match="extension=repair needs the skill 'repair'") as error:
        build(cell, lambda _: None)
    assert "worlds that have it: cube, crafter" in error.value.message


@pytest.mark.parametrize("mode", ["channel", "notice", "rules"])
def test_a_run_with_repairs_tells_them_in_its_files_and_is_the_same_again(mode: str, tmp_path: Path) -> None:
    words = ["agents=naive", "n=4", "seed=1", "max_steps=60", "extension=repair", "extension.repair.predictor=exact"]
    words += [f"extension.repair.mode={mode}"]
    one, other = (run_cell(Cell.compose(words), tmp_path / name) for name in "ab")
    assert comparable(one.folder) == comparable(other.folder)
    assert one.metrics["repair.repairs"] >= 1
    assert (one.metrics["repair.messages"] > 0) == (mode == "channel")
    assert (one.metrics["repair.thoughts"] > 0) == (mode != "rules")
    assert f"repair:\n    mode: {mode}" in (one.folder / "config.yaml").read_text(encoding="utf-8")
