"""The folder of an episode: written under a passing name, and renamed when it is whole.

While it is written its process holds a lock of the operating system on it, which is gone with the process, however that
ends: so a reader can tell an episode under way from one that was killed.
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
"""Stands between the name of a cell and a random number in the passing name of its folder."""

_TAKEN = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR}
_STORAGE = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO, errno.ESTALE}


class Unwritable(UserError):
    """Results cannot be written: the disk is full, or the folder is closed to us."""


def is_storage(error: BaseException) -> bool:
    """Whether an error says that nothing more can be written, whatever is tried."""
    return isinstance(error, OSError) and error.errno in _STORAGE


class EpisodeFolder:
    """A folder of results that is on its way.

    Args:
        out: the folder that holds the results of many episodes; it is made if need be.
        name: final name. When it is taken, `name.2`, `name.3` ... are tried: nothing is ever overwritten.
        once: whether the cell is there once and for all: when the name is taken, this folder is removed instead.

    Raises:
        Unwritable: nothing can be written there.
    """

    def __init__(self, out: Path, name: str, *, once: bool = False) -> None:
        self._name = name
        self._once = once
        self._made = [folder for folder in (out, *out.parents) if not folder.exists()]
        self.path = out / f"{name}{PARTIAL}{secrets.token_hex(4)}"
        """Where the folder is now."""
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
        """Give the folder its final name, safely while other processes finish the same cell.

        What it holds is on disk before it gets the name, and the name when this returns. So what a power cut leaves
        under a final name is whole.

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
        """Mark the folder as under way, and remove it when what is done inside fails since nothing can be written.

        Raises:
            Unwritable: it failed so.
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
        """Remove the folder, and those above it that were made for it and are still empty."""
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
    """Whether a process writes a folder just now. Where the file system has no locks nobody can say: then it is no."""
    try:
        with _opened(folder) as opened:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno in (errno.EWOULDBLOCK, errno.EACCES)
    return False


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold the lock on a folder; do without where there are none."""
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
