"""Locks of the operating system on open files: they are gone with the process that holds them, however it ends."""

from __future__ import annotations

import errno
import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from quorum_base.forks import close_in_children
from quorum_base.inside import open_inside
from quorum_base.user_errors import UserError

LOCK = ".lock"
"""The file that says who is at work in a folder."""
_UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
_BUSY = {errno.EWOULDBLOCK, errno.EACCES}


def open_lock(folder: Path, name: str) -> IO[bytes]:
    """Open the file of a lock, which is made if need be.

    Raises:
        NotAFile: what has its name is no regular file.
        OSError: it cannot be opened.
    """
    opened = open_inside(folder, name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    return close_in_children(os.fdopen(opened, "ab+", buffering=0))


def take_lock(file: IO[bytes], kind: int) -> bool:
    """Lock an open file; where the file system knows no locks, take that for a yes."""
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return True
        if error.errno not in _BUSY:
            raise
        return False
    return True


@contextmanager
def one_at_work(folder: Path, verb: str, hint: str) -> Iterator[None]:
    """Hold a folder, which exists, for one command at a time.

    Args:
        folder: in which the command works.
        verb: of the command.
        hint: what to do while another one is at work.

    Raises:
        UserError: another command holds it.
    """
    with open_lock(folder, LOCK) as file:
        if not take_lock(file, fcntl.LOCK_EX):
            file.seek(0)
            raise UserError(f"{folder}: another quorum {verb} is at work in this folder ({file.read().decode()})", hint)
        with suppress(OSError):  # what must be written reports that the disk is full
            file.truncate(0)
            file.write(f"process {os.getpid()} on {platform.node()}".encode())
        yield
