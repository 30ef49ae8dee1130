"""The bundle of a study: one zip, for publication, with the files that verify its runs and replay them.

Equal folders give equal bundles. `quorum check` and the verbs that read sweeps take it as it is.
"""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from quorum.episode.call_ledger import CALLS
from quorum.episode.episode_folder import PARTIAL
from quorum.runs.finished import RETRIED
from quorum.runs.run_folder import METRICS, RunFolder, runs_inside
from quorum.runs.sweep_file import PLAN
from quorum.storage.files import os_errors, require_file
from quorum.storage.run_files import META, MIB, DamagedFile, RunFiles
from quorum.study.sheet import SHEET, STUDY
from quorum_base.digests import digest_now
from quorum_base.inside import list_inside, move_inside, open_inside, remove_inside, sync_folder
from quorum_base.user_errors import UserError

BUNDLE = "study.zip"
_PASSING = f".{BUNDLE}"
"""Temporary name of an incomplete bundle."""
DONORS = "donors"
"""Folder of files that configurations name, such as messages of other boards."""
_OF_THE_STUDY = (PLAN, STUDY, SHEET)
_MODE = (stat.S_IFREG | 0o600) << 16


def write_bundle(folder: Path) -> Path:
    """Write `study.zip` into the folder of a study, completely or not at all, and return it.

    Files are packed in chunks as they are read. No link is followed, and nothing outside of the folder is read.

    Raises:
        UserError: a file cannot be read, or the zip cannot be written.
    """
    hint = "Free some disk space, then run the command again."
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
    for name in sorted(_names(folder)):
        entry = zipfile.ZipInfo(name)  # dated 1980, so equal folders give equal bundles
        entry.external_attr, entry.create_system, entry.compress_type = _MODE, 3, zipfile.ZIP_DEFLATED
        with packed.open(entry, "w", force_zip64=True) as target:
            for chunk in _chunks(folder, name):
                target.write(chunk)


def _chunks(folder: Path, name: str) -> Iterator[bytes]:
    try:
        handle = open_inside(folder, name, os.O_RDONLY)
    except (OSError, ValueError) as error:
        raise UserError(f"{folder / name}: cannot be read: {error}") from error
    with open(handle, "rb") as file:
        yield from iter(lambda: file.read(MIB), b"")


def files_by_digest(folder: Path) -> Mapping[str, Path]:
    """Return the files of a study that configurations name, by their SHA-256."""
    return {digest_now(folder / name): folder / name for name in _named_files(folder)}


def _names(folder: Path) -> Iterator[str]:
    """Yield the files of a bundle: those of the study, of its runs, and the costs of discarded attempts."""
    files = RunFiles(folder)
    yield from (name for name in _OF_THE_STUDY if files.holds(name))
    yield from _named_files(folder)
    for run in runs_inside(folder):
        if PARTIAL in run.name or run.is_symlink():
            continue
        own = RunFolder(run)
        listed: tuple[str, ...] = ()
        with suppress(DamagedFile):  # pack what exists of a damaged run; the damage shows again in a check
            listed = tuple(own.meta().files or ())
        packed = (f"{name}.gz" for name in listed if not own.files.exists(name))  # a trace may have been compressed
        yield from (f"{run.name}/{name}" for name in (META, *listed, *packed) if own.files.holds(name))
    for cell in list_inside(folder, RETRIED):
        for attempt in list_inside(folder, f"{RETRIED}/{cell}"):
            place = f"{RETRIED}/{cell}/{attempt}"
            yield from (f"{place}/{name}" for name in (META, METRICS, CALLS) if RunFiles(folder / place).holds(name))


def _named_files(folder: Path) -> Iterator[str]:
    names = (f"{DONORS}.json", *(f"{DONORS}/{name}" for name in list_inside(folder, DONORS)))
    yield from filter(RunFiles(folder).holds, names)
