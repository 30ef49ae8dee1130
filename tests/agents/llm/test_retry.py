"""Rules of trying again."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from datetime import UTC, datetime
from email.utils import formatdate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
from quorum.agents.llm.providers.waits import retry_after
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
    with pytest.raises(InfrastructureFailed, match="no answer within 100 s of waiting"):
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


@pytest.mark.parametrize("failure", [AuthenticationFailed(""), BadRequest(""), AnswerInvalid(("x",), TEXT)])
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
        ({"retry-after": "-3"}, None),
        ({"Retry-After": "34.5s"}, 34.5),
        ({"retry-after": "6m0s"}, 360.0),
        ({"retry-after": "1e30"}, None),
        ({"retry-after": "99999999999999999999999"}, None),
        ({"retry-after": "20000101"}, None),
        ({"retry-after-ms": "soon", "retry-after": "2"}, 2.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1m30s"}, 90.0),
        ({"x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "24h"}, None),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "7"}, 7.0),
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


SERVER = 1_800_000_000.0
"""What the clock of a server says, years from ours."""
LATER = SERVER + 30


@pytest.mark.parametrize(
    "headers",
    [
        {"retry-after": formatdate(LATER, usegmt=True)},
        {"retry-after": formatdate(LATER).replace(" -0000", "")},
        {"retry-after": datetime.fromtimestamp(LATER, UTC).isoformat()},
        {"retry-after": datetime.fromtimestamp(LATER, UTC).replace(tzinfo=None).isoformat()},
        {"retry-after": str(LATER)},
        {"x-ratelimit-remaining": "0", "x-ratelimit-reset": str(int(LATER * 1000))},
        {
            "anthropic-ratelimit-tokens-remaining": "0",
            "anthropic-ratelimit-tokens-reset": datetime.fromtimestamp(LATER, UTC).isoformat().replace("+00:00", "Z"),
        },
    ],
    ids=["HTTP", "without a zone", "ISO", "ISO without a zone", "epoch", "epoch in ms", "Anthropic"],
)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo"])
def test_a_point_in_time_is_compared_with_the_clock_of_the_server_and_is_utc(
    headers: dict[str, str], zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert retry_after({**headers, "date": formatdate(SERVER, usegmt=True)}) == pytest.approx(30.0)
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 7m12.5s. Visit the page.", 432.5),
        ("Please try again in 20ms.", 0.02),
        ("Please retry in 34.074824224s.", 34.074824224),
        ("Please retry after 56 seconds.", 56.0),
        ("Try again in 1h2m3s", 3723.0),
        ("Try again in a while", None),
    ],
)
def test_a_wait_that_only_the_text_names_is_granted(text: str, seconds: float | None) -> None:
    assert retry_after({}, text) == (None if seconds is None else pytest.approx(seconds))
    assert retry_after({"retry-after": "5"}, text) == 5.0


@given(st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", "date", "x-ratelimit-reset"]), st.text()))
@settings(derandomize=True, max_examples=200)
def test_whatever_headers_say_the_wait_is_none_or_a_month_at_most(headers: dict[str, str]) -> None:
    found = retry_after({**headers, "x-ratelimit-remaining": "0"}, headers.get("date", ""))
    assert found is None or 0 <= found <= 31 * 86400
