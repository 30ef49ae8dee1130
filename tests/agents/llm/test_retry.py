"""Rules of trying again."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from quorum.agents.llm.errors import (
    AnswerInvalid,
    AuthenticationFailed,
    BadRequest,
    InfrastructureFailed,
    RateLimited,
    ServerFailed,
    TimedOut,
)
from quorum.agents.llm.limits import Retrying, RetryRules
from quorum.agents.llm.providers.failures import retry_after
from tests.agents.llm.wire import TEXT, Brain, Sleeper, request

RULES = RetryRules(max_tries=3, max_rate_limited=5, max_wait=100.0, first_wait=1.0, longest_wait=8.0)


def retrying(brain: Brain, sleeper: Sleeper, rules: RetryRules = RULES, seed: int = 0) -> Retrying:
    return Retrying(brain, rules, random.Random(seed), sleep=sleeper.sleep)


async def test_waits_double_up_to_the_longest_and_are_shortened_by_at_most_a_half() -> None:
    sleeper = Sleeper()
    rules = replace(RULES, max_tries=6)
    await retrying(Brain([ServerFailed("")] * 5 + [TEXT]), sleeper, rules).complete(request())
    for wait, longest in zip(sleeper.waits, [1, 2, 4, 8, 8], strict=True):
        assert longest / 2 <= wait <= longest


async def test_the_waits_follow_from_the_seed() -> None:
    waits = []
    for seed in (1, 1, 2):
        sleeper = Sleeper()
        await retrying(Brain([ServerFailed("")] * 2 + [TEXT]), sleeper, seed=seed).complete(request())
        waits.append(sleeper.waits)
    assert waits[0] == waits[1] != waits[2]


async def test_rate_limits_are_counted_apart_from_other_failures() -> None:
    sleeper = Sleeper()
    brain = Brain([RateLimited("")] * 4 + [ServerFailed("")] * 2 + [TEXT])
    answer = await retrying(brain, sleeper).complete(request())
    assert answer.attempts == 7


@pytest.mark.parametrize(("failure", "tries"), [(TimedOut("x"), 3), (RateLimited("x"), 5)], ids=["time-out", "429"])
async def test_the_bound_on_tries_ends_the_episode(failure: Exception, tries: int) -> None:
    brain = Brain([failure])
    with pytest.raises(InfrastructureFailed, match=f"{tries} tries"):
        await retrying(brain, Sleeper()).complete(request())
    assert len(brain.asked) == tries


async def test_the_bound_on_waiting_counts_all_waits_of_a_call() -> None:
    sleeper = Sleeper()
    brain = Brain([RateLimited("", 40.0)])
    with pytest.raises(InfrastructureFailed, match="waiting 100 s"):
        await retrying(brain, sleeper).complete(request())
    assert sleeper.waits == [40.0, 40.0]


async def test_a_server_failure_with_a_retry_after_is_granted_it() -> None:
    sleeper = Sleeper()
    await retrying(Brain([ServerFailed("", 7.0), TEXT]), sleeper).complete(request())
    assert sleeper.waits == [7.0]


@pytest.mark.parametrize("asked", [0.0, 0.001, 1.0])
async def test_a_retry_after_that_is_shorter_than_the_usual_wait_does_not_shorten_it(asked: float) -> None:
    sleeper = Sleeper()
    await retrying(Brain([RateLimited("", asked)] * 4 + [TEXT]), sleeper).complete(request())
    for wait, longest in zip(sleeper.waits, [1, 2, 4, 8], strict=True):
        assert max(longest / 2, asked) <= wait <= max(longest, asked)


@pytest.mark.parametrize("failure", [AuthenticationFailed(""), BadRequest(""), AnswerInvalid(("x",), 0, {})])
async def test_what_waiting_does_not_mend_is_asked_once(failure: Exception) -> None:
    brain = Brain([failure])
    with pytest.raises(type(failure)):
        await retrying(brain, Sleeper()).complete(request())
    assert len(brain.asked) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str] | None, seconds: float | None) -> None:
    assert retry_after(headers) == seconds
