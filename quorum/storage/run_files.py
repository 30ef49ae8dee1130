"""The files in a run or sweep folder, which may be untrusted. Every verb reads them here.

A name in such a folder may be an endless pipe, a link to a secret, a file of zeros, or nine megabytes of gzip that
unpack to a gigabyte. So only regular files are opened, links are not followed, and the size of data is limited before
it is read or unpacked. A run stores the digest of each of its files in its `meta.json`, and whatever is read is checked
against it.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shlex
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
"""Maximum bytes per line of a file that is read line by line."""
MOST_LINES = 5_000_000
"""Maximum lines of such a file: a gigabyte of a trace has fewer."""
LARGEST_TEXT = 1024 * MIB
"""Maximum bytes read from a file line by line."""
LARGEST_UNPACKED = 64 * MIB
"""Maximum size in bytes of an unpacked file."""
MOST_VALUES = 6_500_000
"""Maximum values in one JSON document; it takes some ten times its text in memory. A plan of a million cells fits."""
META = "meta.json"
PICTURES = "pictures"
"""The only subfolder of a run: the images in its prompts."""
LARGEST_PICTURE = 8 * MIB
LARGEST_META = 16 * MIB
TAIL = 256 << 10
"""Bytes at the end of a file that contain its last line."""
_CHUNK = MIB
_HASH = re.compile("[0-9a-f]{64}")
_LONGEST_REASON = 300


class DamagedFile(UserError):
    """A file of a run cannot be read.

    Attributes:
        brief: its name and the reason, for messages where the folder is known.
    """

    def __init__(self, folder: Path, name: str, reason: str, hint: str = "") -> None:
        self.brief = f"{name}: {sanitize(reason, _LONGEST_REASON)}"
        super().__init__(f"{folder}{os.sep}{self.brief}", hint)


def picture_file(digest: str) -> str:
    """Return the file name of an image.

    Args:
        digest: digest of the image (`quorum.agents.llm.pictures.Picture.hash`); untrusted if it comes from a run
            folder.

    Raises:
        ValueError: it is not such a hash.
    """
    if not _HASH.fullmatch(digest):
        raise ValueError("it is not the hash of a picture: 64 hexadecimal digits")
    return f"{PICTURES}/{digest}.png"


class _Digests(msgspec.Struct):
    """The digests in `meta.json`."""

    files: dict[str, str] | None = None


class RunFiles:
    """The files of a folder, by name.

    Args:
        path: path of the folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._digests: Mapping[str, str] | None = None

    @property
    def digests(self) -> Mapping[str, str]:
        """SHA-256 of each file as the run wrote it, in hexadecimal; empty if there are none or they cannot be read."""
        if self._digests is None:
            self._digests = {}  # also while meta.json itself is read, which has no digest
            with suppress(DamagedFile, ValueError, RecursionError):
                self._digests = msgspec.json.decode(self.read(META, LARGEST_META) or b"{}", type=_Digests).files or {}
        return self._digests

    @digests.setter
    def digests(self, found: Mapping[str, str]) -> None:
        """Set the digests from an already parsed `meta.json`, so that it is not parsed twice."""
        self._digests = found

    def damaged(self, name: str, reason: str, hint: str = "") -> DamagedFile:
        """Return the error for a damaged file; its hint for a run, if none is given, is the command to check it."""
        advice = f"To see what to do: quorum check {shlex.quote(str(self.path))}" if self.exists(META) else ""
        return DamagedFile(self.path, name, reason, hint or advice)

    def exists(self, name: str) -> bool:
        """Whether an entry with this name exists, of any type."""
        return os.path.lexists(self.path / name)

    def holds(self, name: str) -> bool:
        """Whether a regular file with this name exists and is not too large to read."""
        try:
            status = os.lstat(self.path / name)
        except OSError:
            return False
        return stat.S_ISREG(status.st_mode) and status.st_size <= LARGEST_TEXT

    def size(self, name: str) -> int:
        """Return the size of an entry on disk in bytes; 0 if it does not exist."""
        try:
            return os.lstat(self.path / name).st_size
        except OSError:
            return 0

    @contextmanager
    def _opened(self, name: str, most: int) -> Iterator[BinaryIO]:
        """Open a file.

        Raises:
            FileNotFoundError: it does not exist.
            DamagedFile: it is not a regular file, is a link, is larger than `most` bytes, or is not readable.
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
        """Open an entry without following any link in its path."""
        if not _is_name(name):
            raise ValueError("it is not the name of a file of a run")
        return open_inside(self.path, name, os.O_RDONLY)

    def read(self, name: str, most: int) -> bytes | None:
        """Return the content of a file; None if it does not exist.

        Args:
            name: name of the file.
            most: maximum bytes.

        Raises:
            DamagedFile: it is not a regular file, is a link, is larger than `most`, or is not readable; it is not what
                the run wrote, or holds more than `MOST_VALUES`.
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
        """Return the bytes of a file from `start` to before `end`; fewer if it is shorter.

        Raises:
            DamagedFile: see `read`; or the file does not exist.
        """
        try:
            with self._opened(name, LARGEST_TEXT) as file:
                file.seek(start)
                return _read(file, end - start)
        except FileNotFoundError:
            raise self.damaged(name, "there is no such file") from None

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield the content of a file in chunks, unpacked if its name ends in `.gz`.

        Raises:
            FileNotFoundError: it does not exist.
            DamagedFile: see `read`; or the compressed data is damaged, truncated, or unpacks to more than
                `LARGEST_UNPACKED`.
        """
        is_packed = name.endswith(".gz")
        # The packed size has the same limit, as an endless header or empty members could exceed it.
        with self._opened(name, LARGEST_UNPACKED if is_packed else LARGEST_TEXT) as file:
            yield from self._unpacked(name, file) if is_packed else iter(lambda: file.read(_CHUNK), b"")

    def lines(self, name: str) -> Iterator[bytes]:
        """Yield the lines of a file with their line feeds; a last line without one was cut off.

        Raises:
            FileNotFoundError: it does not exist.
            DamagedFile: see `chunks`; or a line is longer than `LONGEST_LINE` or holds more than `MOST_VALUES`, or
                there are more than `MOST_LINES`; or, raised after the last line, it is not what the run wrote.
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
        """Read a whole file, check its digest, and return its last bytes, at most `TAIL`.

        Raises:
            DamagedFile: it does not exist, or see `lines`.
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
        """Check the digest of a file; for a compressed one, that of its unpacked text."""
        if self.digests.get(name.removesuffix(".gz"), found.hexdigest()) != found.hexdigest():
            raise self.damaged(name, f"damaged: it is not what the run wrote: its SHA-256 differs from that in {META}")

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
    """Whether a name is that of a file in a run folder or among its images."""
    folder, _, file = name.rpartition("/")
    return folder in ("", PICTURES) and file not in ("", ".", "..")


def _read(file: BinaryIO, most: int) -> bytes:
    """Read to the end, but at most `most` bytes, because a file may grow meanwhile."""
    parts = []
    while most > 0 and (part := file.read(min(most, _CHUNK))):
        parts.append(part)
        most -= len(part)
    return b"".join(parts)


def _why(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
