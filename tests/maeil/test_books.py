"""What thoughts have cost is on the trace, whatever ends the episode before they take effect."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from maeil import Call, LoopSettings, Thought, View
from maeil.calls import current_ledger
from maeil.errors import EpisodeStop
from maeil.metrics import compute_metrics
from maeil.trace import Trace, read_trace
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, play, walk


class Spent(EpisodeStop):
    outcome = "budget"


class Gone(EpisodeStop):
    outcome = "error"


@dataclass
class Booked:
    call: Call


class Asks:
    """A mind whose model answers some calls, and then something happens."""

    def __init__(self, *tokens: int, then: Exception | None = None, hangs: bool = False, reports: bool = False) -> None:
        self.tokens, self.then, self.hangs, self.reports = tokens, then, hangs, reports
        self.waits = False
        """Whether it has come to where it hangs."""

    async def think(self, view: View) -> Thought:
        calls = [Call(n, {"completion_tokens": n}) for n in self.tokens]
        for call in calls:
            current_ledger().enter(Booked(call))
            await asyncio.sleep(0)
        if self.then is not None:
            raise self.then
        if self.hangs:
            self.waits = True
            await asyncio.Event().wait()
        return Thought(walk(1).decision, calls=tuple(calls) if self.reports else ())


def ends(events) -> list[tuple[int, float, list[int], bool]]:
    """Agent, time of its end, tokens and whether it was refused, of every thought."""
    return [
        (e.event.agent, e.t_hat, [call["completion_tokens"] for call in e.event.calls], bool(e.event.refused))
        for e in events
        if e.event.kind == "thought_end"
    ]


def test_calls_that_a_mind_does_not_tell_are_those_that_its_models_have_entered() -> None:
    events = play([Asks(3, 4), Asks(5, reports=True)], Corridor(2, length=1))
    assert ends(events) == [(1, 5, [5], False), (0, 7, [3, 4], False)]


def test_what_was_answered_before_a_stop_is_on_the_trace_and_so_are_thoughts_that_had_returned() -> None:
    events = play([Asks(9, 2, then=Spent("spent")), Asks(4), Scripted(walk(1))])
    assert ends(events) == [(2, 1, [], True), (1, 4, [4], True), (0, 11, [9, 2], True)]
    assert (events[-1].event.outcome, events[-1].t_hat) == ("budget", 11)
    found = compute_metrics(Trace(tuple(events)))
    assert found["model.completion_tokens"] == 15
    assert found["decision.refused"] == 1  # with the others nothing was wrong
    stopped = next(e.event for e in events if e.event.kind == "thought_end" and e.event.agent == 0)
    assert stopped.refused == ("spent",)


def test_a_stop_that_is_not_urgent_waits_for_the_answers_under_way() -> None:
    class Slow(Asks):
        async def think(self, view: View) -> Thought:
            await asyncio.sleep(0.02)
            return await super().think(view)

    assert ends(play([Asks(1, then=Spent("spent")), Slow(8)])) == [(0, 1, [1], True), (1, 8, [8], True)]


@pytest.mark.parametrize("error", [Gone("gone"), RuntimeError("bug")])
def test_an_error_cancels_the_others_and_keeps_what_they_were_answered(error: Exception, tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    minds = [Asks(5, hangs=True), Asks(6, then=error), Asks(hangs=True)]
    if isinstance(error, EpisodeStop):
        play(minds, path=path)
    else:
        with pytest.raises(RuntimeError, match="bug"):
            play(minds, path=path)
    trace = read_trace(path)
    assert ends(trace.events) == [(0, 5, [5], True), (1, 6, [6], True)]
    assert trace.end is not None
    assert trace.end.outcome == "error"


def test_a_limit_of_time_keeps_what_was_answered_before() -> None:
    events = play([Asks(5, hangs=True)], settings=LoopSettings(thought_seconds=0.05))
    assert ends(events) == [(0, 5, [5], True)]
    assert events[-1].event.outcome == "error"


def test_an_episode_that_is_cancelled_keeps_what_was_answered_before(tmp_path: Path) -> None:
    async def cancelled() -> None:
        from maeil import run_episode
        from maeil.trace import Recorder
        from quorum.topologies.plain import Individual

        with Recorder(tmp_path / "trace.jsonl") as recorder:
            minds = [Asks(5, hangs=True), Asks(7)]
            episode = asyncio.create_task(
                run_episode(Corridor(2), minds, Individual(), seed=0, settings=LoopSettings(), recorder=recorder)
            )
            while not minds[0].waits:
                await asyncio.sleep(0)
            await asyncio.sleep(0.05)
            episode.cancel()
            with pytest.raises(asyncio.CancelledError):
                await episode

    asyncio.run(cancelled())
    assert ends(read_trace(tmp_path / "trace.jsonl").events) == [(0, 5, [5], True), (1, 7, [7], True)]


def test_a_thought_that_waits_for_its_instant_is_kept_when_a_later_one_stops_the_episode() -> None:
    """Agent 0 is dear and waits at 100; agent 1 is refused at 1, and its next try ends the episode."""

    class Refused:
        async def think(self, view: View) -> Thought:
            if view.problems:
                raise Spent("spent")
            return Thought(walk(9).decision, calls=(Call(1, {"completion_tokens": 1}),))

    events = play([Asks(100), Refused()])
    assert [(agent, tokens, refused) for agent, _, tokens, refused in ends(events)] == [
        (1, [1], True),
        (0, [100], True),
    ]
    assert events[-1].event.outcome == "budget"


def test_a_world_that_fails_on_a_plan_does_not_lose_what_the_plan_has_cost() -> None:
    class Broken(Corridor):
        def check_plan(self, agent, plan):
            raise RuntimeError("a bug of the world")

    events: list = []
    with pytest.raises(RuntimeError, match="a bug of the world"):
        play([Asks(5)], Broken(1), listener=events.append)
    assert ends(events) == [(0, 5, [5], True)]
