"""Rules of the shared limits."""

from __future__ import annotations

import asyncio
import math
import random

import pytest

from quorum.agents.llm.errors import InfrastructureFailed, RateLimited
from quorum.agents.llm.limits import MOST_ROUNDS, AdaptiveConcurrency, CallLimits, Limited, Retrying, RetryRules
from quorum.agents.llm.protocol import Reply, Request
from tests.agents.llm.wire import TEXT, Brain, Sleeper, reply, request
from tests.conftest import PATIENCE
from tests.virtual_time import in_virtual_time


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
    limited = Limited(crowd, CallLimits(max_concurrency=5))
    await asyncio.gather(*(limited.complete(request()) for _ in range(50)))
    assert crowd.most == 5


async def test_one_object_bounds_all_models_that_share_it() -> None:
    crowd, limits = Crowd(), CallLimits(max_concurrency=3)
    models = [Limited(crowd, limits) for _ in range(10)]
    await asyncio.gather(*(model.complete(request()) for model in models))
    assert crowd.most == 3


async def leave(places: AdaptiveConcurrency, *, limited: bool) -> int:
    """Let one call come and go; give the rounds that a rate limit has."""
    ticket = await places.enter()
    rounds = places.rate_limited(ticket) if limited else 0
    if not limited:
        places.answered()
    places.leave()
    return rounds


async def test_a_rate_limit_takes_a_place_and_an_answer_gives_one_back() -> None:
    places = AdaptiveConcurrency(16)
    for _ in range(5):
        await leave(places, limited=True)
    assert places.places == 11
    for _ in range(3):
        await leave(places, limited=False)
    assert places.places == 14


async def test_rate_limits_of_one_moment_are_one_round_and_an_answer_takes_one_back() -> None:
    places = AdaptiveConcurrency(16)
    for expected in (1, 2, 3):
        tickets = [await places.enter() for _ in range(4)]
        assert [places.rate_limited(ticket) for ticket in tickets] == [expected] * 4
        for _ in tickets:
            places.leave()
    await leave(places, limited=False)
    assert places.rounds == 2
    assert await leave(places, limited=True) == 3


async def test_places_stay_between_one_and_the_most_and_rounds_have_an_end() -> None:
    places = AdaptiveConcurrency(2)
    assert [await leave(places, limited=True) for _ in range(12)] == [1, 2, 3, 4, 5, 6, 7, *[MOST_ROUNDS] * 5]
    assert places.places == 1
    for _ in range(MOST_ROUNDS):
        await leave(places, limited=False)
    assert (places.places, places.rounds) == (2, 0)


async def test_a_failure_of_another_kind_does_not_change_the_places() -> None:
    limits = CallLimits(max_concurrency=8)
    for failure in (RateLimited(""), ValueError()):
        with pytest.raises(type(failure)):
            await Limited(Brain([failure]), limits).complete(request())
    assert limits.concurrency.places == 7
    assert limits.concurrency.active == 0


async def test_who_waits_for_a_place_and_is_cancelled_takes_none_with_him() -> None:
    places = AdaptiveConcurrency(1)
    await places.enter()
    waiting = [asyncio.create_task(places.enter()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    places.leave()
    waiting[1].cancel()  # admitted already, and cancelled before it ran
    await asyncio.sleep(0)
    await asyncio.wait_for(waiting[2], PATIENCE)
    places.leave()
    assert places.active == 0


async def test_requests_per_minute_hold_in_every_window() -> None:
    sleeper = Sleeper()
    began: list[float] = []

    def note(asked: Request) -> str:
        began.append(sleeper.now)
        return TEXT

    limits = CallLimits(10, requests_per_minute=3, clock=sleeper.clock, sleep=sleeper.sleep)
    limited = Limited(Brain(note), limits)
    await asyncio.gather(*(limited.complete(request()) for _ in range(8)))
    assert began == [0, 0, 0, 60, 60, 60, 120, 120]


async def test_tokens_per_minute_count_what_answers_really_took() -> None:
    sleeper = Sleeper()
    limits = CallLimits(10, tokens_per_minute=250, clock=sleeper.clock, sleep=sleeper.sleep)
    limited = Limited(Brain(), limits)  # 120 tokens an answer
    times = []
    for _ in range(4):
        await limited.complete(request())
        times.append(sleeper.now)
    assert times == [0, 0, 60, 60]


async def test_a_call_beyond_the_tokens_of_a_minute_passes_alone() -> None:
    sleeper = Sleeper()
    limits = CallLimits(10, tokens_per_minute=50, clock=sleeper.clock, sleep=sleeper.sleep)
    limited = Limited(Brain(), limits)
    for _ in range(2):
        await limited.complete(request())
    assert sleeper.now == 60


async def test_another_share_of_the_limits_holds_for_the_calls_to_come() -> None:
    crowd, limits = Crowd(), CallLimits(max_concurrency=2)
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


class Moody:
    """A provider that answers in two seconds, and limits some of its calls at once: at random, or for a while."""

    def __init__(self, share: float = 0.0, until: float = 0.0) -> None:
        self._share, self._until = share, until
        self._rng = random.Random(0)
        self.limited = 0

    async def complete(self, request: Request) -> Reply:
        if self._rng.random() < self._share or asyncio.get_running_loop().time() < self._until:
            self.limited += 1
            raise RateLimited("")
        await asyncio.sleep(2)
        return reply()


def campaign(provider: Moody, calls: int, agents: int, most: int = 64) -> tuple[float, CallLimits]:
    """Return the seconds that agents take for calls, one after the other each, as a sweep makes them."""

    async def all_of_them() -> tuple[float, CallLimits]:
        limits, left = CallLimits(most), iter(range(calls))
        rules = RetryRules(max_tries=6, max_rate_limited=20, max_wait=300, first_wait=1.0, longest_wait=30.0)

        async def agent(number: int) -> None:
            model = Retrying(Limited(provider, limits), rules, random.Random(number))
            for _ in left:
                await model.complete(request())

        await asyncio.gather(*(agent(number) for number in range(agents)))
        return asyncio.get_running_loop().time(), limits

    return in_virtual_time(all_of_them())


@pytest.mark.parametrize("agents", [8, 64, 1000])
def test_a_thousand_calls_under_30_percent_of_random_rate_limits_keep_half_of_their_pace(agents: int) -> None:
    undisturbed, _ = campaign(Moody(), 1000, agents)
    provider = Moody(0.3)
    disturbed, limits = campaign(provider, 1000, agents)
    assert provider.limited > 300
    assert disturbed < 2 * undisturbed
    assert limits.concurrency.places > 32


def test_seconds_after_the_last_rate_limit_all_places_are_there_again() -> None:
    silent = 60.0
    seconds, limits = campaign(Moody(until=silent), 1000, 256)
    assert (limits.concurrency.places, limits.concurrency.rounds) == (64, 0)
    assert seconds < silent + 30 + 2 * 1000 / 64  # what it was asked to wait for, then the usual pace


@pytest.mark.parametrize("agents", [1, 64])
def test_a_provider_that_answers_nobody_is_asked_ever_less_often(agents: int) -> None:
    with pytest.raises(
        InfrastructureFailed, match="no answer within 300 s of waiting"
    ):  # and not after the 20 tries of a short while
        campaign(Moody(until=math.inf), agents, agents)
