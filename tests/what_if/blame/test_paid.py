"""Models that are paid for: nothing is asked twice, nothing beyond the budget, and draws say how sure a verdict is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from maeil.trace import Instant
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.finished import read_spent
from quorum.runs.run_folder import RunFolder
from quorum.runs.verify import verify_run
from quorum.what_if.blame.answer import Question
from quorum.what_if.blame.attempts import Budget
from quorum.what_if.blame.command import ManyRuns, blame_folder
from quorum.what_if.blame.decisions import decisions_of
from quorum.what_if.blame.ending import Success, ending_of
from quorum.what_if.blame.reference import Reference
from quorum.what_if.blame.reruns import Correction, Reruns
from quorum.what_if.blame.search import blame
from quorum.what_if.branch.parent import Parent
from quorum_base.user_errors import UserError
from tests.serving import served
from tests.what_if.branch.test_identity import Counting

STEPS = 3
AGENTS = 3


@pytest.fixture
def paid(tmp_path: Path) -> Iterator[tuple[Path, Counting]]:
    """A run whose minds have asked a server that counts, which goes on to serve."""
    brain = Counting()
    with served(brain) as addresses:
        model = ["llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null"]
        words = ["env=squeeze", f"n={AGENTS}", f"max_steps={STEPS}", "agents=naive", "llm.cache=false"]
        run = run_cell(Cell.compose([*words, *model]), tmp_path / "runs").folder
        assert brain.requests == STEPS * AGENTS
        brain.requests = 0
        yield run, brain


def question(by: str = "heuristic", **values: object) -> Question:
    return Question(**{"by": (by,), "success": Success.parse("score>=999"), "shares": False, **values})


def test_without_a_budget_nothing_is_asked(paid: tuple[Path, Counting]) -> None:
    run, brain = paid
    with pytest.raises(UserError, match=r"paid language models(.|\n)*--budget-calls"):
        blame(run, question())
    assert brain.requests == 0


def test_to_play_the_run_again_and_ask_a_mind_without_a_model_costs_nothing(paid: tuple[Path, Counting]) -> None:
    run, brain = paid
    found = decisions_of(Reference.of(Parent.open(run), ("heuristic",)))
    assert len(found.every) == STEPS * AGENTS
    assert brain.requests == 0


def test_what_reaches_the_server_is_within_the_budget_and_is_what_is_reported(paid: tuple[Path, Counting]) -> None:
    run, brain = paid
    found = blame(run, question(budget=Budget(calls=20), shares=True))
    assert found.calls == brain.requests <= 20
    assert found.calls > 0
    assert not found.exact
    reported = [note for note in found.notes if "calls are used" in note]
    assert reported


def test_a_rerun_is_a_run_beside_it_and_is_not_paid_for_twice(paid: tuple[Path, Counting]) -> None:
    run, brain = paid
    first = blame(run, question(budget=Budget(calls=60)))
    asked = brain.requests
    kept = sorted((run.parent / f"{run.name}.blame").iterdir())
    assert len(kept) == first.reruns > 0
    for folder in kept:
        assert verify_run(folder).problems == []
    assert blame(run, question(budget=Budget(calls=60))) == first
    (run / "blame.jsonl").unlink()  # the folders alone are enough
    assert blame(run, question(budget=Budget(calls=60))).verdict == first.verdict
    assert brain.requests == asked


def test_a_killed_rerun_gets_back_what_it_has_paid_for_and_that_counts_once(paid: tuple[Path, Counting]) -> None:
    run, brain = paid
    first = blame(run, question(budget=Budget(calls=1000), shares=True))
    kept = sorted((run.parent / f"{run.name}.blame").iterdir())
    dropped = max(kept, key=lambda folder: read_spent(folder).answers)
    for name in ("meta.json", "metrics.json"):
        (dropped / name).unlink()
    dropped.rename(f"{dropped}.partial-0")
    journal = run / "blame.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(line for line in lines if dropped.name.encode() not in line))
    assert brain.requests == first.calls
    calls = Path(f"{dropped}.partial-0") / "calls.jsonl"
    calls.write_bytes(b"".join(calls.read_bytes().splitlines(keepends=True)[:-1]))  # killed before its last answer
    again = blame(run, question(budget=Budget(calls=1000), shares=True))
    assert (again.calls, brain.requests) == (first.calls, first.calls + 1)
    assert not calls.parent.exists()  # the re-run has all its answers


def test_coalitions_that_are_one_episode_are_paid_for_once(paid: tuple[Path, Counting]) -> None:
    run, brain = paid
    found = blame(run, question("self", budget=Budget(calls=80), shares=True))
    assert (found.calls, found.reruns) == (brain.requests, 1)


@pytest.mark.parametrize("method", ["search", "reader:step_by_step"])
def test_the_runs_of_a_folder_have_one_budget(method: str, paid: tuple[Path, Counting]) -> None:
    run, brain = paid
    shutil.copytree(run, run.with_name(f"{run.name}.2"))
    address = RunFolder(run).configuration()["llm"]["base_url"]
    model = ("llm=openai", "llm.model=simulated", f"llm.base_url={address}", "llm.api_key_env=null", "llm.cache=false")
    by = ("self",) if method == "search" else model
    asked = question(budget=Budget(calls=5), method=method)
    found = blame_folder(run.parent, replace(asked, by=by))
    # a shadow takes half of what is left: of five, then of three
    assert brain.requests == (3 if method == "search" else 5)
    assert isinstance(found, ManyRuns)
    assert len(found.found) + len(found.refused) == 2
    assert sum(one.calls for one in found.found) == brain.requests


def test_a_shadow_is_asked_once_a_turn_and_takes_no_more_than_half_of_the_budget(paid: tuple[Path, Counting]) -> None:
    run, brain = paid
    found = blame(run, question("self", budget=Budget(calls=10)))
    assert brain.requests == found.calls == 5
    assert any("before self had decided all turns" in note for note in found.notes)
    whole = STEPS * AGENTS
    more = blame(run, question("self", budget=Budget(calls=14)))  # the five answers are given back, and count
    assert more.calls == brain.requests == 7
    for _ in range(2):
        # the shadow has its answers, and the half that it may not touch plays the run with the reference in charge
        assert blame(run, question("self", budget=Budget(calls=2 * whole))).calls == brain.requests == 2 * whole
    (run / "blame.jsonl").unlink()  # the folders alone are enough
    assert blame(run, question("self", budget=Budget(calls=2 * whole))).calls == brain.requests == 2 * whole


def test_a_correction_is_judged_by_its_draws(paid: tuple[Path, Counting]) -> None:
    run, _ = paid
    reference = Reference.of(Parent.open(run), ("heuristic",))
    reruns = Reruns(reference, run.parent / f"{run.name}.blame")
    best = max(reruns.play(Correction(Instant(0), (name,))).score for name in reference.players)
    assert best > ending_of(Parent.open(run).episode.trace).score
    success = Success.parse(f"score>={best - 0.001:.6f}")
    found = blame(run, question(success=success, budget=Budget(calls=400), draws=3))
    causes = found.verdict.causes
    assert causes, found.notes
    best = max(causes, key=lambda cause: cause.corrected.wins)
    assert (best.corrected.draws, best.placebo.draws) == (5, 4)
    assert best.command.endswith("--draws 3 --no-control")
    assert best.to_json()["corrected"] == {"wins": best.corrected.wins, "draws": 5}
    assert not found.exact
    assert "exact" not in str(found)
