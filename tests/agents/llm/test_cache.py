"""Rules of the cache, with real processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from quorum.agents.llm.cache import Cache, Cached
from quorum.agents.llm.errors import ServerFailed
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Finish, Rejected, Reply, Sampling, Usage
from quorum.agents.llm.records import describe_reply, dump, load, read_reply, request_key
from tests.agents.llm.wire import Brain, reply, request

IDENTITY = {"provider": "openai", "base_url": "http://127.0.0.1/v1", "model": "a", "structured": "auto"}


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    made = Cache(tmp_path / "deep" / "cache.sqlite")
    yield made
    made.close()


async def test_a_request_is_paid_for_once(cache: Cache) -> None:
    brain = Brain(usd=0.5)
    model = Cached(brain, cache, IDENTITY, sampled=False)
    first = await model.complete(request())
    second = await model.complete(request(agent="agent_9", t=7))
    assert len(brain.asked) == 1
    assert (first.cache_hit, second.cache_hit) == (False, True)
    assert replace(second, cache_hit=False, attempts=1, seconds=first.seconds) == first
    assert second.attempts == 0


async def test_a_repeated_sample_is_another_entry(cache: Cache) -> None:
    brain = Brain(["one", "two"])
    model = Cached(brain, cache, IDENTITY, sampled=True)
    texts = [(await model.complete(request(temperature=1.0, sample=i))).text for i in (0, 1, 0, 1)]
    assert texts == ["one", "two", "one", "two"]


async def test_sampled_answers_are_kept_only_when_asked_for(cache: Cache) -> None:
    brain = Brain()
    for temperature in (0.7, None):
        model = Cached(brain, cache, IDENTITY, sampled=False)
        for _ in range(2):
            await model.complete(request(temperature=temperature))
    assert len(brain.asked) == 4
    assert cache.stats().entries == 0


async def test_an_answer_whose_temperature_was_not_sent_is_a_sampled_one(cache: Cache) -> None:
    brain = Brain([replace(reply(), not_sent=("temperature",))])
    for _ in range(2):
        await Cached(brain, cache, IDENTITY, sampled=False).complete(request(temperature=0.0))
    assert len(brain.asked) == 2
    for _ in range(2):
        await Cached(brain, cache, IDENTITY, sampled=True).complete(request(temperature=0.0))
    assert len(brain.asked) == 3


def test_everything_that_reaches_the_model_is_in_the_key() -> None:
    base = request()
    assert base.answer is not None
    others = [
        replace(base, messages=(*base.messages, ChatMessage(ChatRole.USER, ""))),
        replace(base, messages=(base.messages[0], replace(base.messages[1], role=ChatRole.ASSISTANT))),
        replace(base, answer=None),
        replace(base, answer=AnswerFormat("other", base.answer.schema)),
        replace(base, answer=AnswerFormat(base.answer.name, {**base.answer.schema, "title": "x"})),
        replace(base, sampling=Sampling(0.1, 256)),
        replace(base, sampling=Sampling(0.0, 255)),
        replace(base, sampling=Sampling(0.0, 256, seed=0)),
        replace(base, sample=1),
    ]
    keys = [request_key(other, IDENTITY) for other in others]
    keys += [request_key(base, {**IDENTITY, name: "other"}) for name in IDENTITY]
    keys.append(request_key(base))
    assert len(set(keys)) == len(keys)
    assert request_key(base, IDENTITY) not in keys
    assert request_key(replace(base, origin=None), IDENTITY) == request_key(base, IDENTITY)


async def test_equal_requests_at_the_same_time_ask_once(cache: Cache) -> None:
    brain = Brain()
    model = Cached(brain, cache, IDENTITY, sampled=False)
    answers = await asyncio.gather(*(model.complete(request()) for _ in range(20)))
    assert len(brain.asked) == 1
    assert sum(answer.cache_hit for answer in answers) == 19
    assert model._asking == {}


async def test_a_failure_is_not_kept(cache: Cache) -> None:
    brain = Brain([ServerFailed("x"), "two"])
    model = Cached(brain, cache, IDENTITY, sampled=False)
    with pytest.raises(ServerFailed):
        await model.complete(request())
    assert (await model.complete(request())).text == "two"


def test_the_first_answer_of_a_key_stays(cache: Cache) -> None:
    assert cache.put("key", reply("one")).text == "one"
    assert cache.put("key", reply("two")).text == "one"


def test_stats_and_clear(cache: Cache) -> None:
    for key in "abc":
        cache.put(key, reply())
    assert cache.stats().entries == 3
    assert cache.stats().bytes > 0
    assert cache.clear() == 3
    assert cache.stats().entries == 0
    assert cache.get("a") is None


def test_a_reply_survives_its_record() -> None:
    full = Reply(
        text="ä",
        finish=Finish.LENGTH,
        usage=Usage(3, 2, 1),
        usd=None,
        seconds=1.5,
        model="m",
        value={"a": [1, None]},
        attempts=2,
        repairs=1,
        cache_hit=True,
        not_sent=("temperature",),
        simulated=True,
        rejected=(Rejected("x", ("r",)),),
    )
    assert read_reply(load(dump(describe_reply(full)))) == full


PROCESSES, KEYS = 8, 100


def work(path: Path, process: int, barrier: object, found: multiprocessing.Queue[object]) -> None:
    """Write and read all keys, against all other processes."""
    barrier.wait()  # type: ignore[attr-defined]
    kept: list[tuple[str, str]] = []
    try:
        cache = Cache(path)
        for i in range(KEYS):
            key = str((i * 7 + process * 13) % KEYS)
            stored = cache.put(key, reply(f"by {process}"))
            again = cache.get(key)
            if again != stored:
                raise AssertionError(f"{key}: {again} is not {stored}")
            kept.append((key, stored.text))
        cache.close()
    except (sqlite3.Error, AssertionError) as error:
        found.put(repr(error))
    else:
        found.put(kept)


def test_eight_processes_write_without_an_error_and_agree_on_every_answer(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    found: multiprocessing.Queue[object] = context.Queue()
    barrier = context.Barrier(PROCESSES)
    path = tmp_path / "cache.sqlite"
    workers = [context.Process(target=work, args=(path, i, barrier, found)) for i in range(PROCESSES)]
    for worker in workers:
        worker.start()
    results = [found.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join(timeout=10)
    found.close()
    assert [result for result in results if isinstance(result, str)] == []
    answers: dict[str, Counter[str]] = {}
    for result in results:
        assert isinstance(result, list)
        for key, text in result:
            answers.setdefault(key, Counter())[text] += 1
    assert len(answers) == KEYS
    assert all(list(counts.values()) == [PROCESSES] for counts in answers.values())
    cache = Cache(path)
    assert cache.stats().entries == KEYS
    cache.close()
