"""Teams of several minds can be compared: by their label, which every run has."""

from __future__ import annotations

from pathlib import Path

import pytest

from quorum.comparison.design import find_design
from quorum.comparison.factors import first_that_varies, label_of, resolve, value_of
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.results_folder import as_csv, read_results
from quorum.runs.rows import Row

WORDS = ["agents=heuristic", "n=2", "max_steps=3"]
MIXED = "agents.members.agent_0=always_right"


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Row, ...]:
    """Two boards, each of a team of one mind and of a team of two."""
    out = tmp_path_factory.mktemp("teams")
    for seed in range(2):
        for words in ([], [MIXED]):
            run_cell(Cell.compose([*WORDS, f"seed={seed}", *words]), out)
    return read_results(out).rows


def test_every_run_has_a_label_of_its_team(rows: tuple[Row, ...]) -> None:
    assert resolve("members", rows, "--by") == "members"
    assert {label_of(row, ["members"]) for row in rows} == {"heuristic", "heuristic+always_right@0"}
    assert {value_of(row, "agents.name") for row in rows} == {"heuristic"}


def test_teams_are_what_a_comparison_is_by_when_nothing_else_is_said(rows: tuple[Row, ...]) -> None:
    assert first_that_varies(rows) == "members"
    alike = [row for row in rows if "members" not in row.factors]
    assert first_that_varies(alike) == "topology.name"


def test_a_comparison_is_by_another_key_if_it_alone_varies_on_a_board(tmp_path: Path) -> None:
    for seed in range(2):
        for limit in (3, 4):
            words = ["agents=heuristic", f"n={2 + seed}", f"seed={seed}", f"max_steps={limit}"]
            run_cell(Cell.compose(words), tmp_path)
    rows = read_results(tmp_path).rows
    assert first_that_varies(rows) == "max_steps"
    short = [row for row in rows if row.factors["max_steps"] == 3]
    assert first_that_varies(short) == "topology.name"  # boards and their sizes vary, but nothing on a board


@pytest.mark.parametrize("by", ["members", "agents.members.agent_0.name"])
def test_the_values_of_minds_are_a_part_of_what_is_compared(rows: tuple[Row, ...], by: str) -> None:
    levels = [label_of(row, [by]) for row in rows]
    design = find_design(rows, levels, [by], None)
    assert (design.crossed, design.pooled_over, design.confounded) == ({}, {}, {})


def test_the_table_of_results_has_a_column_for_it_where_there_are_such_teams(
    rows: tuple[Row, ...], tmp_path: Path
) -> None:
    header = as_csv(read_results(rows[0].folder.parent)).partition("\n")[0].split(",")
    assert {"members", "agents.members.agent_0.name"} <= set(header)
    run_cell(Cell.compose(WORDS), tmp_path)
    assert "members" not in as_csv(read_results(tmp_path)).partition("\n")[0].split(",")
