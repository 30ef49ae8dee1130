"""Packs the finished cells of a large sweep while it runs: see `quorum.experiments.common.packed`.

Cells that ended in an error keep their folders, for `--retry-failed`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from maeil.digests import digest
from maeil.inside import list_inside
from quorum.experiments.common.packed import LARGEST_CELL, as_member, remove_folder, write_shard
from quorum.experiments.common.run_files import PICTURES, DamagedFile
from quorum.experiments.episode.episode_folder import Unwritable
from quorum.experiments.results.finished import FinishedCell
from quorum.experiments.results.packed_rows import pack_finished, pack_rows
from quorum.experiments.results.rows import Row
from quorum.experiments.results.run_folder import RunFolder

_log = logging.getLogger(__name__)

FROM = 10_000
"""A sweep with more cells is packed."""
CELLS = 2_000
"""Of a shard, at most."""
LARGEST_ARCHIVE = 64 << 20
"""Bytes behind which a shard takes no more cells."""


def pack(folder: Path, cells: Sequence[FinishedCell]) -> None:
    """Move finished cells from their folders to shards, each as soon as it is full. What cannot be packed stays.

    Raises:
        OSError: nothing more can be written.
    """
    members: dict[str, bytes] = {}
    packed: list[tuple[FinishedCell, Row]] = []
    for cell in cells:
        run = RunFolder(folder / cell.name)
        files, row = _files(run), run.row()
        if files is None or not isinstance(row, Row):
            continue
        members[cell.name] = as_member(cell.name, files)
        packed.append((cell, row))
        if sum(map(len, members.values())) > LARGEST_ARCHIVE:
            _move(folder, members, packed)
            members, packed = {}, []
    if members:
        _move(folder, members, packed)


def _move(folder: Path, members: Mapping[str, bytes], packed: Sequence[tuple[FinishedCell, Row]]) -> None:
    """Write the next shard, and remove the folders of its cells."""
    write_shard(folder, members, pack_rows([row for _, row in packed]), pack_finished([cell for cell, _ in packed]))
    for name in members:
        remove_folder(folder, name)
    _log.info("packed %d cells in %s", len(members), folder)


def _files(run: RunFolder) -> Mapping[str, bytes] | None:
    """Read all files of a cell by name; None where it is not whole or too large, or holds what is no file of a run."""
    found, left = {}, LARGEST_CELL
    try:
        for name in _names(run.path):
            found[name] = run.files.part(name, 0, left + 1)
            left -= len(found[name])
            if left < 0:
                return None
        digests = run.meta().files or {}
    except DamagedFile:
        return None
    whole = all(digest(data) == digests.get(name, digest(data)) for name, data in found.items())
    return found if whole else None


def _names(folder: Path) -> list[str]:
    """Return the names of the files of a cell, those of its pictures among them."""
    pictures = [f"{PICTURES}/{name}" for name in list_inside(folder, PICTURES)]
    return [*(name for name in list_inside(folder.parent, folder.name) if name != PICTURES), *pictures]


@contextmanager
def packing(
    folder: Path, planned: int, done: Iterable[FinishedCell]
) -> Iterator[Callable[[Sequence[FinishedCell]], None]]:
    """Pack cells in a thread, a shard at a time, where a sweep has more than `FROM`.

    Args:
        folder: of the sweep, which is ours alone.
        planned: number of its cells.
        done: cells that are done already; those that are packed are left out.

    Yields:
        what is to be called with all cells that have finished so far.

    Raises:
        UserError: nothing more can be written.
    """
    if planned <= FROM:
        yield lambda _: None
        return
    present = set(os.listdir(folder))
    waiting = [cell for cell in done if not cell.failed and cell.name in present]
    taken = 0
    thread = ThreadPoolExecutor(1, "quorum-packer")
    packed: list[Future[None]] = []

    def take(finished: Sequence[FinishedCell], least: int = CELLS) -> None:
        nonlocal taken
        waiting.extend(cell for cell in finished[taken:] if not cell.failed)
        taken = max(taken, len(finished))
        while len(waiting) >= least:
            packed.append(thread.submit(pack, folder, waiting[:CELLS]))
            del waiting[:CELLS]

    try:
        yield take
        take((), 1)
    finally:
        thread.shutdown()
    try:
        for one in packed:
            one.result()
    except OSError as error:
        raise Unwritable(f"{folder}: cells cannot be packed: {error.strerror or error}", "Make room.") from error
