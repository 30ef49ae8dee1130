"""The group `repair`: off leaves cells as they were, and what cannot be repaired is told before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import comparable, read_trace
from maeil.user_errors import UserError
from quorum.experiments.configuration.cell import Cell, PlannedCell
from quorum.experiments.configuration.compose import compose
from quorum.experiments.configuration.schema import validate
from quorum.experiments.episode.parts import build
from quorum.experiments.episode.runner import run_cell

NAIVE = ("agents=naive", "n=3", "max_steps=12")


def test_without_repairs_a_cell_has_the_name_that_it_had_before_there_were_any() -> None:
    raw = compose(NAIVE)
    before = {key: value for key, value in raw.items() if key != "repair"}
    assert raw["repair"] == {"name": "off"}
    assert "repair" not in validate(raw).plain()
    assert Cell.of(before).hash == Cell.of(raw).hash == Cell.compose([*NAIVE, "repair=off"]).hash


def test_every_value_of_a_repair_and_its_template_are_part_of_the_name() -> None:
    cells = [
        Cell.compose([*NAIVE, "repair=channel", *words])
        for words in ((), ("repair.predictor=exact",), ("repair.cooldown=0",), ("repair.guidance=false",))
    ]
    assert len({cell.hash for cell in cells}) == 4
    assert "prompts/common/repair.jinja" in cells[0].inputs
    assert "prompts/common/repair.jinja" not in Cell.compose(NAIVE).inputs
    assert PlannedCell.of(cells[1]).cell().hash == cells[1].hash


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("agents=heuristic", "repair=channel"),
            "repair=channel: agents=heuristic has no turns in which plans are repaired",
        ),
        ((*NAIVE, "repair=chanel"), "repair: there is no option 'chanel'"),
        ((*NAIVE, "repair.predictor=exact"), "repair.predictor: there is no such key"),
        ((*NAIVE, "repair=notice", "repair.guidance=true"), "repair.guidance: there is no such key"),
        ((*NAIVE, "repair=channel", "repair.predictor=lucky"), "repair.predictor: "),
        ((*NAIVE, "repair=channel", "repair.cooldown=-1"), "repair.cooldown: "),
    ],
)
def test_a_wrong_value_is_told_by_its_key(words: tuple[str, ...], told: str) -> None:
    with pytest.raises(UserError) as error:
        Cell.compose(words)
    assert error.value.message.startswith(told)


def test_a_world_without_rules_of_repair_is_refused_when_its_parts_are_built() -> None:
    cell = Cell.compose(["env=squeeze", "n=4", "agents=naive", "repair=channel"])
    with pytest.raises(UserError, match="repair=channel: the world 'squeeze' has no skill 'repair'") as error:
        build(cell, lambda _: None)
    assert "worlds that have it: cube, crafter, transport; or set repair=off." in error.value.hint


@pytest.mark.parametrize("mode", ["channel", "notice", "rules"])
def test_a_run_with_repairs_tells_them_in_its_files_and_is_the_same_again(mode: str, tmp_path: Path) -> None:
    words = ["agents=naive", "n=4", "seed=1", "max_steps=60", f"repair={mode}", "repair.predictor=exact"]
    one, other = (run_cell(Cell.compose(words), tmp_path / name) for name in "ab")
    assert comparable(one.folder) == comparable(other.folder)
    assert read_trace(one.folder).start.schema == 2
    assert one.metrics["repair.repairs"] >= 1
    assert (one.metrics["repair.messages"] > 0) == (mode == "channel")
    assert (one.metrics["repair.thoughts"] > 0) == (mode != "rules")
    assert f"repair:\n  name: {mode}" in (one.folder / "config.yaml").read_text(encoding="utf-8")
