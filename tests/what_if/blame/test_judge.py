"""Blame without re-runs, by rules and by readers, and the verdict on a run with a scripted mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.what_if.blame.answer import Blame, Question
from quorum.what_if.blame.attempts import Budget
from quorum.what_if.blame.command import METHODS, blame_folder
from quorum_base.user_errors import UserError
from tests.branching import plan_branch

SCRIPT = 'agent_1:[{"action": "wait", "steps": 400}]'


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A branch in which a scripted plan of one agent makes the team miss its step limit."""
    out = tmp_path_factory.mktemp("runs")
    clean = run_cell(Cell.compose(["env=transport", "n=4", "seed=3", "max_steps=60"]), out)
    steps = int(clean.metrics["outcome.steps"] or 0)
    run = run_cell(Cell.compose(["env=transport", "n=4", "seed=3", f"max_steps={steps}"]), out).folder
    planned = plan_branch(run, "0", plans=[SCRIPT])
    return run_cell(planned.cell, out, start=planned.start).folder


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_verdict_on_a_failed_run(method: str, failed: Path) -> None:
    by = ("self",) if method == "search" else ()
    found = blame_folder(failed, Question(by, method=method, shares=False))
    assert isinstance(found, Blame)
    assert found.failed
    assert found.to_json()["verdict"]["method"] == method
    assert "\nverdict: " in str(found)


def test_the_search_finds_the_scripted_mistake(failed: Path) -> None:
    found = blame_folder(failed, Question(("self",), shares=False))
    assert isinstance(found, Blame)
    assert (found.verdict.agent, found.verdict.t) == ("agent_1", 0)


def test_a_paid_reader_needs_a_budget_and_an_unknown_method_is_named(failed: Path) -> None:
    paid = ("llm=openai", "llm.model=gpt-5")
    with pytest.raises(UserError, match=r"paid language model(.|\n)*--budget-calls"):
        blame_folder(failed, Question(paid, method="reader:bisection", budget=Budget()))
    with pytest.raises(UserError, match=r"--method readers: there is no such method"):
        blame_folder(failed, Question(method="readers"))
