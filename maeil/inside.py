"""Opening files inside a folder that may be untrusted: nothing outside it is reached, and nothing but files is opened.

A name in a folder of somebody else can be a link to a file of yours, a pipe that never ends or a device. So each part
of a name is opened below the one before it, links are not followed, and what is opened must be a regular file.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import accumulate
from pathlib import Path

_BELOW = os.O_NOFOLLOW | os.O_CLOEXEC
_LINKED = {errno.ELOOP, errno.ENOTDIR, errno.EMLINK}
"""What systems answer where a link stands and must not be followed."""


class NotAFile(OSError):
    """What has the name is a link, a folder, a pipe or a device; `strerror` says which it may be."""

    def __init__(self, reason: str, path: Path) -> None:
        super().__init__(errno.EINVAL, reason, str(path))


def open_inside(folder: Path, name: str, flags: int, mode: int = 0o644) -> int:
    """Open a regular file inside a folder, and return its descriptor.

    Args:
        folder: it may itself be reached by links, since the user named it.
        name: of the file, with `/` between folders.
        flags: as of `os.open`, but for `O_TRUNC`: what is no file must not be cut before that is known.
        mode: of a file that is made.

    Raises:
        NotAFile: a link stands there or on the way, or what has the name is no regular file.
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
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise NotAFile("it is no file", folder / name)


def write_inside(folder: Path, name: str, data: bytes, mode: int = 0o644) -> None:
    """Write a file inside a folder, or replace what has its name, in one step; it survives a power cut.

    Raises:
        OSError: as `open_inside`.
        ValueError: the name leads out of the folder.
    """
    with _above(folder, name) as (place, last):
        passing = f".{last}.{secrets.token_hex(4)}"
        handle = os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BELOW, mode, dir_fd=place)
        try:
            with open(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(passing, last, src_dir_fd=place, dst_dir_fd=place)
        except BaseException:
            with suppress(OSError):
                os.unlink(passing, dir_fd=place)
            raise
        with suppress(OSError):  # some file systems cannot sync a folder
            os.fsync(place)


def remove_inside(folder: Path, name: str) -> None:
    """Remove the name of a file inside a folder, if there is one; a link loses its name, not its target.

    Raises:
        OSError: as `os.unlink`.
        ValueError: the name leads out of the folder.
    """
    with suppress(FileNotFoundError), _above(folder, name) as (place, last):
        os.unlink(last, dir_fd=place)


def make_inside(folder: Path, name: str) -> None:
    """Make a folder inside a folder, with those between them; what is there stays.

    Raises:
        NotAFile: a link or a file stands there or on the way.
        OSError: as `os.mkdir`.
        ValueError: the name leads out of the folder.
    """
    for way in accumulate(name.split("/"), "{}/{}".format):
        with _above(folder, way) as (place, last), suppress(FileExistsError):
            os.mkdir(last, dir_fd=place)
    with _above(folder, f"{name}/file"):  # which opens them all
        pass


@contextmanager
def _above(folder: Path, name: str) -> Iterator[tuple[int, str]]:
    """Open the folder that a name stands in, without following a link below the first one; give the last part, too."""
    *above, last = name.split("/")
    if any(part in ("", ".", "..") for part in (*above, last)):
        raise ValueError(f"{name!r} leads out of its folder")
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            try:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _BELOW, dir_fd=place)
            except OSError as error:
                raise _explained(error, place, part, folder / name) from None
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
    return error
