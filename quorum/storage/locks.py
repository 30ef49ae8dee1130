"""Operating system locks on open files, which are released however the process that holds them ends."""

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
"""The file that marks a folder as in use."""
_UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS}
_BUSY = {errno.EWOULDBLOCK, errno.EACCES}


def open_lock(folder: Path, name: str) -> IO[bytes]:
    """Open the file of a lock, and create it if necessary.

    Raises:
        NotAFile: its name belongs to something that is not a regular file.
        OSError: it cannot be opened.
    """
    opened = open_inside(folder, name, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    return close_in_children(os.fdopen(opened, "ab+", buffering=0))


def take_lock(file: IO[bytes], kind: int) -> bool:
    """Lock an open file; return whether it succeeded, and True if the file system has no locks."""
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
    """Hold an existing folder for one command at a time.

    Args:
        folder: folder of the command.
        verb: verb of the command.
        hint: what to do while another command holds it.

    Raises:
        UserError: another command holds it.
    """
    with open_lock(folder, LOCK) as file:
        if not take_lock(file, fcntl.LOCK_EX):
            file.seek(0)
            raise UserError(f"{folder}: another quorum {verb} is running in this folder ({file.read().decode()})", hint)
        with suppress(OSError):  # a full disk is reported by the essential writes
            file.truncate(0)
            file.write(f"process {os.getpid()} on {platform.node()}".encode())
        yield
