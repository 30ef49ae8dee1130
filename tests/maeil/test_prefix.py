"""The beginning that two episodes share: until when they do, and what is said where they do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from maeil.errors import ReplayMismatch, TraceError
from maeil.trace import Instant, Prefix, Repetition, Trace
from maeil.trace.events import EpisodeStart, PlanChange, Stamped, StepTaken, ThoughtEnd, ThoughtStart
from tests.maeil.scripted import Scripted, play, walk


@pytest.fixture(scope="module")
def events() -> list[Stamped]:
    """Two agents: one thinks at 0:0 and 1:5, the other at 0:0 and 3:10."""
    return play([Scripted(walk(1, tokens=5)), Scripted(walk(3, tokens=2))])


def started(events: list[Stamped]) -> list[Stamped]:
    return [stamped for stamped in events if isinstance(stamped.event, ThoughtStart)]


def test_an_instant_has_come_at_its_step_and_its_time_or_later() -> None:
    assert Instant(3).has_come(3, 0)
    assert not Instant(3).has_come(2, 999)
    assert Instant(3, 5).has_come(3, 5)
    assert Instant(3, 5).has_come(4, 0)
    assert not Instant(3, 5).has_come(3, 4.5)
    assert (str(Instant(3)), str(Instant(3, 5)), str(Instant(3, 0.5))) == ("3", "3:5", "3:0.5")


def test_it_is_live_from_the_first_thought_that_begins_at_the_instant(events: list[Stamped]) -> None:
    for first in started(events):
        prefix = Prefix(Trace(tuple(events)), Instant(first.t, first.t_hat))
        live = []
        for stamped in events:
            prefix(stamped)
            live.append(prefix.live)
        expected = next(s.seq for s in started(events) if (s.t, s.t_hat) >= (first.t, first.t_hat))
        assert live == [seq >= expected for seq in range(len(events))]


def test_a_step_without_a_thought_is_left_with_the_next_thought() -> None:
    events = play([Scripted(walk(2)), Scripted(walk(2))])
    steps = {stamped.t for stamped in started(events)}
    quiet = next(t for t in range(max(steps)) if t not in steps)
    later = min(stamped.seq for stamped in started(events) if stamped.t > quiet)
    prefix = Prefix(Trace(tuple(events)), Instant(quiet))
    for stamped in events[:later]:
        prefix(stamped)
    assert not prefix.live
    prefix(events[later])
    assert prefix.live


def test_an_instant_after_the_last_thought_is_refused_with_its_place(events: list[Stamped]) -> None:
    last = started(events)[-1]
    with pytest.raises(TraceError, match=rf"at 99 or later; the last one begins at {last.t}:{last.t_hat:g}"):
        Prefix(Trace(tuple(events)), Instant(99))


@pytest.mark.parametrize("kind", [PlanChange, StepTaken, ThoughtEnd])
def test_the_first_event_that_differs_is_reported(kind: type, events: list[Stamped]) -> None:
    prefix = Prefix(Trace(tuple(events)), Instant(started(events)[-1].t))
    change = {PlanChange: {"status": "failed"}, StepTaken: {"reward": 99.0}, ThoughtEnd: {"cost": 99}}[kind]
    at = next(stamped.seq for stamped in events if isinstance(stamped.event, kind))
    for stamped in events[:at]:
        prefix(stamped)
    with pytest.raises(ReplayMismatch, match=f"event {at} at "):
        prefix(replace(events[at], event=replace(events[at].event, **change)))


def test_wall_times_and_what_only_a_branch_says_of_itself_are_no_difference(events: list[Stamped]) -> None:
    trace = Trace(tuple(events))
    prefix, last = Prefix(trace, Instant(started(events)[-1].t)), started(events)[-1]
    for stamped in events[: last.seq]:
        event = stamped.event
        if isinstance(event, ThoughtEnd):
            event = replace(event, seconds=9.0, calls=[{**call, "attempts": 9} for call in event.calls])
        if isinstance(event, EpisodeStart):
            event = replace(event, branch={"run": "NAME"})
        prefix(replace(stamped, wall=9.0, event=event))
    assert prefix.digest == Prefix(trace, Instant(last.t)).digest


def test_what_ends_an_episode_is_not_hidden_by_the_difference_that_it_makes(events: list[Stamped]) -> None:
    prefix = Prefix(Trace(tuple(events)), Instant(started(events)[-1].t))
    try:
        raise RuntimeError("the world is gone")
    except RuntimeError:
        prefix(events[-1])
    assert not prefix.live


def test_no_trace_but_that_of_a_branch_speaks_of_branches(tmp_path: Path) -> None:
    play([Scripted(walk(1))], path=tmp_path / "trace.jsonl")
    assert b"branch" not in (tmp_path / "trace.jsonl").read_bytes()


def test_a_repetition_is_complete_when_every_event_has_come_again(events: list[Stamped]) -> None:
    repetition = Repetition(Trace(tuple(events)))
    for stamped in events:
        assert not repetition.complete
        repetition(replace(stamped, wall=stamped.wall + 1))
    assert (repetition.complete, repetition.events) == (True, len(events))
    with pytest.raises(ReplayMismatch, match="it was the end"):
        repetition(events[-1])


def test_a_repetition_names_the_first_event_that_differs(events: list[Stamped]) -> None:
    repetition = Repetition(Trace(tuple(events)))
    repetition(events[0])
    with pytest.raises(ReplayMismatch, match="event 1 at"):
        repetition(replace(events[1], t=7))
    assert (repetition.complete, repetition.events) == (False, 1)
