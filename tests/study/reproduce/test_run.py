"""Several sweeps of one figure: one budget, and only the runs that the command planned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from quorum.agents.llm.spending import Spent
from quorum.runs import read_results
from quorum.study.reproduce import run
from quorum.study.reproduce.figure_file import PublishedFigure
from quorum.sweeps.run import SweepRequest
from quorum.sweeps.stopping import Stop
from tests.folders import outcome, write_plan, write_run

FIGURE = PublishedFigure.model_validate(
    {"paper": "P", "figure": "1", "shows": "s", "margins": {}, "because": "none", "parts": [
        {"experiment": "one", "words": ["llm=simulated_faults", "max_steps=9"]}, {"experiment": "two"},
    ]}
)  # fmt: skip


class Swept:
    """What a sweep came to, as far as it matters."""

    def __init__(self, usd: float, stop: Stop | None = None) -> None:
        self.used, self.stop = Spent(usd=usd), stop


def test_words_of_the_command_take_the_place_of_those_of_the_figure() -> None:
    first, second = run.requests(FIGURE, SweepRequest(("llm=openai", "n=2"), Path("runs/name")))
    assert first["here"].words == ("experiment=one", "max_steps=9", "llm=openai", "n=2")
    assert second["here"].words == ("experiment=two", "llm=openai", "n=2")
    assert first["here"].folder("else").path == Path("runs/name/one").absolute()


def test_floors_play_without_the_model_of_the_command_and_without_a_budget() -> None:
    words = ("llm=openai", "llm.model=m", "n=2", "+llm.seed=1")
    (first, _) = run.requests(FIGURE, SweepRequest(words, Path("runs/name"), budget_usd=1.0))
    assert [*first] == ["here", "chance", "echo"]
    for floor in ("chance", "echo"):
        assert first[floor].words == ("max_steps=9", "n=2")
        assert not first[floor].budget.any
        assert first[floor].folder("else").path == Path(f"runs/name/one-{floor}").absolute()


@pytest.mark.parametrize(("spent", "budgets"), [(1.5, [4.0, 2.5]), (4.0, [4.0])])
def test_the_budget_is_for_all_sweeps_of_a_figure(spent, budgets, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(run, "run_sweep_command", lambda own, quiet: asked.append(own) or Swept(spent))
    monkeypatch.setattr(run, "_answer", lambda *_: None)
    answers = list(run.answers(FIGURE, SweepRequest((), budget_usd=4.0), quiet=True))
    assert [own.budget_usd for own in asked if "-" not in str(own.name)] == budgets
    assert len(answers) == len(budgets)


def test_a_sweep_that_its_user_stops_ends_the_figure_without_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "run_sweep_command", lambda own, quiet: Swept(0, Stop.INTERRUPTED))
    (answer,) = run.answers(FIGURE, SweepRequest(()), quiet=True)
    assert answer.points == ()
    assert answer.sweeps["here"].stop is Stop.INTERRUPTED
    assert [*answer.sweeps] == ["here"]


def test_only_the_runs_that_the_last_command_planned_count(tmp_path: Path) -> None:
    cells = [(f"run-{n}", write_run(tmp_path, outcome(), name=f"run-{n}", n=n), "a") for n in (2, 4, 8)]
    write_plan(tmp_path, cells)
    assert [row.name for row in run._planned(read_results(tmp_path), 2).rows] == ["run-2", "run-4"]
