"""Cross-play is drawn as a matrix where each mind plays with each, and not where some pair is missing."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from quorum.comparison import Question, compare
from quorum.comparison.figures import FIGURES, Drawing, style
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs import read_results

MINDS = ("always_right", "heuristic")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each of two minds with each, on one board."""
    out = tmp_path_factory.mktemp("crossplay")
    for own in MINDS:
        for other in MINDS:
            words = [f"agents={own}", f"agents.members.agent_1={other}", "n=2", "max_steps=30", "seed=2"]
            run_cell(Cell.compose([*words, "env.side=8", "env.blocks={1: 2}"]), out)
    return out


def drawn(folder: Path, question: Question) -> Sequence[Drawing]:
    with style.styled():
        return list(FIGURES["crossplay"](compare([read_results(folder)], question)))


def test_a_row_is_the_mind_of_the_team_and_a_column_that_of_its_other_members(runs: Path) -> None:
    (drawing,) = drawn(runs, Question(by=("members",), metrics=("outcome.steps_or_limit",)))
    axes = drawing.figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == list(MINDS)
    assert [label.get_text() for label in axes.get_xticklabels()] == list(MINDS)
    cells = {text.get_position(): text.get_text() for text in axes.texts}
    assert len(cells) == 4
    for row, own in enumerate(MINDS):
        for column, other in enumerate(MINDS):
            label = own if own == other else f"{own}+{other}@1"
            (run,) = [r for r in read_results(runs).rows if r.factors.get("members", r.factors["agents.name"]) == label]
            assert cells[column, row] == f"{run.metrics['outcome.steps_or_limit']:.3g}", label
    assert len(set(cells.values())) > 1, "a matrix of one value shows nothing"


def test_a_missing_pair_draws_nothing(runs: Path, tmp_path: Path) -> None:
    for folder in runs.iterdir():
        if "heuristic+always_right" not in folder.name:
            shutil.copytree(folder, tmp_path / folder.name)
    assert not drawn(tmp_path, Question(by=("members",)))
