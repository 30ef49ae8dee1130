"""Rules of the cache, with real processes."""

from __future__ import annotations

import asyncio
import multiprocessing
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from quorum.agents.llm.cache import Cache, Cached, NotOurs, is_marked
from quorum.agents.llm.errors import ServerFailed
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Finish, Rejected, Reply, Sampling, Usage
from quorum.agents.llm.records import describe_reply, read_reply, request_key
from tests.agents.llm.wire import Brain, reply, request
from tests.conftest import PATIENCE

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


def entries(cache: Cache) -> int:
    with closing(sqlite3.connect(cache.path)) as database:
        found: int = database.execute("select count(*) from answers").fetchone()[0]
    return found


async def test_sampled_answers_are_kept_only_when_asked_for(cache: Cache) -> None:
    brain = Brain()
    for temperature in (0.7, None):
        model = Cached(brain, cache, IDENTITY, sampled=False)
        for _ in range(2):
            await model.complete(request(temperature=temperature))
    assert len(brain.asked) == 4
    assert entries(cache) == 0


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
    assert read_reply(orjson.loads(orjson.dumps(describe_reply(full)))) == full


def _spoil(cache: Cache, content: bytes) -> None:
    with closing(sqlite3.connect(cache.path)) as file:
        file.execute("update answers set reply = ?", (content,))
        file.commit()


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"{}", b'"text"', b"\xff\xfe", b'{"text": 5}', orjson.dumps(describe_reply(reply()))[:-40]],
    ids=range(8),
)
async def test_a_damaged_entry_is_a_miss_and_is_repaired(cache: Cache, content: bytes) -> None:
    brain = Brain(["one", "two"])
    model = Cached(brain, cache, IDENTITY, sampled=True)
    await model.complete(request())
    _spoil(cache, content)
    assert [(await model.complete(request())).text for _ in range(2)] == ["two", "two"]
    assert len(brain.asked) == 2


async def test_a_file_that_is_torn_under_way_is_reported_once_and_ends_nothing(
    cache: Cache, caplog: pytest.LogCaptureFixture
) -> None:
    for i in range(300):
        cache.put(str(i), reply())
    cache._file.execute("pragma wal_checkpoint(truncate)")
    cache.path.write_bytes(cache.path.read_bytes()[:4096] + b"torn" * 20_000)
    cache._file.execute("pragma cache_size = 0")
    brain = Brain()
    model = Cached(brain, cache, IDENTITY, sampled=True)
    for i in range(3):
        assert (await model.complete(request(str(i)))).text
    assert len(brain.asked) == 3
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_only_its_user_may_read_it(tmp_path: Path) -> None:
    made = Cache(tmp_path / "deep" / "cache.sqlite")
    made.put("a", reply())
    assert _mode(tmp_path / "deep") == 0o700
    assert {path.name: _mode(path) for path in (tmp_path / "deep").iterdir()} == dict.fromkeys(
        ("cache.sqlite", "cache.sqlite-wal", "cache.sqlite-shm"), 0o600
    )
    made.close()
    made.path.chmod(0o644)
    Cache(made.path).close()
    assert _mode(made.path) == 0o600


def test_a_cache_of_an_older_version_is_ours_and_gets_the_mark(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite"
    with closing(sqlite3.connect(path)) as file:
        file.execute("create table answers (key text primary key, reply blob not null) without rowid")
        file.execute("insert into answers values ('a', ?)", (orjson.dumps(describe_reply(reply("kept"))),))
        file.commit()
    assert not is_marked(path)
    with closing(Cache(path)) as cache:
        kept = cache.get("a")
    assert kept is not None
    assert kept.text == "kept"
    assert is_marked(path)


@pytest.mark.parametrize("statement", ["create table photographs (a)", "pragma application_id = 7"])
def test_the_database_of_another_is_no_cache(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as file:
        file.execute(statement)
        file.commit()
    before = path.read_bytes()
    with pytest.raises(NotOurs):
        Cache(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


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


@pytest.mark.conformance
def test_eight_processes_write_without_an_error_and_agree_on_every_answer(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    found: multiprocessing.Queue[object] = context.Queue()
    barrier = context.Barrier(PROCESSES)
    path = tmp_path / "cache.sqlite"
    workers = [context.Process(target=work, args=(path, i, barrier, found)) for i in range(PROCESSES)]
    for worker in workers:
        worker.start()
    results = [found.get(timeout=PATIENCE) for _ in workers]
    for worker in workers:
        worker.join(timeout=PATIENCE)
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
    assert entries(cache) == KEYS
    cache.close()
