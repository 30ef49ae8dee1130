"""What files share: they are there whole or not at all, also after a power cut; what is wrong is said in a line."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from maeil.user_errors import UserError

_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""What is no file, as messages call it."""
_log = logging.getLogger(__name__)

_AT_ONCE = 8
"""Files that are brought to disk at once: file systems write down together what is asked for together."""
_NO_FOLDERS = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""Answers of file systems on which folders cannot be synced."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Answers of file systems on which there is no more room."""


def sync(paths: Iterable[Path]) -> None:
    """Bring files and folders to disk: from then on they survive a power cut.

    The name of a file is part of its folder, and survives with that.

    Raises:
        OSError: the disk does not take them.
    """
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(_sync, paths))


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        if not (path.is_dir() and error.errno in _NO_FOLDERS):
            raise
    finally:
        os.close(handle)


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def make_folder(folder: Path) -> None:
    """Make a folder with those above it, if need be, so that they survive a power cut.

    Raises:
        OSError: it cannot be made.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    sync(path.parent for path in made)


@contextmanager
def folder_for(folder: Path) -> Iterator[None]:
    """Make a folder for what is done inside; where that fails, take away what was made and is still empty.

    Raises:
        OSError: it cannot be made.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        make_folder(folder)
        yield
    except BaseException:
        with suppress(OSError):
            for path in made:
                path.rmdir()
        raise


def write_whole(target: Path, data: bytes, hint: str = "") -> None:
    """Write a file, or replace it, in one step: a reader meets the old one or the new one.

    Args:
        target: the file.
        data: all of it.
        hint: what to do when it cannot be written.

    Raises:
        UserError: it cannot be written there, or what stands there is no file; nothing is left on disk.
    """
    write_all({target: data}, hint)


def write_all(files: Mapping[Path, bytes], hint: str = "") -> None:
    """Write or replace files that belong together: none gets its name before all of them are on disk.

    Args:
        files: the files, and all of each.
        hint: what to do when they cannot be written.

    Raises:
        UserError: one cannot be written there, or what stands there is no file; none is replaced, and nothing is left.
    """
    for target in files:
        require_file(target, hint)
    passing = {target: target.with_name(f".{target.name}.{secrets.token_hex(4)}") for target in files}
    target = next(iter(files))
    try:
        for target, data in files.items():
            with passing[target].open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for target in files:
            passing[target].replace(target)
        for folder in {target.parent for target in files}:
            _sync(folder)
    except OSError as error:
        for left in passing.values():
            with suppress(OSError):  # where nothing can be written, nothing can be removed
                left.unlink(missing_ok=True)
        raise UserError(f"{target}: cannot be written: {error.strerror or error}", _way_out(error, hint)) from error
    for target in files:
        _log.info("wrote %s", target)


def _way_out(error: OSError, hint: str) -> str:
    if error.errno not in _FULL:
        return hint
    return f"Make room; or {hint[0].lower()}{hint[1:]}" if hint else "Make room, and type it again."


def require_file(target: Path, hint: str = "", name: str = "") -> None:
    """Require that what stands at a place, if anything, is a file: to replace a device, a pipe or a link is no writing.

    Args:
        target: the place.
        hint: what to do otherwise.
        name: what messages call it; empty: its path.

    Raises:
        UserError: it is none.
    """
    try:
        mode = target.lstat().st_mode
    except OSError:
        return  # there is nothing; or it cannot be seen, and then writing says why
    if not stat.S_ISREG(mode):
        kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "no file")
        raise UserError(f"{name or target}: it is {kind}, and is not replaced", hint)
