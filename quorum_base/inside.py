"""Safe access to files in an untrusted folder: only regular files, and nothing outside the folder.

A name in an untrusted folder can be a link to one of your own files, a pipe that never ends or a device. So each part
of a name is opened relative to the one before it, links are not followed, and only regular files are opened.
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
"""Error codes of the systems for a link that must not be followed."""
_NO_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EBADF}
"""Error codes of file systems that cannot sync folders."""


class NotAFile(UserError, OSError):
    """The name belongs to a link, a folder, a pipe or a device, or to a file with several names; see `strerror`."""

    def __init__(self, reason: str, path: Path) -> None:
        super().__init__(
            f"{path}: {reason}",
            "The folder may come from someone else: move this entry away, or use a folder of yours.",
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
        folder: its own path may contain links, since the user named it.
        name: name of the file, with `/` between folders.
        flags: as in `os.open`, but without `O_TRUNC`: nothing may be truncated before it is known to be a regular file.
        mode: permissions of a new file, as in `os.open`.

    Raises:
        NotAFile: the path contains a link, or the name is not that of a regular file, or the file is opened for writing
            and has a second name.
        OSError: as `os.open`.
        ValueError: the name leads out of the folder.
    """
    assert not flags & os.O_TRUNC
    with _above(folder, name) as (place, last):
        try:
            # Opening a pipe would block until its other end is opened.
            handle = os.open(last, flags | _BELOW | os.O_NONBLOCK, mode, dir_fd=place)
        except OSError as error:
            raise _explained(error, place, last, folder / name) from None
    status, reads = os.fstat(handle), flags & os.O_ACCMODE == os.O_RDONLY
    if not stat.S_ISREG(status.st_mode):
        reason = "it is not a file"
    elif reads or status.st_nlink <= 1:
        return handle
    else:  # writing in place would change the file under all of its names
        reason = "it has a second name (a hard link), which may be outside this folder"
    os.close(handle)
    raise NotAFile(reason, folder / name)


def write_inside(folder: Path, files: Mapping[str, bytes], mode: int = 0o666, *, synced: bool = True) -> None:
    """Write or replace files inside a folder. All are written under temporary names before any is renamed.

    Args:
        folder: as in `open_inside`.
        files: the data by name; the parent folders must exist.
        mode: permissions of the files, as in `os.open`.
        synced: sync the data to disk before renaming, and the names before returning, so that the files survive a power
            cut.

    Raises:
        OSError: as `open_inside`; `filename` names the file that cannot be written. No file has been replaced, unless
            a later name is that of a folder.
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
                with suppress(OSError):  # if writing failed, removing may fail as well
                    os.unlink(own, dir_fd=place)
            if isinstance(error, OSError):
                error.filename = str(folder / name)
            raise
        for above in {os.path.dirname(name) for name in files} if synced else ():
            sync_folder(folder / above)


def sync_folder(folder: Path) -> None:
    """Sync the names in a folder to disk, if the file system supports it.

    Raises:
        OSError: the disk reports an error.
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
    """Return the sorted names in a subfolder; an empty list if it does not exist or its path contains a link.

    Raises:
        OSError: it cannot be read.
        ValueError: the name leads out of the folder.
    """
    with suppress(FileNotFoundError, NotADirectoryError, NotAFile), _above(folder, f"{name}/any") as (place, _):
        return sorted(os.listdir(place))
    return []


def make_inside(folder: Path, name: str, mode: int = 0o777) -> None:
    """Create a subfolder and its parents; existing folders stay as they are.

    Raises:
        NotAFile: a part of the path is a link or a file.
        OSError: as `os.mkdir`.
        ValueError: the name leads out of the folder.
    """
    parts = name.split("/")
    for depth in range(len(parts)):
        with _above(folder, "/".join(parts[: depth + 1])) as (place, last), suppress(FileExistsError):
            os.mkdir(last, mode, dir_fd=place)
    with _above(folder, f"{name}/any"):  # opens every part of the path, and so checks that each is a folder
        pass


def move_inside(folder: Path, name: str, to: str) -> None:
    """Rename a file, a folder or a link inside a folder; the target of a link stays where it is.

    Raises:
        NotAFile: the path to it contains a link.
        OSError: as `os.rename`.
        ValueError: a name leads out of the folder.
    """
    with _above(folder, name) as (source, last), _above(folder, to) as (target, new):
        os.rename(last, new, src_dir_fd=source, dst_dir_fd=target)


def remove_inside(folder: Path, name: str) -> None:
    """Remove a file, a folder with its contents, or a link (but not its target), if it exists.

    Raises:
        OSError: as `os.unlink`. Parts of a folder that cannot be removed stay, without an error.
        ValueError: the name leads out of the folder.
    """
    with suppress(FileNotFoundError), _above(folder, name) as (place, last):
        if stat.S_ISDIR(os.lstat(last, dir_fd=place).st_mode):
            shutil.rmtree(last, ignore_errors=True, dir_fd=place)
        else:
            os.unlink(last, dir_fd=place)


@contextmanager
def _above(folder: Path, name: str) -> Iterator[tuple[int, str]]:
    """Open the parent folder of a name without following links below `folder`; yield it and the name's last part."""
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
    """Return a more specific error if the name is a link, or has the wrong type; otherwise return the same error."""
    if error.errno in _LINKED:
        with suppress(OSError):
            if stat.S_ISLNK(os.lstat(name, dir_fd=place).st_mode):
                return NotAFile("it is a link, which is not followed", path)
    if error.errno in (errno.EISDIR, errno.ENXIO):
        return NotAFile("it is not a file", path)
    if error.errno == errno.ENOTDIR:
        return NotAFile("it is not a folder", path)
    return error
