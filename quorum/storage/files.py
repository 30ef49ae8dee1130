"""Shared file operations: atomic, durable writes, and one-line error messages."""

from __future__ import annotations

import errno
import logging
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from quorum_base.inside import NotAFile, sync_folder, write_inside
from quorum_base.user_errors import UserError

_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
"""Names of things that are not regular files, for messages."""
_log = logging.getLogger(__name__)

_AT_ONCE = 8
"""Files flushed to disk in parallel: file systems combine concurrent requests."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Error codes of file systems without free space."""


@contextmanager
def os_errors(what: str, hint: str = "") -> Iterator[None]:
    """Convert a file system error into a single message.

    Args:
        what: what cannot be done, including the file.
        hint: what to do.

    Raises:
        UserError: replaces an `OSError`.
    """
    try:
        yield
    except OSError as error:
        raise UserError(f"{what}: {error.strerror or error}", hint) from error


def sync(paths: Iterable[Path]) -> None:
    """Flush files and folders to disk, so that they survive a power cut.

    The name of a file is part of its folder, and survives only with that.

    Raises:
        OSError: the disk does not accept them.
    """
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        list(threads.map(_sync, paths))


def _sync(path: Path) -> None:
    if path.is_dir():
        sync_folder(path)
        return
    with path.open("rb") as file:
        os.fsync(file.fileno())


def make_folder(folder: Path) -> None:
    """Create a folder and its parents if necessary, durably even after a power cut.

    Raises:
        OSError: it cannot be created.
    """
    made = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    sync(path.parent for path in made)


@contextmanager
def folder_for(folder: Path) -> Iterator[None]:
    """Create a folder for the code inside; if that fails, remove created folders that are still empty.

    Raises:
        OSError: it cannot be created.
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


def write_all(folder: Path, files: Mapping[str, bytes], hint: str = "") -> None:
    """Write or replace files that belong together: a reader sees either the old ones or the new ones.

    No file gets its name before all of them are on disk.

    Args:
        folder: folder that the user named or that we created.
        files: contents by name in the folder, with `/` between existing folders.
        hint: what to do if they cannot be written.

    Raises:
        UserError: one cannot be written, or its name belongs to something that is not a file; none is replaced, and no
            new file is left behind.
    """
    for name in files:
        require_file(folder / name, hint)
    try:
        write_inside(folder, files)
    except NotAFile:
        raise
    except OSError as error:
        raise UserError(
            f"{error.filename}: cannot be written: {error.strerror or error}", _way_out(error, hint)
        ) from error
    for name in files:
        _log.info("wrote %s", folder / name)


def _way_out(error: OSError, hint: str) -> str:
    if error.errno not in _FULL:
        return hint
    return f"Make room, or {hint[0].lower()}{hint[1:]}" if hint else "Make room, and run the command again."


def require_file(target: Path, hint: str = "", name: str = "") -> None:
    """Check that a path is free or a regular file: a device, pipe or link must not be replaced.

    Args:
        target: the path.
        hint: what to do otherwise.
        name: its name in messages; empty: its path.

    Raises:
        UserError: it is something else.
    """
    try:
        mode = target.lstat().st_mode
    except OSError:
        return  # nothing is there; or it cannot be examined, and writing reports why
    if not stat.S_ISREG(mode):
        kind = next((words for is_kind, words in _KINDS if is_kind(mode)), "a special file")
        raise UserError(f"{name or target}: it is {kind}, which Quorum does not replace", hint)
