"""What a command is expected to cost before anything is asked, against what a server that counts has served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.sweeps.command import run_sweep_command, show_plan
from quorum.sweeps.run import SweepRequest
from quorum.what_if.blame.answer import Question
from quorum.what_if.blame.attempts import Budget
from quorum.what_if.blame.command import estimate_folder
from quorum.what_if.blame.ending import Success
from quorum.what_if.blame.search import blame
from quorum.what_if.branch.branches import BranchGrid
from tests.episode.till import PRICES, Till
from tests.serving import served

BRAIN = SimulatedModel(SimulatedSettings(**dict.fromkeys(SimulatedSettings.model_fields, 0)))
Paid = tuple[Till, tuple[str, ...]]


@pytest.fixture
def paid() -> Iterator[Paid]:
    """A server that counts, and the words of its model."""
    till = Till(BRAIN)
    with served(till) as addresses:
        model = ("llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null")
        yield till, (*model, PRICES, "llm.cache=false")


def near(till: Till, answers: float, tokens: float, usd: float | None) -> None:
    assert answers == pytest.approx(till.answers, rel=0.2)
    assert tokens == pytest.approx(till.prompt + till.completion, rel=0.2)
    assert usd == pytest.approx(till.usd, rel=0.2)


def first(paid: Paid, out: Path, *words: str) -> Path:
    till, model = paid
    run = run_cell(Cell.compose(["agents=naive", *words, *model]), out).folder
    till.answers = till.prompt = till.completion = 0
    return run


def test_a_branch(paid: Paid, tmp_path: Path) -> None:
    till, _ = paid
    run = first(paid, tmp_path / "runs", "n=3", "topology=debate", "max_steps=40", "seed=1")
    request = SweepRequest((), tmp_path, "s", planner=BranchGrid((run,), ("3", "8"), draws=2), budget_calls=10**6)
    expected = show_plan(request)
    assert till.answers == 0
    run_sweep_command(request, quiet=True)
    near(till, expected.answers, expected.tokens, expected.usd)


@pytest.mark.parametrize("by", ["heuristic", "self"])
def test_a_search_for_blame(by: str, paid: Paid, tmp_path: Path) -> None:
    till, _ = paid
    run = first(paid, tmp_path / "runs", "env=squeeze", "n=3", "max_steps=4")
    asked = Question((by,), Success.parse("score>=999"), Budget(2000), draws=2)
    expected = estimate_folder(run, asked)
    assert till.answers == 0
    assert sorted(file.name for file in run.parent.iterdir()) == [run.name]
    assert not (run / "blame.jsonl").exists()
    found = blame(run, replace(asked, budget=Budget(calls=10_000)))
    assert (found.calls, found.reruns) == (till.answers, expected["reruns"])
    near(till, expected["answers"], expected["tokens"], expected["usd"])
