"""A whole sweep as a folder of pages, which a browser opens from disk, and any web server serves."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from quorum.episode.call_ledger import CALLS
from quorum.runs.run_folder import RunFolder
from quorum.storage.files import os_errors
from quorum.storage.run_files import MIB
from quorum.view.viewer.episode import read_episode
from quorum.view.viewer.page import SITE_FILES, site_page, static_file
from quorum_base.user_errors import UserError

_PACKED = 5
"""Bytes of traces and calls for one byte of the pages: about 7 in short runs, more in long ones."""
_OF_A_RUN, _OF_THE_SITE = 8 << 10, MIB
"""Bytes that a page, and the shared files, take in addition."""


def write_site(sweep: Path, names: Sequence[str], folder: Path, most: int, report: Callable[[str], None]) -> Path:
    """Write the pages of a sweep into a new folder, all or none, and return the first page.

    Args:
        sweep: folder of the sweep.
        names: names of the runs in it.
        folder: the folder, in one that exists.
        most: maximum MiB.
        report: called with the expected size before anything is written.

    Raises:
        UserError: the folder exists, or cannot be written; or the pages take more than `most`.
    """
    if os.path.lexists(folder):
        raise UserError(f"--export {folder}: this already exists", "Give the name of a new folder.")
    runs = [sweep / name for name in names]
    expected = _expected(runs)
    report(f"{len(runs)} runs: about {expected} MiB in {folder}")
    if expected > most:
        raise _too_large(folder, f"about {expected} MiB", most)
    with (
        os_errors(f"--export {folder}: cannot be written", "Give another folder."),
        TemporaryDirectory(dir=folder.parent, prefix=".export-") as work,
    ):
        site, left = Path(work, "site"), most * MIB
        for name in ("static", "run"):
            (site / name).mkdir(parents=True)
        for name, data in _files(sweep, runs):
            left -= len(data)
            if left < 0:
                raise _too_large(folder, "more", most)
            (site / name).write_bytes(data)
        os.rename(site, folder)
    return folder / "index.html"


def _expected(runs: Sequence[Path]) -> int:
    """Return the expected size of the pages in MiB, rounded up."""
    folders = map(RunFolder, runs)
    recorded = sum(run.files.size(file) for run in folders for file in (run.trace_name(), CALLS) if file is not None)
    return -(-(recorded // _PACKED + len(runs) * _OF_A_RUN + _OF_THE_SITE) // MIB)


def _too_large(folder: Path, size: str, most: int) -> UserError:
    return UserError(
        f"--export {folder}: the pages of these runs take {size}, and the limit is {most} MiB",
        "Raise it with --max-size MIB, or export single runs.",
    )


def _files(sweep: Path, runs: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the site by name; a run is read when its page is next."""
    yield from ((f"static/{name}", static_file(name)) for name in SITE_FILES)
    yield "index.html", site_page(sweep).encode()
    yield from ((f"run/{run.name}.html", site_page(read_episode(run)).encode()) for run in runs)
