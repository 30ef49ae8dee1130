"""The folder of an episode: written under a temporary name, and renamed once it is complete.

While a process writes the folder, it holds an operating system lock on it. The lock disappears with the process,
however that ends, so a reader can tell a running episode from a killed one.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from quorum.storage.files import make_folder, sync
from quorum_base.forks import close_in_children
from quorum_base.inside import move_inside, remove_inside
from quorum_base.user_errors import UserError

_log = logging.getLogger(__name__)

PARTIAL = ".partial-"
"""Separates the cell's name from a random number in the temporary name of its folder."""

_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}
_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO, errno.ESTALE}


class Unwritable(UserError):
    """Results cannot be written: the disk is full, or the folder is not writable."""


def is_storage(error: BaseException) -> bool:
    """Whether an error means that no further write can succeed."""
    return isinstance(error, OSError) and error.errno in _STORAGE


class EpisodeFolder:
    """A results folder in progress.

    Args:
        out: the folder that holds the results of many episodes; created if necessary.
        name: final name. If it is taken, `name.2`, `name.3` ... are tried: nothing is ever overwritten.
        once: whether the cell may exist only once: if the name is taken, this folder is removed instead.

    Raises:
        Unwritable: nothing can be written there.
    """

    def __init__(self, out: Path, name: str, *, once: bool = False) -> None:
        self._name = name
        self._once = once
        self._made = [folder for folder in (out, *out.parents) if not folder.exists()]
        self.path = out / f"{name}{PARTIAL}{secrets.token_hex(4)}"
        """Current path of the folder."""
        try:
            make_folder(out)
            self.path.mkdir()
        except OSError as error:
            self.discard()
            raise Unwritable(
                f"--out {out}: results cannot be written there: {error.strerror or error}",
                "Give another folder: --out DIR.",
            ) from error

    def finish(self) -> Path:
        """Give the folder its final name, even while other processes finish the same cell.

        Its contents are on disk before it gets the name, and the name is on disk when this returns. So a folder with a
        final name is complete even after a power cut.

        Raises:
            OSError: nothing more can be written there.
        """
        sync([self.path, *self.path.rglob("*")])
        for number in count(1):
            target = self.path.with_name(self._name if number == 1 else f"{self._name}.{number}")
            try:
                move_inside(self.path.parent, self.path.name, target.name)
            except OSError as error:
                if error.errno not in _TAKEN:
                    raise
                if self._once:
                    self._remove()
                    self.path = target
                    break
            else:
                self.path = target
                break
        sync([self.path.parent])
        _log.info("wrote %s", self.path)
        return self.path

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Mark the folder as running, and remove it if the code inside fails because the disk cannot be written.

        Raises:
            Unwritable: the code inside failed for that reason.
        """
        try:
            with _held(self.path):
                yield
        except OSError as error:
            if not is_storage(error):
                raise
            self.discard()
            raise Unwritable(
                f"{self.path.parent}: results cannot be written there: {error.strerror}",
                "Make room, or give another folder: --out DIR.",
            ) from error

    def discard(self) -> None:
        """Remove the folder, and parent folders that were created for it and are still empty."""
        self._remove()
        for folder in self._made:
            try:
                folder.rmdir()
            except OSError:
                break

    def _remove(self) -> None:
        with suppress(OSError):
            remove_inside(self.path.parent, self.path.name)


def is_under_way(folder: Path) -> bool:
    """Whether a process is writing a folder right now. False if the file system has no locks, as nothing can tell."""
    try:
        with _opened(folder) as opened:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    return False


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the lock on a folder, if the file system has locks."""
    with _opened(folder) as opened:
        with suppress(OSError):
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    with close_in_children(ExitStack()) as closing:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        closing.callback(os.close, opened)
        yield opened
