"""Cells of a plan are what each configuration is by itself, though what a kind shares is checked once."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorum.configuration.cell import Cell
from quorum.configuration.kinds import Kinds
from quorum.episode.planned_cell import PlannedCell
from quorum_base.user_errors import UserError
from tests.composing import compose

RAWS = [compose(words) for words in ([], ["agents=naive", "topology=debate"], ["env=transport", "n=2"])]
LOOKALIKES = st.sampled_from([0, 1, 0.0, 1.0, -1, True, False, "1", None, float("nan"), 2**63 - 1, 2**63, 2**70, [1]])
"""Values that are equal in Python, or as JSON, and not as values of a configuration."""
KEYS = st.sampled_from(["seed", "episode", "draw", "n", "max_steps", "max_repairs"])


def outcome(make: Any, raw: Any) -> object:
    """Return the cell of a configuration and the form in which a plan keeps it, or the message that refuses it."""
    try:
        cell = make(raw)
    except UserError as error:
        return str(error), error.hint
    return cell.hash, cell.name, cell.kind, cell.plain, repr(cell.configuration), PlannedCell.of(cell)


@given(
    st.lists(st.tuples(st.sampled_from(range(len(RAWS))), st.dictionaries(KEYS, LOOKALIKES, max_size=3)), max_size=8)
)
def test_a_cell_is_the_same_whether_or_not_others_of_its_kind_came_before(points: list[tuple[int, Any]]) -> None:
    kinds = Kinds(lambda _: None)
    for raw, changes in ((RAWS[place], changes) for place, changes in points):
        assert outcome(kinds.cell, {**raw, **changes}) == outcome(Cell.of, {**raw, **changes})


def test_each_kind_is_looked_at_once_and_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Cell] = []
    kinds = Kinds(seen.append)
    first = kinds.cell(RAWS[0])
    monkeypatch.setattr("quorum.configuration.cell.validate", None)
    assert [kinds.cell({**RAWS[0], "seed": seed}).seed for seed in range(3)] == [0, 1, 2]
    assert seen == [first]


def test_a_kind_that_was_forgotten_is_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quorum.configuration.kinds._MOST_KINDS", 1)
    kinds = Kinds(lambda _: None)
    names = [kinds.cell(raw).name for raw in (*RAWS, *RAWS)]
    assert names[:3] == names[3:] == [Cell.of(raw).name for raw in RAWS]
