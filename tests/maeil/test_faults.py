"""Minds that misbehave: a labelled outcome or a question asked again, and always a whole trace."""

import asyncio

import pytest

from maeil import LoopSettings, Plan, Thought
from maeil.calls import Call
from maeil.errors import EpisodeStop
from maeil.outcomes import Outcome
from maeil.trace import read_trace
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, lines, play, walk


class Hangs:
    def __init__(self) -> None:
        self.cancelled = False

    async def think(self, view):
        try:
            await asyncio.sleep(1e6)
        except asyncio.CancelledError:
            self.cancelled = True
            raise


def test_a_mind_that_hangs_ends_the_episode_as_limit_and_is_cancelled(tmp_path):
    hanging = Hangs()
    path = tmp_path / "trace.jsonl"
    play([Scripted(walk(1)), hanging], settings=LoopSettings(thought_seconds=0.1), path=path)
    assert hanging.cancelled
    end = read_trace(path).end
    assert end.outcome == "error"
    assert "agent_1 thought longer than 0.1 s" in end.reason


def test_an_episode_that_takes_too_long_ends_as_limit():
    events = play(
        [Scripted(walk(1), delays=[0.02] * 1000)],
        Corridor(1, length=10**9, max_steps=10**9),
        settings=LoopSettings(episode_seconds=1.5),
    )
    end = events[-1].event
    assert end.outcome == "error"
    assert "episode_seconds: 1.5 s are over" in end.reason
    assert end.steps > 2


def test_a_limit_that_is_not_reached_changes_nothing():
    bounded = play([Scripted(walk(3))], settings=LoopSettings(thought_seconds=60, episode_seconds=60))
    free = play([Scripted(walk(3))])
    assert [(e.seq, e.t, e.t_hat, e.event.kind) for e in bounded] == [(e.seq, e.t, e.t_hat, e.event.kind) for e in free]


def test_a_mind_with_its_own_timeout_is_a_bug_and_not_our_limit():
    def own_timeout(view):
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        play([Scripted(own_timeout)], settings=LoopSettings(thought_seconds=60))


def test_when_one_mind_raises_the_others_are_cancelled(tmp_path):
    def fail(view):
        raise RuntimeError("broken")

    hanging = Hangs()
    path = tmp_path / "trace.jsonl"
    with pytest.raises(RuntimeError, match="broken"):
        play([hanging, Scripted(fail)], path=path)
    assert hanging.cancelled
    assert read_trace(path).end.reason == "RuntimeError: broken"


def test_a_plan_that_is_refused_as_often_as_allowed_is_flagged():
    events = play([Scripted(Thought(Plan((Walk(steps=9),))))], Corridor(1, max_steps=1))
    assert "t=0 t^=3: P0.1 committed [invalid_plan]" in lines(events, "plan")


def test_a_mind_that_gives_up_is_not_asked_again_and_its_agent_idles():
    mind = Scripted(Thought(failure="no JSON in four answers"))
    events = play([mind], Corridor(1, max_steps=1))
    assert len(mind.views) == 1
    assert "t=0 t^=1: P0.1 committed [parse_failure]" in lines(events, "plan")


def test_a_mind_can_end_the_episode_with_an_outcome():
    class Spent(EpisodeStop):
        outcome = "budget"

    def stop(view):
        raise Spent("tokens: 12 of 10 are used")

    events = play([Scripted(stop)])
    assert (events[-1].event.outcome, events[-1].event.reason) == ("budget", "Spent: tokens: 12 of 10 are used")


def test_the_calls_of_a_mind_that_gives_up_are_on_the_trace_and_on_the_clock():
    class NoAnswer(EpisodeStop):
        outcome = Outcome.FAILURE

    def give_up(view):
        stop = NoAnswer("nothing that can be read")
        stop.calls = (Call(7, {"role": "centre"}), Call(5, {"role": "centre"}))
        raise stop

    *_, thought, end = play([Scripted(give_up)])
    assert (thought.event.agent, thought.event.cost, len(thought.event.calls)) == (0, 12, 2)
    assert thought.event.refused == ("nothing that can be read",)
    assert (end.t_hat, end.event.outcome) == (12, "failure")
