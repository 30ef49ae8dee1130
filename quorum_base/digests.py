"""Digests of what a configuration names without holding it: texts and files."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from functools import lru_cache
from pathlib import Path

_SETTLED = 2_000_000_000
"""Nanoseconds: a file that was changed later than this ago may change again without its time telling."""


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def digest_file(file: Path) -> str | None:
    """Return the SHA-256 of a file, in hexadecimal; None where there is no regular file that can be read.

    It is read again only when its size, its number or its times have changed since.
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
    """Return the SHA-256 of a file, in hexadecimal, whatever is known of it.

    Raises:
        OSError: it cannot be read.
    """
    with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
