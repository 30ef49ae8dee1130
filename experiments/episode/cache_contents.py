"""`quorum cache`: the answers of language models that are kept on disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from maeil.user_errors import UserError
from quorum.agents.llm.cache import Cache
from quorum.experiments.episode.models import default_cache


@dataclass(frozen=True, slots=True)
class CacheContents:
    """What a cache holds.

    Attributes:
        path: its file.
        entries: number of answers.
        bytes: size on disk.
        forgotten: answers that were just thrown away.
    """

    path: Path
    entries: int
    bytes: int
    forgotten: int = 0

    def plain(self) -> dict[str, object]:
        """Return it as JSON-ready data."""
        return {"path": str(self.path), "entries": self.entries, "bytes": self.bytes, "forgotten": self.forgotten}

    def text(self) -> str:
        """Return it for a reader."""
        forgotten = f"{self.forgotten} answers are thrown away; " if self.forgotten else ""
        return f"{forgotten}{self.entries} answers, {self.bytes / 1e6:.1f} MB in {self.path}"


def cache_contents(path: Path | None, *, clear: bool = False) -> CacheContents:
    """Return what a cache holds; one that is not there yet holds nothing, and is not made.

    Args:
        path: its file; None for the usual one.
        clear: whether its answers are thrown away before.
    """
    path = path or default_cache()
    if not path.exists():
        return CacheContents(path, 0, 0)
    try:
        with closing(Cache(path)) as cache:
            forgotten = cache.clear() if clear else 0
            stats = cache.stats()
    except (OSError, sqlite3.Error) as error:
        raise UserError(f"{path}: it is no cache that can be opened: {error}") from error
    return CacheContents(path, stats.entries, stats.bytes, forgotten)
