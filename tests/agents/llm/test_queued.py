"""Time that a call spends in our own queue is not the call's time, nor the thought's, nor the episode's."""

from __future__ import annotations

import asyncio
import random

import pytest

from maeil.errors import LimitReached
from maeil.thinking import Limits
from quorum.agents.llm.limits import CallLimits, Limited, Retrying, RetryRules
from quorum.agents.llm.protocol import Finish, Origin, Reply, Request, Sampling, Usage
from quorum.agents.llm.spending import UnderWay, Watched
from quorum.episode.status import thinking
from quorum_base.stopwatches import Stopwatch, queued, timed_by


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Held:
    """A model that answers on command."""

    def __init__(self) -> None:
        self.asked: list[asyncio.Future[Reply]] = []

    async def complete(self, _: Request) -> Reply:
        self.asked.append(asyncio.get_running_loop().create_future())
        return await self.asked[-1]


def _request(agent: str) -> Request:
    return Request((), None, Sampling(0.0, 10), origin=Origin(agent, 3))


REPLY = Reply("x", Finish.STOP, Usage(90, 10), 0.5, 0.0, "m")
RULES = RetryRules(max_tries=1, max_rate_limited=1, max_wait=0, first_wait=0, longest_wait=0)


async def _turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_call_that_waits_for_a_place_is_shown_as_waiting_and_counts_from_its_place_on() -> None:
    clock, held = Clock(), Held()
    under_way = UnderWay(clock)
    model = Watched(Limited(held, CallLimits(1)), under_way)
    first, second = (asyncio.create_task(model.complete(_request(name))) for name in ("agent_0", "agent_1"))
    await _turns()
    clock.now += 768.0
    assert thinking(under_way.calls, under_way.queued) == "agent_0 thinks 768 s, 1 queued"
    held.asked[0].set_result(REPLY)
    await first
    await _turns()
    clock.now += 3.0
    assert thinking(under_way.calls, under_way.queued) == "agent_1 thinks 3 s"
    held.asked[1].set_result(REPLY)
    await second
    assert thinking(under_way.calls, under_way.queued) == "nobody thinks"


async def test_the_seconds_of_a_reply_are_without_the_wait_for_a_place() -> None:
    held = Held()
    limited = Limited(held, CallLimits(1))
    model = Retrying(limited, RULES, random.Random(0))
    first, second = (asyncio.create_task(model.complete(_request(name))) for name in ("agent_0", "agent_1"))
    await asyncio.sleep(0.3)
    held.asked[0].set_result(REPLY)
    assert (await first).seconds >= 0.3
    await _turns()
    held.asked[1].set_result(REPLY)
    assert (await second).seconds < 0.3


async def _thought(limits: Limits, seconds_queued: float, seconds_asked: float) -> None:
    async def think() -> None:
        with queued() as begin:
            await asyncio.sleep(seconds_queued)
            begin()
            await asyncio.sleep(seconds_asked)

    await limits.bound(think, "agent_0", Stopwatch())


@pytest.mark.parametrize("bounds", [(0.3, None), (None, 0.3)], ids=["thought", "episode"])
async def test_limits_do_not_count_the_wait_for_a_place(bounds: tuple[float | None, float | None]) -> None:
    limits = Limits(*bounds)
    await _thought(limits, 0.5, 0.0)
    limits.check_episode()


@pytest.mark.parametrize("bounds", [(0.3, None), (None, 0.3)], ids=["thought", "episode"])
async def test_limits_count_from_the_place_on(bounds: tuple[float | None, float | None]) -> None:
    with pytest.raises(LimitReached):
        await _thought(Limits(*bounds), 0.1, 60.0)


def test_a_stopwatch_stands_only_while_nothing_of_it_is_under_way() -> None:
    clock = Clock()
    stopwatch = Stopwatch(clock)
    with timed_by(stopwatch):
        with queued() as begin:
            clock.now += 5
            begin()
            clock.now += 2
            with queued():  # waits behind the call that is under way
                clock.now += 4
        with queued():
            clock.now += 50
    clock.now += 1
    assert stopwatch.seconds == 7.0
