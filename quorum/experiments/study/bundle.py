"""The bundle of a study: one zip with all that verifies its runs and plays them again.

`manifest.json` holds the SHA-256 and the size of every other file. Equal folders give equal bundles.
"""

from __future__ import annotations

import hashlib
import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import orjson

from maeil.digests import digest_now
from maeil.inside import list_inside, move_inside, open_inside, remove_inside, sync_folder
from maeil.user_errors import UserError
from quorum.experiments.common.files import os_errors, require_file
from quorum.experiments.common.run_files import LARGEST_META, META, MIB, DamagedFile, RunFiles
from quorum.experiments.episode.call_books import CALLS
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.results.finished import RETRIED
from quorum.experiments.results.run_folder import METRICS, RunFolder, runs_inside
from quorum.experiments.results.sweep_file import PLAN
from quorum.experiments.study.sheet import LARGEST as LARGEST_SHEET
from quorum.experiments.study.sheet import SHEET, STUDY, WRITTEN_BY

BUNDLE, MANIFEST = "study.zip", "manifest.json"
_PASSING = f".{BUNDLE}"
"""The name of a bundle that is not whole."""
DONORS = "donors"
"""The folder of files that configurations name, such as what was said on other boards."""
_OF_THE_STUDY = (PLAN, STUDY, SHEET)
_SCHEMA = 1
_MODE = (stat.S_IFREG | 0o600) << 16
MOST_FILES = 60_000
"""A zip with more needs records of another form, which are not read."""
LARGEST = 4096 * MIB
"""Bytes of all files of a bundle, unpacked."""


def write_bundle(folder: Path) -> Path:
    """Write `study.zip` into the folder of a study, whole or not at all, and return it.

    Files are packed piece by piece as they are read. No link is followed, and nothing outside of the folder is read.

    Raises:
        UserError: a file cannot be read, there are too many, or the zip cannot be written.
    """
    hint = "Make room; then type it again."
    with os_errors(f"{folder / BUNDLE}: cannot be written", hint):
        require_file(folder / BUNDLE)
        remove_inside(folder, _PASSING)
        handle = open_inside(folder, _PASSING, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try:
            with open(handle, "w+b") as target:
                with zipfile.ZipFile(target, "w") as packed:
                    _pack(packed, folder)
                target.flush()
                os.fsync(handle)
            move_inside(folder, _PASSING, BUNDLE)
        except BaseException:
            remove_inside(folder, _PASSING)
            raise
        sync_folder(folder)
    return folder / BUNDLE


def _pack(packed: zipfile.ZipFile, folder: Path) -> None:
    """Write the files of a study, and its manifest as the last one."""
    digests: dict[str, tuple[str, int]] = {}
    left = LARGEST
    for name in sorted(_names(folder)):
        digest, size = hashlib.sha256(), 0
        with packed.open(_entry(name), "w") as entry:
            for chunk in _chunks(folder, name):
                digest.update(chunk)
                size += len(chunk)
                if size > left:
                    raise UserError(f"{folder}: a bundle holds {LARGEST // MIB:,} MiB, and these files are larger")
                entry.write(chunk)
        digests[name] = digest.hexdigest(), size
        left -= size
        if len(digests) >= MOST_FILES:
            raise UserError(f"{folder}: a bundle holds {MOST_FILES:,} files, and these are more")
    packed.writestr(_entry(MANIFEST), manifest_of(digests, _sheet(folder)))


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name)  # of 1980, whenever it is written
    entry.external_attr, entry.create_system, entry.compress_type = _MODE, 3, zipfile.ZIP_DEFLATED
    return entry


def _chunks(folder: Path, name: str) -> Iterator[bytes]:
    try:
        handle = open_inside(folder, name, os.O_RDONLY)
    except (OSError, ValueError) as error:
        raise UserError(f"{folder / name}: it cannot be read: {error}") from error
    with open(handle, "rb") as file:
        yield from iter(lambda: file.read(MIB), b"")


def _sheet(folder: Path) -> bytes:
    return RunFiles(folder).read(SHEET, LARGEST_SHEET) or b""


def manifest_of(files: Mapping[str, tuple[str, int]], sheet: bytes) -> bytes:
    """Return the content of `manifest.json`.

    Args:
        files: SHA-256 and size of every other file of the bundle.
        sheet: `sheet.json`, which says what wrote it.
    """
    try:
        code = orjson.loads(sheet)[WRITTEN_BY]
    except (ValueError, LookupError, TypeError):
        code = None
    listed = {name: {"sha256": sha256, "size": size} for name, (sha256, size) in sorted(files.items())}
    whole = {"schema": _SCHEMA, "quorum-harness": code, "files": listed}
    return orjson.dumps(whole, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def manifest_problems(folder: Path) -> Iterator[str]:
    """Hold the files of an unpacked bundle against its manifest, and yield what is wrong."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    found.pop(MANIFEST, None)
    made = {name: (digest_now(path), path.stat().st_size) for name, path in found.items()}
    try:
        stored = RunFiles(folder).read(MANIFEST, LARGEST_META) or b""
        listed = {name: (str(own["sha256"]), int(own["size"])) for name, own in orjson.loads(stored)["files"].items()}
    except DamagedFile as damage:
        yield damage.brief
        return
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        yield f"{MANIFEST}: {error or 'it is missing'}"
        return
    for name in sorted({*made, *listed}):
        if name not in made:
            yield f"{name}: it is missing"
        elif name not in listed:
            yield f"{name}: {MANIFEST} does not name it"
        elif made[name] != listed[name]:
            yield f"{name}: its SHA-256 and size are not those of {MANIFEST}"
    if made == listed and stored != manifest_of(made, _sheet(folder)):
        yield f"{MANIFEST}: it is not what these files give"


def files_by_digest(folder: Path) -> Mapping[str, Path]:
    """Return the files of a study that configurations name, by their SHA-256."""
    return {digest_now(folder / name): folder / name for name in _named_files(folder)}


def _names(folder: Path) -> Iterator[str]:
    """Yield the files of a bundle: of the study, of its runs, and what attempts cost that were put aside."""
    files = RunFiles(folder)
    yield from (name for name in _OF_THE_STUDY if files.holds(name))
    yield from _named_files(folder)
    for run in runs_inside(folder):
        if PARTIAL in run.name or run.is_symlink():
            continue
        own = RunFolder(run)
        listed: tuple[str, ...] = ()
        with suppress(DamagedFile):  # what is there of a damaged run goes along, and is found again
            listed = tuple(own.meta().files or ())
        packed = (f"{name}.gz" for name in listed if not own.files.names(name))  # a trace may have been compressed
        yield from (f"{run.name}/{name}" for name in (META, *listed, *packed) if own.files.holds(name))
    for cell in list_inside(folder, RETRIED):
        for attempt in list_inside(folder, f"{RETRIED}/{cell}"):
            place = f"{RETRIED}/{cell}/{attempt}"
            yield from (f"{place}/{name}" for name in (META, METRICS, CALLS) if RunFiles(folder / place).holds(name))


def _named_files(folder: Path) -> Iterator[str]:
    names = (f"{DONORS}.json", *(f"{DONORS}/{name}" for name in list_inside(folder, DONORS)))
    yield from filter(RunFiles(folder).holds, names)
