"""`heal`: without healers cells are as they were, and what cannot be healed is told before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.dig.patterns import Pattern
from maeil.trace import comparable, read_trace
from maeil.user_errors import UserError
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.compose import compose
from quorum.experiments.configuration.schema import validate
from quorum.experiments.episode.runner import run_cell

NAIVE = ("agents=naive", "n=4", "seed=1", "topology=debate", "llm=simulated_faults")
ALL = f"heal=[{','.join(Pattern)}]"


@pytest.fixture(scope="module")
def raw():
    return compose(NAIVE)


def test_without_healers_a_cell_has_the_name_that_it_had_before_there_were_any(raw) -> None:
    before = {key: value for key, value in raw.items() if key not in ("heal", "healing")}
    assert raw["heal"] == []
    assert not {"heal", "healing"} & validate(raw).plain().keys()
    other = {**raw, "healing": {**raw["healing"], "depth": 3}}
    assert Cell.of(before).hash == Cell.of(raw).hash == Cell.of(other).hash


def test_healers_their_numbers_and_their_template_are_part_of_the_name_and_their_order_is_not(raw) -> None:
    def cell(*healers: str, **numbers: int) -> Cell:
        return Cell.of({**raw, "heal": list(healers), "healing": {**raw["healing"], **numbers}})

    one = cell("orphan", "deadlock")
    assert one.hash == cell("deadlock", "orphan").hash
    assert len({one.hash, cell("orphan").hash, cell("orphan", "deadlock", depth=3).hash, Cell.of(raw).hash}) == 4
    assert "prompts/common/healer.jinja" in one.inputs
    assert "prompts/common/healer.jinja" not in Cell.of(raw).inputs
    assert Cell.of(one.plain).hash == one.hash


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"heal": ["orphn"]}, "heal.0: 'orphn' is not allowed: it must be 'orphan', "),
        ({"heal": ["orphan", "orphan"]}, "heal: ['orphan', 'orphan'] is not allowed: orphan is there twice"),
        ({"heal": "orphan"}, "heal: 'orphan' is not a list"),
        ({"healing": {"dept": 1}}, "healing.dept: there is no such key"),
        ({"heal": ["orphan"], "healing": {"attempts": 0}}, "healing.attempts: 0 is not allowed"),
    ],
    ids=["stranger", "twice", "no list", "key", "number"],
)
def test_a_wrong_value_is_told_by_its_key(raw, changes, told: str) -> None:
    healing = {**raw["healing"], **changes.get("healing", {})}
    with pytest.raises(UserError) as error:
        validate({**raw, **changes, "healing": healing})
    assert error.value.message.startswith(told)


def test_minds_that_take_no_heed_are_refused() -> None:
    with pytest.raises(UserError, match="heal: agents=heuristic takes no heed of healers") as error:
        validate(compose(["heal=[orphan]"]))
    assert "agents=naive" in error.value.hint


def test_a_run_with_healers_tells_them_in_its_files_and_is_the_same_again(tmp_path: Path) -> None:
    cell = Cell.compose([*NAIVE, ALL, "max_steps=60"])
    one, other = (run_cell(cell, tmp_path / name) for name in "ab")
    assert comparable(one.folder) == comparable(other.folder)
    trace = read_trace(one.folder)
    assert trace.start.schema == 2
    assert any(stamped.event.kind == "heal_read" for stamped in trace.events)
    assert "heal:\n- orphan\n" in (one.folder / "config.yaml").read_text(encoding="utf-8")
    calls = (one.folder / "calls.jsonl").read_text(encoding="utf-8")
    assert "A remark on how the team works together" in calls
