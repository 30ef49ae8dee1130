"""Runs and sweeps in a zip, such as the bundle of a study, which verbs read where it lies.

An archive may be untrusted. No member is written outside of a private temporary folder, as a link, twice, or beyond a
limited size, and a file must be what its run wrote.
"""

from __future__ import annotations

import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from quorum.display.sanitize import sanitize
from quorum.runs.run_folder import ARCHIVE, is_run, runs_inside
from quorum.storage.files import os_errors
from quorum.storage.run_files import MIB, DamagedFile, RunFiles
from quorum_base.user_errors import UserError

LARGEST = 4096 * MIB
"""Maximum bytes of an unpacked archive."""
MOST_MEMBERS = 200_000
MOST_PACKED = 200
"""Maximum ratio of unpacked to packed bytes; runs stay below 60."""
_LONGEST_NAME = 200
_ENCRYPTED = 0x1
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, NotImplementedError, EOFError, ValueError)
"""Errors of `zipfile` for damaged archives."""
_AGAIN = "Get the archive again from whoever made it, or read the folder that it was made from."


@contextmanager
def unpacked(places: Sequence[Path], *, verify: bool = True) -> Iterator[list[Path]]:
    """Yield folders, those of archives (`talk.zip`) or in archives (`talk.zip/NAME`) unpacked, and remove them again.

    Messages name the archive instead of the temporary folder.

    Args:
        places: folders, files and archives.
        verify: whether to check the digests of runs in archives.

    Raises:
        UserError: an archive cannot be read, or must not be unpacked; the message names the member.
    """
    folders: list[Path] = []
    names: dict[str, str] = {}
    with ExitStack() as stack:
        try:
            for place in places:
                found = (path for path in (place, *place.parents) if path.suffix == ARCHIVE and path.is_file())
                if (archive := next(found, None)) is None:
                    folders.append(place)
                    continue
                root = Path(stack.enter_context(TemporaryDirectory(prefix="quorum-"))).resolve() / archive.stem
                names[str(root)] = str(archive)
                _unpack(archive, root)
                folder = _inner(root)
                names = {str(folder): str(archive), **names}  # the longer path first
                if verify:
                    _verify(folder)
                folders.append(folder / place.relative_to(archive))
            yield folders
        except UserError as error:
            for unpacked_as, name in names.items():
                error.args = tuple(str(part).replace(unpacked_as, name) for part in error.args)
            raise


def _unpack(archive: Path, root: Path) -> None:
    try:
        with os_errors(f"{archive}: cannot be read"):
            packed = zipfile.ZipFile(archive)
    except _BROKEN as error:
        reason = sanitize(str(error), _LONGEST_NAME)
        raise UserError(f"{archive}: it is not a whole zip archive: {reason}", _AGAIN) from error
    with packed:
        members = packed.infolist()
        most = min(LARGEST, MIB + MOST_PACKED * archive.stat().st_size)
        size = 0
        for number, member in enumerate(members):
            size += member.file_size
            if problem := _problem(member):
                raise _refused(archive, member, problem)
            if size > most or number >= MOST_MEMBERS:
                limit = f"{most // MIB} MiB" if size > most else f"{MOST_MEMBERS:,} files"
                raise _refused(archive, member, f"with it, the archive unpacks to more than {limit}")
        root.mkdir(mode=0o700, exist_ok=True)
        for member in members:
            try:
                with os_errors(f"{archive}: {_shown(member)}: cannot be unpacked"):
                    _write(packed, member, root)
            except _BROKEN as error:
                raise _refused(archive, member, f"damaged: {sanitize(str(error), _LONGEST_NAME)}") from error


def _problem(member: zipfile.ZipInfo) -> str:
    """Say why a member must not be unpacked; empty if it may."""
    name = member.filename
    if member.orig_filename != name or "\\" in name or {"", ".", ".."} & {*name.removesuffix("/").split("/")}:
        return "its name leads out of the archive"
    if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "it is a link or a special file"
    if member.flag_bits & _ENCRYPTED:
        return "it is encrypted"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "it is not compressed by deflate"
    return ""


def _write(packed: zipfile.ZipFile, member: zipfile.ZipInfo, root: Path) -> None:
    """Write a member; `zipfile` reads no more than the size that it states, and checks its CRC.

    Raises:
        ValueError: another member has its name.
        OSError: it cannot be written.
    """
    path = root / member.filename
    try:
        (path if member.is_dir() else path.parent).mkdir(mode=0o700, parents=True, exist_ok=True)
        if not member.is_dir():
            with packed.open(member) as source, open(path, "xb") as target:
                shutil.copyfileobj(source, target, MIB)
    except FileExistsError as error:
        raise ValueError("the archive has it twice") from error


def _inner(root: Path) -> Path:
    """Return the only folder in an archive that has nothing else; else the archive's own."""
    inside = list(root.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else root


def _verify(folder: Path) -> None:
    """Check each file of the runs against the digest in `meta.json`; readers name files that are missing.

    Raises:
        UserError: one has another digest.
    """
    for run in [folder] if is_run(folder) else runs_inside(folder):
        files = RunFiles(run)
        for name in files.digests:
            if found := next(filter(files.exists, (name, f"{name}.gz")), None):
                try:
                    files.verify(found)
                except DamagedFile as damage:
                    raise UserError(damage.message, _AGAIN) from damage


def _refused(archive: Path, member: zipfile.ZipInfo, reason: str) -> UserError:
    return UserError(f"{archive}: {_shown(member)}: not unpacked: {reason}", _AGAIN)


def _shown(member: zipfile.ZipInfo) -> str:
    return sanitize(member.orig_filename, _LONGEST_NAME)
