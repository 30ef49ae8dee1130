"""What readers get of a run: its turns, what became of plans, the score; and nothing of the label."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from maeil.trace import Trace, read_trace
from maeil.trace.events import MessageSent, PlanChange, ThoughtStart
from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell
from quorum.runs.transcript import Transcript


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    words = "n=3 agents=negotiator topology=debate max_steps=25 seed=2"
    return read_trace(run_cell(Cell.compose(words.split()), tmp_path_factory.mktemp("runs")).folder)


def test_every_turn_is_there_with_its_instant_its_plan_and_its_words(trace: Trace) -> None:
    found = Transcript.of(trace)
    starts = [s for s in trace.events if isinstance(s.event, ThoughtStart)]
    wanted = sorted((s.t, s.t_hat, f"agent_{s.event.agent}") for s in starts if isinstance(s.event, ThoughtStart))
    assert sorted((turn.t, turn.t_hat, turn.agent) for turn in found.turns) == wanted
    numbers = [entry["turn"] for entry in found.entries if "turn" in entry]
    assert numbers == list(range(len(wanted)))
    said = [text["text"] for entry in found.entries for text in entry.get("says", ())]
    assert said == [s.event.content for s in trace.events if isinstance(s.event, MessageSent)]
    plans = [entry["plans"] for entry in found.entries if "plans" in entry]
    events = [s.event for s in trace.events if isinstance(s.event, PlanChange)]
    assert len(plans) == len([plan for plan in events if plan.status == "committed"])
    assert len([e for e in found.entries if "plan" in e]) == len(
        [plan for plan in events if plan.status not in ("committed", "running", "cancelled")]
    )


def test_a_beginning_ends_with_its_turn_and_parts_make_the_whole(trace: Trace) -> None:
    found = Transcript.of(trace)
    last = len(found.turns) - 1
    for turn in (0, last // 2, last):
        assert found.until(turn)[-1]["turn"] == turn
    middle = last // 2
    first = found.entries.index(found.until(0)[-1])
    assert [*found.between(0, middle), *found.between(middle + 1, last)] == list(found.entries[first:])


def test_a_transcript_has_no_cognitive_time_and_no_seed(trace: Trace) -> None:
    assert {key for entry in Transcript.of(trace).entries for key in entry} <= {
        "turn", "step", "agent", "may", "plans", "says", "plan", "why", "reached", "of", "refused",
    }  # fmt: skip


def test_a_torn_trace_is_read_as_far_as_it_goes(trace: Trace, tmp_path: Path) -> None:
    torn = Trace(trace.events[: len(trace.events) // 2])
    found, whole = Transcript.of(torn), Transcript.of(trace)
    assert 0 < len(found.turns) < len(whole.turns)
    assert json.dumps(found.entries[:3]) == json.dumps(whole.entries[:3])
