"""Labelled failures: one planted decision makes a run fail for good, and nothing but that decision is changed."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from math import inf
from pathlib import Path
from typing import Any

import pytest

from benchmarks.attribution import cases
from benchmarks.attribution.cases import HALVES, Case, fails_for_good, kinds_of, make_cases, read_candidates, read_cases
from benchmarks.attribution.faultless import KINDS as KINDS_WITHOUT
from benchmarks.attribution.faultless import make_faultless
from benchmarks.attribution.faulty import Fault, FaultyMind, Moment
from maeil import Act, Outcome, Plan, Thought, Turn, View
from maeil.trace import Stamped
from maeil.trace.events import EpisodeEnd, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build
from quorum.episode.runner import run_cell
from quorum.runs.run_folder import read_whole_trace
from quorum.what_if.blame.ending import Success, ending_of
from quorum.what_if.branch.parent import Parent
from tests.conftest import ROOT
from tests.test_imports import modules

KINDS = [(half, kind) for half in HALVES for kind in kinds_of(half)[:2]]
"""Those of which the usual tests make a case each, which takes seconds; `make claims` makes two of every kind."""
PRODUCT = ("quorum_harness.py", "quorum_base", "maeil", "quorum")
WORLDS = ("cube_env", "crafter_env", "lbf_env", "llamac_env", "overcooked_env", "pettingzoo_env")


FEW = ("n=2 ", "agents=crew")
"""What is in the names of the boards of the usual tests: the others take seconds to compose."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    """Make a case of each of `KINDS`."""
    folder, found = tmp_path_factory.mktemp("cases"), dict[str, Case]()
    for half in HALVES:
        source = import_module(HALVES[half])
        few = [words for words in source.BOARDS if any(part in words for part in FEW)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(source, "BOARDS", few)
            found |= {case.kind: case for case in make_cases(folder / half, half, 2)}
    return found


def happened(events: list[Stamped]) -> list[dict[str, Any]]:
    """Return what happened, without what a clock on the wall says."""
    plain = [stamped.to_json() for stamped in events]
    for event in plain:
        event.pop("wall")
        for timed in (event, *event.get("calls", ())):
            timed.pop("seconds", None)
        event.pop("board", None)  # which holds the limit
    return plain


def without_fault(case: Case) -> list[Stamped]:
    cell = Parent.open(case.run).cell()
    return cases.played(Cell.of({**cell.plain, "agents": cell.plain["agents"]["base"]}))


def test_both_halves_have_enough_kinds_and_share_none() -> None:
    open_half, hidden_half = (set(kinds_of(half)) for half in HALVES)
    assert min(len(open_half), len(hidden_half)) >= 4
    assert not open_half & hidden_half


def check_success_and_failure(case: Case) -> None:
    """Check that the team succeeds without the fault, and never finishes with it."""
    parent = Parent.open(case.run)
    limit = parent.configuration.max_steps
    end = without_fault(case)[-1].event
    assert isinstance(end, EpisodeEnd)
    assert (end.outcome, end.steps <= limit) == (Outcome.SUCCESS, True)
    assert ending_of(parent.episode.trace).outcome == Outcome.TRUNCATED
    assert fails_for_good(case.run)


def check_label(case: Case) -> None:
    """Check that the run is the one without the fault up to the labelled decision, and not from there on."""
    events = read_whole_trace(case.run).events
    faulty, clean = happened(events), happened(without_fault(case))
    first = next(index for index, pair in enumerate(zip(faulty, clean, strict=False)) if pair[0] != pair[1])
    index = int(case.agent.removeprefix("agent_"))
    starts = [
        number
        for number, stamped in enumerate(events)
        if isinstance(stamped.event, ThoughtStart) and stamped.event.agent == index
    ]
    (start,) = (number for number in starts if (events[number].t, events[number].t_hat) == (case.t, case.t_hat))
    following = next((number for number in starts if number > start), inf)
    assert start < first < following
    assert index in {faulty[first].get("agent"), faulty[first].get("sender"), clean[first].get("agent")} | {
        clean[first].get("sender")
    }


@pytest.mark.parametrize(("half", "kind"), KINDS)
def test_without_the_fault_the_team_succeeds_and_with_it_never(half: str, kind: str, made: dict[str, Case]) -> None:
    check_success_and_failure(made[kind])


@pytest.mark.parametrize(("half", "kind"), KINDS)
def test_up_to_the_labelled_decision_both_runs_are_one(half: str, kind: str, made: dict[str, Case]) -> None:
    check_label(made[kind])


@pytest.mark.claims
@pytest.mark.parametrize("half", HALVES)
def test_two_cases_of_every_kind(half: str, tmp_path: Path) -> None:
    for case in make_cases(tmp_path / "cases", half, 2 * len(kinds_of(half))):
        check_success_and_failure(case)
        check_label(case)
        check_is_ordinary(case, tmp_path / "again")


def check_is_ordinary(case: Case, out: Path) -> None:
    """Check that the run with the fault is one that its configuration gives again."""
    again = run_cell(Parent.open(case.run).cell(), out)
    assert again.folder.name == case.name
    assert happened(read_whole_trace(again.folder).events) == happened(read_whole_trace(case.run).events)


@pytest.mark.parametrize(("half", "kind"), KINDS)
def test_a_run_with_a_fault_is_an_ordinary_run(half: str, kind: str, made: dict[str, Case], tmp_path: Path) -> None:
    check_is_ordinary(made[kind], tmp_path)


@pytest.mark.parametrize("half", HALVES)
def test_a_failure_without_a_fault_fails_and_every_agent_has_its_own_mind(half: str, tmp_path: Path) -> None:
    source = import_module(HALVES[half])
    small = {kind: [next(words for words in every if "n=2" in words)] for kind, every in source.FAULTLESS.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(source, "FAULTLESS", small)
        made = list(make_faultless(tmp_path, half, len(KINDS_WITHOUT)))
    assert [case.kind for case in made] == list(KINDS_WITHOUT)
    assert read_cases(tmp_path) == made
    for case in made:
        parent = Parent.open(case.run)
        ending = ending_of(parent.episode.trace)
        assert not Success.parse(case.success).met(ending)
        assert ending.finished is (case.kind == "faster")
        assert "base" not in parent.cell().plain["agents"]
        assert (case.agent, case.t) == (None, None)


def test_the_labels_are_read_as_they_were_made(made: dict[str, Case]) -> None:
    folders = {case.half: case.run.parent for case in made.values()}
    assert [case for half in HALVES for case in read_cases(folders[half])] == list(made.values())
    with pytest.raises(FileExistsError):
        next(make_cases(folders["open"], "open", 1))


@pytest.mark.parametrize("half", HALVES)
def test_the_numbers_of_candidates_are_kept(half: str, made: dict[str, Case]) -> None:
    folder = next(case.run.parent for case in made.values() if case.half == half)
    found = read_candidates(folder)
    kinds = {kind for own, kind in KINDS if own == half}
    assert found.keys() <= set(kinds_of(half))
    assert {kind: counts["kept"] for kind, counts in found.items() if counts["kept"]} == dict.fromkeys(kinds, 1)


class Counting:
    """A mind that answers each turn with its number."""

    def __init__(self) -> None:
        self.turns = 0

    async def think(self, view: View) -> Thought:
        """Count the turn."""
        self.turns += 1
        return Thought(Plan((), rationale=str(self.turns)))


async def test_only_the_answer_of_one_turn_is_another() -> None:
    world = build(Cell.compose(["n=2", "max_steps=5"]), no_models).world
    world.reset(0)
    seen: list[Moment] = []

    def wrong(moment: Moment) -> Thought:
        seen.append(moment)
        return replace(moment.thought, decision=Plan((), rationale="wrong"))

    mind = FaultyMind(Counting(), Fault(wrong, Act.PLAN), 2, world)
    view = View(0, "agent_0", world.agents, Turn(0, frozenset({Act.PLAN})), 0, 0, world.observe(0))
    views = [view, replace(view, problems=("refused",)), view, view, view, view]
    said = [(await mind.think(each)).decision for each in views]
    assert [plan.rationale for plan in said if isinstance(plan, Plan)] == ["1", "2", "3", "wrong", "5", "6"]
    assert [moment.plan for moment in seen] == [Plan((), rationale="4")]


def test_nothing_imports_the_hidden_half() -> None:
    hidden = "benchmarks.attribution.hidden"
    names = (ROOT / name for name in (*PRODUCT, *WORLDS, "benchmarks", "examples"))
    files = [file for name in names for file in ([name] if name.is_file() else sorted(name.rglob("*.py")))]
    files = [file for file in files if file.name != "hidden.py"]
    found = [
        (file, name)
        for file in files
        for _, name in modules(file.read_text("utf-8"))
        if "hidden" in name.split(".") or name.startswith(hidden)
    ]
    assert found == []
    named = [file for file in files if hidden in file.read_text("utf-8")]
    assert named == [ROOT / "benchmarks/attribution/cases.py"], "only the one that makes cases loads it, when asked"
