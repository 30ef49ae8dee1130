"""Files inside a folder that may be untrusted: nothing outside it is reached, and nothing but regular files is opened.

A name in a folder of somebody else can be a link to a file of yours, a pipe that never ends or a device. So each part
of a name is opened below the one before it, links are not followed, and what is opened must be a regular file.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from quorum_base.user_errors import UserError

_BELOW = os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY
_LINKED = {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}
"""What systems answer where a link stands and must not be followed."""
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""Answers of file systems on which folders cannot be synced."""


class NotAFile(UserError, OSError):
    """What has the name is a link, a folder, a pipe or a device; `strerror` says which it may be."""

    def __init__(self, reason: str, path: Path) -> None:
        super().__init__(
            f"{path}: {reason}",
            "The folder may come from somebody else: move that away, or use a folder of your own.",
        )
        self.errno, self.strerror, self.filename = errno.EINVAL, reason, str(path)
        self._made_of = reason, path

    def __str__(self) -> str:
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return NotAFile, self._made_of


def open_inside(folder: Path, name: str, flags: int, mode: int = 0o666) -> int:
    """Open a regular file inside a folder, and return its descriptor.

    Args:
        folder: it may itself be reached by links, since the user named it.
        name: of the file, with `/` between folders.
        flags: as of `os.open`, but for `O_TRUNC`: what is no file must not be cut before that is known.
        mode: of a file that is made, as of `os.open`.

    Raises:
        NotAFile: a link stands there or on the way, or what has the name is no regular file, or is to be written and
            has a second name.
        OSError: as `os.open`.
        ValueError: the name leads out of the folder.
    """
    assert not flags & os.O_TRUNC
    with _above(folder, name) as (place, last):
        try:
            # A pipe would keep us waiting for its other end.
            handle = os.open(last, flags | _BELOW | os.O_NONBLOCK, mode, dir_fd=place)
        except OSError as error:
            raise _explained(error, place, last, folder / name) from None
    status, reads = os.fstat(handle), flags & os.O_ACCMODE == os.O_RDONLY
    if not stat.S_ISREG(status.st_mode):
        reason = "it is no file"
    elif reads or status.st_nlink <= 1:
        return handle
    else:  # what is written in place is written under all of its names
        reason = "it has a second name (a hard link), which may stand elsewhere"
    os.close(handle)
    raise NotAFile(reason, folder / name)


def write_inside(folder: Path, files: Mapping[str, bytes], mode: int = 0o666, *, synced: bool = True) -> None:
    """Write files inside a folder, or replace what has their names: none gets its name before all are written.

    Args:
        folder: as of `open_inside`.
        files: the data by name; the folders that a name goes through are there.
        mode: of the files, as of `os.open`.
        synced: whether they are on disk before they get their names, and these when this returns, so that they survive
            a power cut.

    Raises:
        OSError: as `open_inside`; `filename` is that of the file which cannot be written. None is replaced, unless what
            has the name of a later one is a folder.
        ValueError: a name leads out of the folder.
    """
    passing: dict[tuple[int, str], str] = {}
    name = ""
    with ExitStack() as opened:
        try:
            for name, data in files.items():
                place, last = opened.enter_context(_above(folder, name))
                passing[place, last] = own = f".{last}.{secrets.token_hex(4)}"
                handle = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BELOW, mode, dir_fd=place)
                with open(handle, "wb") as file:
                    file.write(data)
                    file.flush()
                    if synced:
                        os.fsync(file.fileno())
            for (place, last), own in passing.items():
                os.replace(own, last, src_dir_fd=place, dst_dir_fd=place)
        except BaseException as error:
            for (place, _), own in passing.items():
                with suppress(OSError):  # where nothing can be written, nothing can be removed
                    os.unlink(own, dir_fd=place)
            if isinstance(error, OSError):
                error.filename = str(folder / name)
            raise
        for above in {os.path.dirname(name) for name in files} if synced else ():
            sync_folder(folder / above)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to disk, where the file system can.

    Raises:
        OSError: the disk does not take them.
    """
    handle = os.open(folder, _FOLDER | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(handle)


def list_inside(folder: Path, name: str) -> list[str]:
    """Return the sorted names in a folder inside a folder; none where there is no such folder, or a link stands there.

    Raises:
        OSError: it cannot be looked into.
        ValueError: the name leads out of the folder.
    """
    with suppress(FileNotFoundError, NotADirectoryError, NotAFile), _above(folder, f"{name}/any") as (place, _):
        return sorted(os.listdir(place))
    return []


def make_inside(folder: Path, name: str, mode: int = 0o777) -> None:
    """Make a folder inside a folder, with those between them; what is there stays.

    Raises:
        NotAFile: a link or a file stands there or on the way.
        OSError: as `os.mkdir`.
        ValueError: the name leads out of the folder.
    """
    parts = name.split("/")
    for depth in range(len(parts)):
        with _above(folder, "/".join(parts[: depth + 1])) as (place, last), suppress(FileExistsError):
            os.mkdir(last, mode, dir_fd=place)
    with _above(folder, f"{name}/any"):  # which opens them all
        pass


def move_inside(folder: Path, name: str, to: str) -> None:
    """Give something inside a folder another name there; a link is moved, and its target stays.

    Raises:
        NotAFile: a link stands on the way.
        OSError: as `os.rename`.
        ValueError: a name leads out of the folder.
    """
    with _above(folder, name) as (source, last), _above(folder, to) as (target, new):
        os.rename(last, new, src_dir_fd=source, dst_dir_fd=target)


def remove_inside(folder: Path, name: str) -> None:
    """Remove what has a name inside a folder, if anything has: a folder with all in it; of a link the name alone.

    Raises:
        OSError: as `os.unlink`; what cannot be removed of a folder stays.
        ValueError: the name leads out of the folder.
    """
    with suppress(FileNotFoundError), _above(folder, name) as (place, last):
        if stat.S_ISDIR(os.lstat(last, dir_fd=place).st_mode):
            shutil.rmtree(last, ignore_errors=True, dir_fd=place)
        else:
            os.unlink(last, dir_fd=place)


@contextmanager
def _above(folder: Path, name: str) -> Iterator[tuple[int, str]]:
    """Open the folder that a name stands in, without following a link below the first one; give the last part, too."""
    *above, last = name.split("/")
    if any(part in ("", ".", "..") for part in (*above, last)):
        raise ValueError(f"{name!r} leads out of its folder")
    place, way = os.open(folder, _FOLDER | os.O_CLOEXEC), folder
    try:
        for part in above:
            way /= part
            try:
                below = os.open(part, _FOLDER | _BELOW, dir_fd=place)
            except OSError as error:
                raise _explained(error, place, part, way) from None
            os.close(place)
            place = below
        yield place, last
    finally:
        os.close(place)


def _explained(error: OSError, place: int, name: str, path: Path) -> OSError:
    """Return the error for what cannot be opened: a link is named as such."""
    if error.errno in _LINKED:
        with suppress(OSError):
            if stat.S_ISLNK(os.lstat(name, dir_fd=place).st_mode):
                return NotAFile("it is a link, which is not followed", path)
    if error.errno in (errno.EISDIR, errno.ENXIO):
        return NotAFile("it is no file", path)
    if error.errno == errno.ENOTDIR:
        return NotAFile("it is no folder", path)
    return error
