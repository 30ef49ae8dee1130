"""A cache of answers on disk, so that each is paid for once; safe for many processes on one machine."""

from __future__ import annotations

import asyncio
import logging
import os
import sqlite3
import stat
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import orjson

from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.records import describe_reply, read_reply, request_key

APPLICATION_ID = 0x51554F52
"""Marks an SQLite file as a cache of Quorum, in its header (`QUOR`)."""

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_ID = slice(68, 72)
"""Position of the application id in the header (sqlite.org/fileformat2.html, 1.3)."""


class NotOurs(Exception):
    """A file is not a cache of Quorum; it is neither read nor changed."""


def is_marked(path: Path) -> bool:
    """Return whether a file's header marks it as a cache of Quorum, however damaged the rest is.

    Caches from before version 0.10 have no mark; `check_tables` recognizes them.

    Raises:
        NotOurs: it is not a regular file, not an SQLite file, or a file of another application.
        OSError: it cannot be read.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotOurs("it is not a regular file")
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if not header:
        return False
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise NotOurs("it is not an SQLite file")
    mark = int.from_bytes(header[_ID], "big")
    if mark not in (0, APPLICATION_ID):
        raise NotOurs("it is a database of another application")
    return mark == APPLICATION_ID


def check_tables(connection: sqlite3.Connection) -> None:
    """Refuse an unmarked database with anything but answers.

    Raises:
        NotOurs: it holds something else.
        sqlite3.Error: it cannot be read.
    """
    names = {name for (name,) in connection.execute("select name from sqlite_master where name not like 'sqlite_%'")}
    if others := sorted(names - {"answers"}):
        raise NotOurs(f"it is a database with other tables: {', '.join(others[:3])}")


def make(path: Path) -> None:
    """Create an empty file and its folders, readable only by its user; leave an existing file unchanged.

    SQLite gives the files that it creates next to it the same permissions.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def make_private(path: Path) -> None:
    """Remove other users' permissions from a cache that had them."""
    with suppress(PermissionError):  # owned by another user, who shares it on purpose
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)


def remove(path: Path) -> None:
    """Delete a cache and the files that SQLite keeps next to it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


_log = logging.getLogger(__name__)

BUSY_SECONDS = 30.0


class Cache:
    """A file of answers by key. One object per process; not for network file systems, whose locks are unreliable.

    Damaged entries are misses, and a failure to store an answer is not an error: a cache never ends an episode.

    Args:
        path: the file, created with its folders if missing; readable only by its user.

    Raises:
        quorum.agents.llm.cache.NotOurs: the file exists and is not a cache of Quorum; it is left unchanged.
        OSError, sqlite3.Error: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._damage_logged = False
        marked = path.exists() and is_marked(path)
        make(path)
        self._file = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            if not marked:
                check_tables(self._file)
            make_private(path)
            self._share()
            self._file.execute("pragma synchronous = normal")
            if not marked:
                self._file.execute(f"pragma application_id = {APPLICATION_ID}")
            self._file.execute(
                "create table if not exists answers (key text primary key, reply blob not null) without rowid"
            )
        except BaseException:
            self._file.close()
            raise

    def _share(self) -> None:
        """Let many processes use the file. SQLite does not wait for locks when the mode changes, so this does."""
        end = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                self._file.execute("pragma journal_mode = wal")
            except sqlite3.OperationalError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.01)
            else:
                return

    def get(self, key: str) -> Reply | None:
        """Return the answer of a key; None if it is missing or unreadable."""
        try:
            row = self._file.execute("select reply from answers where key = ?", (key,)).fetchone()
            return None if row is None else read_reply(orjson.loads(row[0]))
        except (sqlite3.Error, KeyError, TypeError, ValueError) as error:
            self._log_damage(error)
            return None

    def put(self, key: str, reply: Reply) -> Reply:
        """Store an answer and return the stored one: the first of several processes wins, but never a damaged entry."""
        content = orjson.dumps(describe_reply(reply))
        try:
            if self._file.execute("insert or ignore into answers values (?, ?)", (key, content)).rowcount:
                return reply
            kept = self.get(key)
            if kept is None:
                self._file.execute("insert or replace into answers values (?, ?)", (key, content))
        except sqlite3.Error as error:
            self._log_damage(error)
            return reply
        return kept or reply

    def _log_damage(self, error: Exception) -> None:
        """Log once that some entries cannot be read or stored."""
        if not self._damage_logged:
            self._damage_logged = True
            _log.warning(
                "the cache %s is damaged or cannot be written (%s: %s); missing answers come from the model again",
                self.path, type(error).__name__, error,
            )  # fmt: skip

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class Cached:
    """A model with a cache.

    Args:
        model: the model.
        cache: the cache.
        identity: everything besides the request that reaches the model: a provider's `identity`.
        sampled: whether to cache answers sampled above temperature 0 or at a temperature chosen by the provider.
    """

    def __init__(self, model: Model, cache: Cache, identity: Mapping[str, str], *, sampled: bool) -> None:
        self._model = model
        self._cache = cache
        self._identity = dict(identity)
        self._sampled = sampled
        self._asking: dict[str, asyncio.Lock] = {}

    async def complete(self, request: Request) -> Reply:
        """Answer from the cache, or call the model and store its answer. Concurrent equal requests share one call."""
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
