"""What files share: they are there whole or not at all, also after a power cut; what is wrong is said in a line."""

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
"""What is no file, as messages call it."""
_log = logging.getLogger(__name__)

_AT_ONCE = 8
"""Files that are brought to disk at once: file systems write down together what is asked for together."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
"""Answers of file systems on which there is no more room."""


@contextmanager
def os_errors(what: str, hint: str = "") -> Iterator[None]:
    """Report an error of the file system in one message.

    Args:
        what: cannot be done, with the file.
        hint: what to do.

    Raises:
        UserError: in the place of an `OSError`.
    """
    try:
        yield
    except OSError as error:
        raise UserError(f"{what}: {error.strerror or error}", hint) from error


def sync(paths: Iterable[Path]) -> None:
    """Bring files and folders to disk: from then on they survive a power cut.

    The name of a file is part of its folder, and survives with that.

    Raises:
        OSError: the disk does not take them.
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


def write_all(folder: Path, files: Mapping[str, bytes], hint: str = "") -> None:
    """Write or replace files that belong together: a reader meets the old ones or the new ones.

    None gets its name before all of them are on disk.

    Args:
        folder: that the user named, or that was made by us.
        files: all of each by its name in the folder, with `/` between folders that are there.
        hint: what to do when they cannot be written.

    Raises:
        UserError: one cannot be written there, or what stands there is no file; none is replaced, and nothing is left.
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
