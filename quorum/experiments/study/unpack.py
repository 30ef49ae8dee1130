"""Unpacks an untrusted bundle: nothing is written outside of its folder, no link is made, and its size is bounded."""

from __future__ import annotations

import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO
from unicodedata import normalize

from maeil.inside import make_inside, open_inside
from maeil.user_errors import UserError
from quorum.experiments.common.files import os_errors
from quorum.experiments.common.run_files import MIB
from quorum.experiments.study.bundle import LARGEST, MOST_FILES

_MOST_TIMES, _SMALL = 100, 64 * MIB
"""How many times its size a bundle may unpack to, where that is more than a small number of bytes."""
_END, _END_LENGTH, _LONGEST_END = b"PK\x05\x06", 22, 22 + 65_535
_LARGEST_INDEX = 64 * MIB
_MOST_PARTS = 8
"""Folders and file of a name: a bundle has up to four."""
_LONGEST_PART = 255
"""Bytes of a folder or a file in a name, which most file systems take."""


@contextmanager
def unpacked(file: Path) -> Iterator[tuple[Path, list[str]]]:
    """Unpack an untrusted bundle into a folder that is removed afterwards.

    Yields:
        The folder; and what could not be unpacked, with the reason.

    Raises:
        UserError: it is no bundle, or one that would write outside of the folder, or without bounds.
    """
    with ExitStack() as closing:
        with os_errors(f"{file}: cannot be unpacked", "Make room in the folder for temporary files, or set TMPDIR."):
            handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK)  # a pipe would keep us waiting
            opened = closing.enter_context(open(handle, "rb"))
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise UserError(f"{file}: it is no file")
            try:
                _check_index(opened)
                packed = closing.enter_context(zipfile.ZipFile(opened))
                _check_entries(packed, os.fstat(handle).st_size)
                folder = Path(closing.enter_context(TemporaryDirectory(prefix="quorum-check-")))
                damages = list(_unpack(packed, folder))
            # the last one is how zipfile refuses a format that it does not read
            except (zipfile.BadZipFile, _Refused, ValueError, EOFError, NotImplementedError) as error:
                raise UserError(f"{file}: it is no bundle of a study: {error}", "Ask for study.zip again.") from error
        yield folder, damages


class _Refused(Exception):
    """A zip that no study writes."""


def _check_index(file: BinaryIO) -> None:
    """Refuse a list of files that is too long to be read at all."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LONGEST_END))
    end = file.read()
    place = end.rfind(_END)
    if place < 0 or len(end) - place < _END_LENGTH:
        raise _Refused("it is no zip")
    if int.from_bytes(end[place + 12 : place + 16], "little") > _LARGEST_INDEX or b"PK\x06\x07" in end[:place]:
        raise _Refused(f"it has more than {MOST_FILES:,} files")
    file.seek(0)


def _check_entries(packed: zipfile.ZipFile, size: int) -> None:
    entries = packed.infolist()
    unpacked_size = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_FILES:
        raise _Refused(f"it has more than {MOST_FILES:,} files")
    if unpacked_size > LARGEST or unpacked_size > max(_SMALL, _MOST_TIMES * size):
        raise _Refused(f"it unpacks to {unpacked_size // MIB:,} MiB")
    for entry in entries:
        mode, name = entry.external_attr >> 16, entry.orig_filename
        shown = repr(name[:100])
        parts = name.split("/", _MOST_PARTS)
        if len(parts) > _MOST_PARTS or not all(map(_is_name, parts)):
            raise _Refused(f"{shown} is no name of a file inside it")
        if stat.S_IFMT(mode) not in (0, stat.S_IFREG) or entry.is_dir():
            raise _Refused(f"{shown} is a link or no file")
        if entry.flag_bits & 1 or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise _Refused(f"{shown} is packed in a way that bundles are not")
    _check_places([entry.filename for entry in entries])


def _is_name(part: str) -> bool:
    """Whether a part of a path is the name of a file or a folder on any system."""
    is_plain = part.isprintable() and not part.endswith((".", " ")) and "\\" not in part
    return part != "" and is_plain and len(part.encode()) <= _LONGEST_PART


def _folded(name: str) -> str:
    """Return what names share that a system which ignores case or composes letters takes for one."""
    return normalize("NFC", normalize("NFD", name).casefold())


def _check_places(names: Sequence[str]) -> None:
    """Refuse names that any file system takes for one another, of files and of folders."""
    files = {_folded(name) for name in names}
    folders = {name[:place] for name in names for place, sign in enumerate(name) if sign == "/"}
    folded = {_folded(folder) for folder in folders}
    if len(files) < len(names) or len(folded) < len(folders) or folded & files:
        raise _Refused("two of its files or folders have the same name")


def _unpack(packed: zipfile.ZipFile, folder: Path) -> Iterator[str]:
    """Unpack files, and yield which are damaged. None becomes larger than the list of files says."""
    for entry in packed.infolist():
        if "/" in entry.filename:
            make_inside(folder, entry.filename.rpartition("/")[0], 0o700)
        handle = open_inside(folder, entry.filename, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(handle, "wb") as target:
            try:
                with packed.open(entry) as source:
                    shutil.copyfileobj(source, target, MIB)
            except (zipfile.BadZipFile, zlib.error, EOFError) as error:
                yield f"{entry.filename}: it cannot be unpacked: {error}"
