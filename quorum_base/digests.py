"""Digests of texts and files that a configuration refers to."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from functools import lru_cache
from pathlib import Path

_SETTLED = 2_000_000_000
"""Nanoseconds: a file changed more recently than this may change again without a new modification time."""


def digest(data: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def digest_file(file: Path) -> str | None:
    """Return the SHA-256 of a file, in hexadecimal; None if it is not a readable regular file.

    The file is read again only after its size, its inode number or its times have changed.
    """
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            return None
        if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < _SETTLED:
            return digest_now(file)
        return _settled(file, status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
    except OSError:
        return None


@lru_cache(maxsize=4096)
def _settled(file: Path, _size: int, _number: int, _changed: int, _moved: int) -> str:
    return digest_now(file)


def digest_now(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal, without using the cache.

    Raises:
        OSError: the file cannot be read.
    """
    with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
