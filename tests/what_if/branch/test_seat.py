"""Whose time it is in a place that another mind takes over, and a run that goes on where it had failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from maeil.trace import Instant, Prefix, Trace, read_trace
from maeil.trace.events import ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.what_if.branch.branch_minds import Takeover
from tests.episode.till import Then, Till
from tests.maeil.scripted import Scripted, play, walk
from tests.serving import served
from tests.what_if.branch.test_identity import Counting, branched


@pytest.mark.parametrize("along", [False, True])
def test_a_mind_that_takes_over_decides_from_the_instant_on_and_has_seen_the_rest_if_it_thinks_along(
    along: bool,
) -> None:
    events = play([Scripted(walk(1))])
    prefix = Prefix(Trace(tuple(events)), Instant(2))
    before, after = Scripted(walk(1)), Scripted(walk(2))
    other = play([Takeover(before, after, prefix, shadow=along)], listener=prefix)
    first = next(s.seq for s in events if isinstance(s.event, ThoughtStart) and s.t >= 2)
    assert [s.event for s in other[1:first] if isinstance(s.event, ThoughtStart)] == [
        s.event for s in events[1:first] if isinstance(s.event, ThoughtStart)
    ]
    assert [view.t for view in before.views] == [0, 1]
    assert [view.t for view in after.views][: 3 if along else 1] == ([0, 1, 2] if along else [2])


def test_a_run_that_its_provider_ended_goes_on_from_its_last_thought(tmp_path: Path) -> None:
    words = ["env=squeeze", "n=3", "max_steps=4", "agents=naive", "topology=debate", "llm.cache=false", "llm.tries=1"]
    failing = Till(Counting(), after=7, then=Then.FAIL)
    with served(failing) as addresses:
        model = ["llm=openai", "llm.model=simulated", f"llm.base_url={addresses.openai}", "llm.api_key_env=null"]
        outcome = run_cell(Cell.compose([*words, *model]), tmp_path / "runs")
    assert outcome.outcome == "error"
    last = [s for s in read_trace(outcome.folder).events if isinstance(s.event, ThoughtStart)][-1]
    brain = Counting()
    with served(brain) as addresses:
        at, there = f"{last.t}:{last.t_hat:g}", [f"llm.base_url={addresses.openai}"]
        whole = branched(outcome.folder, at, tmp_path / "branches", edits=there)
    assert whole.outcome == "success"
    assert brain.requests == whole.metrics["model.calls"] - len(
        [s for s in read_trace(outcome.folder).events if isinstance(s.event, ThoughtStart) and s.t_hat < last.t_hat]
    )
