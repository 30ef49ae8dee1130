"""The files in the folder of a run or of a sweep, which may be untrusted. Every verb reads them here.

A name in such a folder can be a pipe that never ends, a link to a secret, a file of zeros or a gigabyte in nine
megabytes of gzip. So only regular files are opened, no link among them is followed, and what is read, and what is made
of it, is bounded before it is there. A run leaves the digest of each of its files in its `meta.json`; what is read is
held against it.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import msgspec

from quorum.display.sanitize import sanitize
from quorum_base.inside import open_inside
from quorum_base.user_errors import UserError

MIB = 1 << 20
LONGEST_LINE = 16 * MIB
"""Bytes of a line of a file that is read line by line."""
MOST_LINES = 5_000_000
"""Lines of such a file: a gigabyte of a trace has fewer."""
LARGEST_TEXT = 1024 * MIB
"""Bytes that are read of a file line by line."""
LARGEST_UNPACKED = 64 * MIB
"""Bytes that are made of a compressed file."""
MOST_VALUES = 6_500_000
"""Values of one piece of JSON, which takes some ten times the memory of its text. The plan of a million cells fits."""
META = "meta.json"
PICTURES = "pictures"
"""The one folder that there may be in that of a run: the pictures of its prompts."""
LARGEST_PICTURE = 8 * MIB
LARGEST_META = 16 * MIB
TAIL = 256 << 10
"""Bytes at the end of a file, in which its last line stands."""
_CHUNK = MIB
_HASH = re.compile("[0-9a-f]{64}")
_LONGEST_REASON = 300


class DamagedFile(UserError):
    """A file of a run cannot be read.

    Attributes:
        brief: its name, and why: what is said where the folder is known.
    """

    def __init__(self, folder: Path, name: str, reason: str, hint: str = "") -> None:
        self.brief = f"{name}: {sanitize(reason, _LONGEST_REASON)}"
        super().__init__(f"{folder}{os.sep}{self.brief}", hint)


def picture_file(digest: str) -> str:
    """Return the name of the file of a picture.

    Args:
        digest: of what it shows (`quorum.agents.llm.pictures.Picture.hash`); in an untrusted folder it may be anything.

    Raises:
        ValueError: it is no such hash.
    """
    if not _HASH.fullmatch(digest):
        raise ValueError("it is no hash of a picture: 64 hexadecimal digits")
    return f"{PICTURES}/{digest}.png"


class _Digests(msgspec.Struct):
    """What `meta.json` says of the other files."""

    files: dict[str, str] | None = None


class RunFiles:
    """The files of a folder, by name.

    Args:
        path: of the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digests: Mapping[str, str] | None = None

    @property
    def digests(self) -> Mapping[str, str]:
        """SHA-256 of each file as the run left it, in hexadecimal; empty where it left none, or they cannot be read."""
        if self._digests is None:
            self._digests = {}  # also while meta.json is read, which is held against none
            with suppress(DamagedFile, ValueError, RecursionError):
                self._digests = msgspec.json.decode(self.read(META, LARGEST_META) or b"{}", type=_Digests).files or {}
        return self._digests

    @digests.setter
    def digests(self, found: Mapping[str, str]) -> None:
        """Take over what a reader of `meta.json` has found: it is not parsed twice."""
        self._digests = found

    def damaged(self, name: str, reason: str, hint: str = "") -> DamagedFile:
        """Make the error that a file is damaged."""
        return DamagedFile(self.path, name, reason, hint)

    def names(self, name: str) -> bool:
        """Whether there is something of this name, be it no file."""
        return os.path.lexists(self.path / name)

    def holds(self, name: str) -> bool:
        """Whether there is a regular file of this name that is not too large to be read."""
        try:
            status = os.lstat(self.path / name)
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_TEXT

    def size(self, name: str) -> int:
        """Return the bytes of what has this name, as they stand on disk; 0 where there is nothing."""
        try:
            return os.lstat(self.path / name).st_size
        except OSError:
            return 0

    @contextmanager
    def _opened(self, name: str, most: int) -> Iterator[BinaryIO]:
        """Open a file.

        Raises:
            FileNotFoundError: there is none.
            DamagedFile: it is no regular file, a link, larger than `most` bytes, or closed to us.
        """
        try:
            handle = self._handle(name)
        except FileNotFoundError:
            raise
        except (OSError, ValueError) as error:
            raise self.damaged(name, f"not read: {_why(error)}") from error
        with open(handle, "rb", buffering=0) as file:
            if os.fstat(handle).st_size > most:
                raise self.damaged(name, f"not read: it is larger than {most // MIB} MiB")
            try:
                yield file
            except OSError as error:
                raise self.damaged(name, f"not read: {_why(error)}") from error

    def _handle(self, name: str) -> int:
        """Open what has a name, without following a link on the way."""
        if not _is_name(name):
            raise ValueError("it is no name of a file of a run")
        return open_inside(self.path, name, os.O_RDONLY)

    def read(self, name: str, most: int) -> bytes | None:
        """Return the content of a file; None where there is none.

        Args:
            name: of the file.
            most: bytes that it may have.

        Raises:
            DamagedFile: it is no regular file, a link, larger than `most`, or closed to us; it is not what the run
                wrote, or holds more than `MOST_VALUES`.
        """
        try:
            with self._opened(name, most) as file:
                data = _read(file, most)
        except FileNotFoundError:
            return None
        self._check_values(name, data)
        if name != META:
            self._check_digest(name, hashlib.sha256(data))
        return data

    def part(self, name: str, start: int, end: int) -> bytes:
        """Return the bytes of a file from `start` to before `end`; fewer where it ends earlier.

        Raises:
            DamagedFile: as `read`, or there is no such file.
        """
        try:
            with self._opened(name, LARGEST_TEXT) as file:
                file.seek(start)
                return _read(file, end - start)
        except FileNotFoundError:
            raise self.damaged(name, "there is no such file") from None

    def chunks(self, name: str) -> Iterator[bytes]:
        """Return the content of a file piece by piece; that of a name that ends in `.gz` unpacked.

        Raises:
            FileNotFoundError: there is no such file.
            DamagedFile: as `read`; or what is packed is damaged, cut off, or becomes larger than `LARGEST_UNPACKED`.
        """
        is_packed = name.endswith(".gz")
        # Packed text is no larger than what it may become: a head without an end or empty parts could be.
        with self._opened(name, LARGEST_UNPACKED if is_packed else LARGEST_TEXT) as file:
            yield from self._unpacked(name, file) if is_packed else iter(lambda: file.read(_CHUNK), b"")

    def lines(self, name: str) -> Iterator[bytes]:
        """Return the lines of a file, each with the byte that ends it; a last one without it was cut off.

        Raises:
            FileNotFoundError: there is no such file.
            DamagedFile: as `chunks`; or a line is longer than `LONGEST_LINE` or holds more than `MOST_VALUES`, or there
                are more than `MOST_LINES`; and, behind its last line, it is not what the run wrote.
        """
        rest, digest, number = b"", hashlib.sha256(), 0
        for chunk in self.chunks(name):
            digest.update(chunk)
            *lines, rest = (rest + chunk).split(b"\n")
            number += len(lines)
            if number > MOST_LINES:
                raise self.damaged(name, f"not read: it has more than {MOST_LINES:,} lines")
            for line in lines:
                self._check_values(name, line)
                yield line + b"\n"
            if len(rest) > LONGEST_LINE:
                raise self.damaged(name, f"a line is longer than {LONGEST_LINE // MIB} MiB")
        if rest:
            self._check_values(name, rest)
            yield rest
        self._check_digest(name, digest)

    def verify(self, name: str) -> bytes:
        """Read a file to its end, hold it against its digest, and return its last bytes, at most `TAIL`.

        Raises:
            DamagedFile: there is none, or as `lines`.
        """
        digest, end = hashlib.sha256(), b""
        try:
            for chunk in self.chunks(name):
                digest.update(chunk)
                end = (end + chunk)[-TAIL:]
        except FileNotFoundError:
            raise self.damaged(name, "there is no such file") from None
        self._check_digest(name, digest)
        return end

    def _check_digest(self, name: str, found: hashlib._Hash) -> None:
        """Hold a file against its digest; that of a compressed one is of its unpacked text."""
        if self.digests.get(name.removesuffix(".gz"), found.hexdigest()) != found.hexdigest():
            raise self.damaged(name, f"damaged: it is not what the run wrote: its SHA-256 is not that of {META}")

    def _check_values(self, name: str, data: bytes) -> None:
        if len(data) > MIB and sum(map(data.count, (b",", b":", b"[", b"{"))) > MOST_VALUES:
            raise self.damaged(name, f"not read: it holds more than {MOST_VALUES:,} values")

    def _unpacked(self, name: str, packed: BinaryIO) -> Iterator[bytes]:
        size = 0
        try:
            with gzip.GzipFile(fileobj=packed) as unpacker:
                while part := unpacker.read(_CHUNK):
                    size += len(part)
                    if size > LARGEST_UNPACKED:
                        raise self.damaged(
                            name,
                            f"not read: it unpacks to more than {LARGEST_UNPACKED // MIB} MiB",
                            "If you know where it comes from, unpack it yourself: gunzip.",
                        )
                    yield part
        except EOFError as error:
            raise self.damaged(name, "damaged: it is cut off") from error
        except (zlib.error, gzip.BadGzipFile) as error:
            raise self.damaged(name, f"damaged: {error}") from error


def _is_name(name: str) -> bool:
    """Whether a name is that of a file in the folder of a run, or among its pictures."""
    folder, _, file = name.rpartition("/")
    return folder in ("", PICTURES) and file not in ("", ".", "..")


def _read(file: BinaryIO, most: int) -> bytes:
    """Read to the end, but never more than `most` bytes: a file may grow while it is read."""
    parts = []
    while most > 0 and (part := file.read(min(most, _CHUNK))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
