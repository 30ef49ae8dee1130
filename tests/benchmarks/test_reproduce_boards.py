"""Verdicts of reproduced figures by the number of boards: what counts as a change, and the table of the guide."""

from __future__ import annotations

import csv

import pytest

from benchmarks.reproduce_boards import FILE, SIZES, changes, markdown
from quorum.study.reproduce.figure_file import figure_names
from quorum.study.reproduce.verdicts import Verdict
from tests.conftest import ROOT

ROWS = list(csv.DictReader(FILE.read_text("utf-8").splitlines()))


@pytest.mark.parametrize(
    ("before", "now", "found"),
    [
        (["differs"], "agrees", ["differs to agrees"]),
        (["differs", "undecided"], "agrees", ["differs to agrees", "undecided to decided"]),
        (["undecided"], "differs", ["undecided to decided"]),
        (["agrees"], "undecided", ["decided to undecided"]),
        (["agrees"], "differs", []),
        (["not comparable"], "agrees", []),
        ([], "agrees", []),
    ],
)
def test_a_change_is_one_since_smaller_sizes(before: list[str], now: str, found: list[str]) -> None:
    assert changes(before, now) == found


def test_every_figure_has_a_row_of_each_team_at_each_size() -> None:
    assert {row["figure"] for row in ROWS} == {*figure_names()}
    cases = {(row["figure"], row["comparison"]) for row in ROWS}
    found = {(row["figure"], row["comparison"], row["team"], int(row["boards"])) for row in ROWS}
    assert found == {(*case, team, size) for case in cases for team in ("here", "chance", "echo") for size in SIZES}


def test_no_point_of_any_team_differed_and_then_agreed() -> None:
    assert {row["differs to agrees"] for row in ROWS} == {"0"}


def test_the_guide_shows_the_file_and_its_sentences_are_true() -> None:
    page = (ROOT / "docs" / "reproduce.md").read_text("utf-8")
    assert markdown(FILE) in page
    words = " ".join(page.split())

    def agreeing(figure: str, comparison: str) -> list[str]:
        return [
            row[Verdict.AGREES]
            for row in ROWS
            if (row["figure"], row["comparison"], row["boards"]) == (figure, comparison, "20")
        ]

    orders = "{} agree for the simulated model, {} for random answers and {} for copies of the example"
    assert orders.format(*agreeing("emcoop-rq1", "GPT-5.2 and DeepSeek-V3.2")) in words
    here, chance, echo = agreeing("emcoop-rq2", "GPT-5.2 and DeepSeek-V3.2")
    assert chance == echo
    assert f"{here} of 6 points agree for the simulated model, and {chance} each for random answers" in words
    again = sum(int(row["decided to undecided"]) for row in ROWS if row["team"] == "here")
    assert again == 5
    assert "Five of the simulated model became undecided again" in words
