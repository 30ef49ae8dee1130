"""Reads the files of a run as a stranger's: no link is followed, no file grows beyond bounds, what is whole is kept."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

LARGEST = 1 << 30
"""Bytes that are read of one file, and made of a compressed one."""
_CHUNK = 1 << 20
_GZIP = 16 + zlib.MAX_WBITS
"""Tells zlib to expect the head of gzip."""
TRACES = ("trace.jsonl", "trace.jsonl.gz")


class Unreadable(Exception):
    """A file cannot be read; says why, in the words of the page."""


def read_bytes(folder: Path, name: str) -> bytes | None:
    """Give a file of a run; None where there is none.

    Raises:
        Unreadable: it is a link, no file, larger than `LARGEST`, or closed to us.
    """
    try:
        handle = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = "it is a link, which is not followed" if (folder / name).is_symlink() else error.strerror
        raise Unreadable(f"{name}: not read: {reason}") from error
    with open(handle, "rb") as file:
        try:
            data = file.read(LARGEST + 1)
        except OSError as error:
            raise Unreadable(f"{name}: not read: {error.strerror}") from error
    if len(data) > LARGEST:
        raise Unreadable(f"{name}: not read: it is larger than {LARGEST >> 20} MiB")
    return data


def links(folder: Path) -> list[str]:
    """Give the names of the links in a folder, none of which is followed."""
    return sorted(path.name for path in folder.iterdir() if path.is_symlink())


def read_trace_bytes(folder: Path) -> tuple[bytes, list[str]]:
    """Give the lines of a trace, unpacked as far as they go, and what is wrong with the file."""
    for name in TRACES:
        try:
            data = read_bytes(folder, name)
        except Unreadable as wrong:
            return b"", [str(wrong)]
        if data is not None:
            return _unpacked(name, data) if name.endswith(".gz") else (data, [])
    return b"", ["trace.jsonl: there is none, so there is nothing to show"]


def _unpacked(name: str, data: bytes) -> tuple[bytes, list[str]]:
    unpacker, parts, size = zlib.decompressobj(_GZIP), [], 0
    try:
        while data and not unpacker.eof:
            part = unpacker.decompress(data, _CHUNK)
            data = unpacker.unconsumed_tail
            size += len(part)
            parts.append(part)
            if size > LARGEST:
                return b"".join(parts), [f"{name}: read up to {LARGEST >> 20} MiB of its text, and no further"]
    except zlib.error as error:
        return b"".join(parts), [f"{name}: damaged: {error}; shown as far as it could be unpacked"]
    if not unpacker.eof:
        return b"".join(parts), [f"{name}: cut off; shown as far as it goes"]
    return b"".join(parts), []
