"""The tables of the README and the guide are what their commands make."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.guide_tables import GuideTable, load, measure, put
from tests.conftest import ROOT

TABLES = load()
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_TABLE = re.compile(r"^(\|.*)\n\|[-|: ]+\|\n((?:\|.*\n)+)", re.MULTILINE)
_INTERVAL = re.compile(r"\d \[[+-]?\d")


def _words(text: str) -> str:
    return " ".join(text.split())


def test_every_table_with_intervals_is_measured_by_its_command() -> None:
    """Figures with an interval are results of runs: `guide_tables.yaml` says which."""
    known = {(table.page, table.header) for table in TABLES}
    for page in PAGES:
        for header, rows in _TABLE.findall(page.read_text(encoding="utf-8")):
            if _INTERVAL.search(rows):
                name = page.relative_to(ROOT).as_posix()
                assert any(name == other and header.startswith(begin) for other, begin in known), (name, header)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_the_commands_of_a_table_stand_on_its_page(table: GuideTable) -> None:
    """A page may leave out the name of the sweep."""
    text = _words("".join((ROOT / page).read_text(encoding="utf-8") for page in (table.page, table.files) if page))
    for command in table.run:
        shown = re.sub(r" --name \S+$", "", command)
        assert shown in text or (command.startswith("quorum reproduce ") and f"`{command.split()[-1]}`" in text), (
            command
        )


@pytest.mark.claims
@pytest.mark.parametrize("table", [table for table in TABLES if table.cheap], ids=lambda table: table.name)
def test_a_table_is_what_its_commands_make(table: GuideTable, tmp_path: Path) -> None:
    _, changed = put(table, measure(table, tmp_path))
    assert changed == []


def test_a_cell_that_has_drifted_is_found_and_a_row_that_is_not_there_is_an_error() -> None:
    table = next(table for table in TABLES if table.name == "Memory")
    rows = (ROOT / table.page).read_text(encoding="utf-8").split(table.header)[1].splitlines()[2:]
    cells = [cell.strip() for cell in rows[4].strip("|").split("|")][1:]
    assert put(table, {("4",): cells})[1] == []
    text, (change,) = put(table, {("4",): ["1 [1, 1]", *["-"] * (len(cells) - 1)]})
    assert "1 [1, 1]" in change
    assert f"| 4 | 1 [1, 1] | {' | '.join(cells[1:])} |" in text
    with pytest.raises(ValueError, match="there is no row"):
        put(table, {("9",): cells})
    with pytest.raises(ValueError, match="there is no row"):
        put(next(table for table in TABLES if table.rows == "levels"), {("nobody",): cells})
