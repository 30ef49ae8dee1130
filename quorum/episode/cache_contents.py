"""`quorum cache`: the language model answers that are cached on disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from quorum.agents.llm.cache import Cache, NotOurs, is_marked, remove
from quorum.episode.model_pool import default_cache
from quorum.storage.files import os_errors
from quorum_base.user_errors import UserError


@dataclass(frozen=True, slots=True)
class CacheContents:
    """The contents of a cache.

    Attributes:
        path: its file.
        entries: number of answers.
        bytes: size on disk.
        forgotten: answers just removed.
        damage: why it cannot be read; empty if it can.
    """

    path: Path
    entries: int
    bytes: int
    forgotten: int = 0
    damage: str = ""

    def to_json(self) -> dict[str, object]:
        """Return it as JSON-ready data."""
        return {**asdict(self), "path": str(self.path)}

    def text(self) -> str:
        """Return it as text."""
        if self.damage:
            return f"{self.path} is damaged ({self.damage}). `quorum cache clear` deletes it."
        forgotten = f"{self.forgotten} answers were deleted; " if self.forgotten else ""
        return f"{forgotten}{self.entries} answers, {self.bytes / 1e6:.1f} MB in {self.path}"


def cache_contents(path: Path | None, *, clear: bool = False) -> CacheContents:
    """Return the contents of a cache; a missing cache counts as empty and is not created.

    Args:
        path: its file; None for the default one.
        clear: whether to remove its answers first; a damaged file is removed entirely.

    Raises:
        UserError: it is not a Quorum cache (it is left untouched), or it cannot be opened.
    """
    with os_errors("cache: there is no default cache file"):
        usual = default_cache()
    path = path or usual
    if not path.exists():
        return CacheContents(path, 0, 0)
    try:
        with closing(Cache(path)) as cache:
            forgotten = cache.clear() if clear else 0
            stats = cache.stats()
    except (OSError, sqlite3.OperationalError) as error:  # locked, full or forbidden, but not damaged
        raise UserError(f"{path}: it cannot be opened: {error}") from error
    except (NotOurs, sqlite3.Error) as error:
        if not _is_ours(path, usual):
            raise UserError(f"{path}: it is not a Quorum cache: {error}", "It was left unchanged.") from error
        if not clear:
            return CacheContents(path, 0, path.stat().st_size, damage=str(error))
        remove(path)
        return CacheContents(path, 0, 0)
    return CacheContents(path, stats.entries, stats.bytes, forgotten)


def _is_ours(path: Path, usual: Path) -> bool:
    """Whether a file is a Quorum cache, by its default location or its marker."""
    with suppress(NotOurs, OSError):
        return (path == usual and path.is_file()) or is_marked(path)
    return False
