"""Rules of the shared limits."""

from __future__ import annotations

import asyncio

import pytest

from quorum.agents.llm.errors import RateLimited
from quorum.agents.llm.limits import AdaptiveConcurrency, Limited, Limits
from quorum.agents.llm.protocol import Reply, Request
from tests.agents.llm.wire import TEXT, Brain, Sleeper, reply, request


class Crowd:
    """A model that counts who is inside at once."""

    def __init__(self) -> None:
        self.inside = self.most = 0

    async def complete(self, request: Request) -> Reply:
        self.inside += 1
        self.most = max(self.most, self.inside)
        await asyncio.sleep(0.001)
        self.inside -= 1
        return reply()


async def test_no_more_calls_are_under_way_than_allowed() -> None:
    crowd = Crowd()
    limited = Limited(crowd, Limits(max_concurrency=5))
    await asyncio.gather(*(limited.complete(request()) for _ in range(50)))
    assert crowd.most == 5


async def test_one_object_bounds_all_models_that_share_it() -> None:
    crowd, limits = Crowd(), Limits(max_concurrency=3)
    models = [Limited(crowd, limits) for _ in range(10)]
    await asyncio.gather(*(model.complete(request()) for model in models))
    assert crowd.most == 3


async def test_a_rate_limit_halves_the_places_and_a_round_of_successes_adds_one() -> None:
    places = AdaptiveConcurrency(16)
    places.leave(await places.enter(), rate_limited=True)
    assert places.places == 8
    for _ in range(9):
        places.leave(await places.enter(), rate_limited=False)
    assert places.places == 9


async def test_rate_limits_of_one_moment_halve_once() -> None:
    places = AdaptiveConcurrency(16)
    tickets = [await places.enter() for _ in range(16)]
    for ticket in tickets:
        places.leave(ticket, rate_limited=True)
    assert places.places == 8


async def test_places_stay_between_one_and_the_most() -> None:
    places = AdaptiveConcurrency(2)
    for _ in range(5):
        places.leave(await places.enter(), rate_limited=True)
    assert places.places == 1
    for _ in range(50):
        places.leave(await places.enter(), rate_limited=False)
    assert places.places == 2


async def test_a_failure_of_another_kind_does_not_change_the_places() -> None:
    limits = Limits(max_concurrency=8)
    for failure in (RateLimited(""), ValueError()):
        with pytest.raises(type(failure)):
            await Limited(Brain([failure]), limits).complete(request())
    assert limits.concurrency.places == 4
    assert limits.concurrency.active == 0


async def test_who_waits_for_a_place_and_is_cancelled_takes_none_with_him() -> None:
    places = AdaptiveConcurrency(1)
    ticket = await places.enter()
    waiting = [asyncio.create_task(places.enter()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    places.leave(ticket, rate_limited=None)
    waiting[1].cancel()  # admitted already, and cancelled before it ran
    await asyncio.sleep(0)
    places.leave(await asyncio.wait_for(waiting[2], 1), rate_limited=None)
    assert places.active == 0


async def test_requests_per_minute_hold_in_every_window() -> None:
    sleeper = Sleeper()
    began: list[float] = []

    def note(asked: Request) -> str:
        began.append(sleeper.now)
        return TEXT

    limits = Limits(10, requests_per_minute=3, clock=sleeper.clock, sleep=sleeper.sleep)
    limited = Limited(Brain(note), limits)
    await asyncio.gather(*(limited.complete(request()) for _ in range(8)))
    assert began == [0, 0, 0, 60, 60, 60, 120, 120]


async def test_tokens_per_minute_count_what_answers_really_took() -> None:
    sleeper = Sleeper()
    limits = Limits(10, tokens_per_minute=250, clock=sleeper.clock, sleep=sleeper.sleep)
    limited = Limited(Brain(), limits)  # 120 tokens an answer
    times = []
    for _ in range(4):
        await limited.complete(request())
        times.append(sleeper.now)
    assert times == [0, 0, 60, 60]


async def test_a_call_beyond_the_tokens_of_a_minute_passes_alone() -> None:
    sleeper = Sleeper()
    limits = Limits(10, tokens_per_minute=50, clock=sleeper.clock, sleep=sleeper.sleep)
    limited = Limited(Brain(), limits)
    for _ in range(2):
        await limited.complete(request())
    assert sleeper.now == 60


async def test_another_share_of_the_limits_holds_for_the_calls_to_come() -> None:
    crowd, limits = Crowd(), Limits(max_concurrency=2)
    limited = Limited(crowd, limits)
    calls = [asyncio.create_task(limited.complete(request())) for _ in range(30)]
    await asyncio.sleep(0)
    limits.resize(6, None, None)
    await asyncio.gather(*calls)
    assert crowd.most == 6
    crowd.most = 0
    limits.resize(1, None, None)
    await asyncio.gather(*(limited.complete(request()) for _ in range(10)))
    assert crowd.most == 1
