"""The file of a cache: whose it is, who may read it, and how one that is damaged goes away."""

from __future__ import annotations

import os
import sqlite3
import stat
from contextlib import suppress
from pathlib import Path

APPLICATION_ID = 0x51554F52
"""Marks a file of SQLite as a cache of ours, in its header (`QUOR`)."""

_MAGIC = b"SQLite format 3\0"
_HEADER = 100
_ID = slice(68, 72)
"""Where the application's mark stands in the header (sqlite.org/fileformat2.html, 1.3)."""


class NotOurs(Exception):
    """A file is no cache of Quorum: it is neither read nor changed."""


def is_marked(path: Path) -> bool:
    """Return whether the header of a file says that it is a cache of ours, however damaged the rest is.

    Caches from before version 0.10 have no mark; `check_tables` knows them.

    Raises:
        NotOurs: it is no regular file, no file of SQLite, or the file of another application.
        OSError: it cannot be read.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise NotOurs("it is no regular file")
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if not header:
        return False
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise NotOurs("it is no file of SQLite")
    mark = int.from_bytes(header[_ID], "big")
    if mark not in (0, APPLICATION_ID):
        raise NotOurs("it is the database of another application")
    return mark == APPLICATION_ID


def check_tables(connection: sqlite3.Connection) -> None:
    """Refuse a database without a mark that holds something else than answers.

    Raises:
        NotOurs: it does.
        sqlite3.Error: it cannot be read.
    """
    names = {name for (name,) in connection.execute("select name from sqlite_master where name not like 'sqlite_%'")}
    if strangers := sorted(names - {"answers"}):
        raise NotOurs(f"it is a database that holds {', '.join(strangers[:3])}")


def make(path: Path) -> None:
    """Make an empty file, and its folders, that only its user may read; one that is there is left as it is.

    SQLite gives the files that it puts beside it the same rights.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def make_private(path: Path) -> None:
    """Take the rights of others from a file of ours that had them."""
    with suppress(PermissionError):  # another user's, who shares it with us on purpose
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)


def remove(path: Path) -> None:
    """Delete a cache, with the files that SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
