"""`extension=heal`: its values are part of a cell's name, and wrong ones are refused before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from healers import HealConfig  # which registers the plug-in

from maeil.trace import comparable, read_trace
from quorum.configuration.cell import Cell
from quorum.configuration.schema import validate
from quorum.episode.runner import run_cell
from quorum_base.user_errors import UserError
from tests.composing import compose
from tests.conftest import EXAMPLES

CONFIGS = EXAMPLES / "configs"
NAIVE = ("agents=naive", "n=4", "seed=1", "topology=debate", "llm=heeding")


@pytest.fixture(scope="module")
def raw():
    return compose([*NAIVE, "extension=heal"], CONFIGS)


def test_healers_their_numbers_and_their_template_are_part_of_the_name_and_their_order_is_not(raw) -> None:
    def cell(*healers: str, **numbers: int) -> Cell:
        return Cell.of(
            {**raw, "extension": {"heal": {**raw["extension"]["heal"], "healers": list(healers), **numbers}}}
        )

    one = cell("orphan", "deadlock")
    assert one.hash == cell("deadlock", "orphan").hash
    assert len({one.hash, cell("orphan").hash, cell("orphan", "deadlock", depth=3).hash, Cell.of(raw).hash}) == 4
    assert "extension healers/healer.jinja" in one.inputs
    assert "extension healers/healer.jinja" not in Cell.compose(NAIVE, CONFIGS).inputs
    assert Cell.of(one.plain).hash == one.hash
    assert isinstance(one.configuration.extensions["heal"], HealConfig)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"healers": ["orphn"]}, "extension.heal.healers.0: 'orphn' is not allowed: it must be 'orphan', "),
        (
            {"healers": ["orphan", "orphan"]},
            "extension.heal.healers: ['orphan', 'orphan'] is not allowed: orphan is th",
        ),
        ({"healers": "orphan"}, "extension.heal.healers: 'orphan' is not a list"),
        ({"healers": []}, "extension.heal.healers: "),
        ({"dept": 1}, "extension.heal.dept: there is no such key"),
        ({"attempts": 0}, "extension.heal.attempts: 0 is not allowed"),
    ],
    ids=["unknown", "twice", "no list", "none", "key", "number"],
)
def test_a_wrong_value_is_reported_by_its_key(raw, changes, message: str) -> None:
    with pytest.raises(UserError) as error:
        validate({**raw, "extension": {"heal": {**raw["extension"]["heal"], **changes}}})
    assert error.value.message.startswith(message)


def test_a_run_with_healers_records_them_in_its_files_and_is_the_same_again(tmp_path: Path) -> None:
    cell = Cell.compose([*NAIVE, "extension=heal", "max_steps=60"], CONFIGS)
    one, other = (run_cell(cell, tmp_path / name) for name in "ab")
    assert comparable(one.folder) == comparable(other.folder)
    trace = read_trace(one.folder)
    assert any(stamped.event.kind == "heal_read" for stamped in trace.events)
    assert "heal:\n    healers:\n    - orphan\n" in (one.folder / "config.yaml").read_text(encoding="utf-8")
    calls = (one.folder / "calls.jsonl").read_text(encoding="utf-8")
    assert "A remark on how the team works together" in calls
