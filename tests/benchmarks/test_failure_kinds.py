"""Injected failures of a known kind are found, of the agent who did it; teams that do nothing wrong have none."""

import pytest

from benchmarks.failure_kinds import CULPRIT, play
from maeil.trace import Recorder
from maeil.trace.reader import Trace
from quorum.configuration.cell import Cell
from quorum.episode.building import no_models
from quorum.episode.parts import build
from quorum.episode.parts import play as play_cell
from quorum.process.event_loop import run_coroutine
from quorum.what_if.failures import FailureKind, find_failures


@pytest.mark.parametrize("kind", FailureKind)
def test_an_injected_failure_is_found_of_the_agent_who_did_it(kind: FailureKind) -> None:
    placed, found = play(kind, 0)
    assert placed
    assert {(failure.kind, failure.agent) for failure in found} == {(kind, CULPRIT)}


def test_where_nothing_is_injected_nothing_is_found() -> None:
    assert play(None, 0) == (True, ())


@pytest.mark.parametrize(
    "words",
    [("env=cube", "agents=planner", "n=4"), ("env=transport", "agents=heuristic", "n=4")],
    ids=["planner in cube", "greedy in transport"],
)
def test_a_team_that_plans_well_has_no_failure(words: tuple[str, ...]) -> None:
    cell = Cell.compose(list(words))
    events: list = []
    with Recorder(None, [events.append]) as recorder:
        run_coroutine(play_cell(cell, build(cell, no_models), recorder))
    assert find_failures(Trace(tuple(events))) == ()
