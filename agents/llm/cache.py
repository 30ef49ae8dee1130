"""Answers on disk, so that nothing is paid for twice; safe for many processes on one machine."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.records import describe_reply, dump, load, read_reply, request_key

BUSY_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds.

    Attributes:
        entries: number of answers.
        bytes: size of the file on disk.
    """

    entries: int
    bytes: int


class Cache:
    """A file of answers by key. One object a process; not for network file systems, whose locks do not hold.

    Args:
        path: the file, made when missing with its folders.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._file = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        self._share()
        self._file.execute("pragma synchronous = normal")
        self._file.execute(
            "create table if not exists answers (key text primary key, reply blob not null) without rowid"
        )

    def _share(self) -> None:
        """Let many processes use the file. SQLite does not wait for its turn when the mode changes, so this does."""
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._file.execute("pragma journal_mode = wal")
            except sqlite3.OperationalError:
                if time.monotonic() > end:
                    self._file.close()
                    raise
                time.sleep(0.01)
            else:
                return

    def get(self, key: str) -> Reply | None:
        """Return the answer of a key; None when there is none."""
        row = self._file.execute("select reply from answers where key = ?", (key,)).fetchone()
        return None if row is None else read_reply(load(row[0]))

    def put(self, key: str, reply: Reply) -> Reply:
        """Keep an answer, and give the one that is kept: the first of several processes wins."""
        content = dump(describe_reply(reply))
        if self._file.execute("insert or ignore into answers values (?, ?)", (key, content)).rowcount:
            return reply
        return self.get(key) or reply

    def stats(self) -> CacheStats:
        """Return what the cache holds."""
        entries = self._file.execute("select count(*) from answers").fetchone()[0]
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return CacheStats(entries, sum(file.stat().st_size for file in files if file.exists()))

    def clear(self) -> int:
        """Forget everything; give the number of answers that were forgotten."""
        forgotten = self._file.execute("delete from answers").rowcount
        self._file.execute("vacuum")
        self._file.execute("pragma wal_checkpoint(truncate)")
        return forgotten

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Cached:
    """A model whose answers are kept.

    Args:
        model: the model.
        cache: where they are kept.
        identity: what else than the request reaches the model: a provider's `identity`.
        sampled: whether answers are kept, too, that were drawn above temperature 0 or at a temperature that the
            provider chose.
    """

    def __init__(self, model: Model, cache: Cache, identity: Mapping[str, str], *, sampled: bool) -> None:
        self._model = model
        self._cache = cache
        self._identity = dict(identity)
        self._sampled = sampled
        self._asking: dict[str, asyncio.Lock] = {}

    async def complete(self, request: Request) -> Reply:
        """Answer a request from the cache, or ask and keep the answer. Equal requests at the same time ask once."""
        if not (self._sampled or request.sampling.temperature == 0):
            return await self._model.complete(request)
        key = request_key(request, self._identity)
        lock = self._asking.setdefault(key, asyncio.Lock())
        try:
            async with lock:
                begin = time.perf_counter()
                kept = self._cache.get(key)
                if kept is not None:
                    return replace(kept, cache_hit=True, attempts=0, seconds=time.perf_counter() - begin)
                reply = await self._model.complete(request)
                if self._sampled or "temperature" not in reply.not_sent:
                    reply = self._cache.put(key, reply)
                return reply
        finally:
            if not lock.locked():
                self._asking.pop(key, None)
