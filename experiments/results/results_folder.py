"""Reads the results of a sweep, or of any folder of runs."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from maeil.user_errors import UserError
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.results.rows import POOLED, Damaged, Results, Row
from quorum.experiments.results.run_folder import RunFolder, is_run, no_such_folder, runs_inside
from quorum.experiments.results.sweep_file import Sweep, SweepCell, read_sweep

_log = logging.getLogger(__name__)


def read_results(folder: Path) -> Results:
    """Read the runs of a folder.

    Of several runs of one cell the last pooled one counts, else the last one: `quorum run` keeps every run that it
    makes. A cell that a sweep planned in two arms gives a row in each.

    Args:
        folder: of a sweep, or of any runs.

    Raises:
        UserError: there is no such folder, or it holds no runs.
    """
    folders = _run_folders(folder)
    sweep = read_sweep(folder)
    read = [_row(path) for path in folders if PARTIAL not in path.name]
    found = _last_of_each(item for item in read if isinstance(item, Row))
    damaged = tuple(item for item in read if isinstance(item, Damaged))
    if not read and sweep is None:
        raise UserError(f"{folder}: it holds no runs that are finished", _hint(folder))
    _log.info("read %d runs in %s, %d of them damaged", len(read), folder, len(damaged))
    planned = sweep.cells if sweep is not None else ()
    there = {cell.hash for cell in planned}
    rows = [replace(found[cell.hash], arm=cell.arm) for cell in planned if cell.hash in found]
    rows += sorted((row for row in found.values() if row.hash not in there), key=lambda row: row.name)
    return Results(
        folder=folder,
        sweep=sweep,
        rows=tuple(rows),
        missing=tuple(_missing(sweep, found, damaged)) if sweep is not None else (),
        unfinished=len(folders) - len(read),
        damaged=damaged,
    )


def _row(path: Path) -> Row | Damaged:
    if path.is_symlink():
        return Damaged(path.name, "it is a link, which is not followed")
    return RunFolder(path).row()


def _run_folders(folder: Path) -> list[Path]:
    if not folder.exists():
        raise no_such_folder(folder)
    try:
        return list(runs_inside(folder))
    except NotADirectoryError as error:
        raise UserError(f"{folder}: it is a file; give the folder of a sweep") from error
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror or error}") from error


def _hint(folder: Path) -> str:
    if is_run(folder):
        return f"It is a single run: give the folder that holds it, {folder.parent}."
    inside = sorted(path.parent.name for path in folder.glob("*/sweep.json"))
    if inside:
        return f"It holds sweeps: give one or more of them, {', '.join(str(folder / name) for name in inside[:5])}."
    return "Give the folder of a sweep, or the --out folder of `quorum run`."


def _last_of_each(rows: Iterable[Row]) -> Mapping[str, Row]:
    """Choose the run of each cell, by hash."""
    found: dict[str, Row] = {}
    for row in rows:
        other = found.get(row.hash)
        if other is None or _rank(row) >= _rank(other):
            found[row.hash] = row
    return found


def _rank(row: Row) -> tuple[bool, str, int]:
    number = row.name.rpartition(".")[2]
    return row.outcome in POOLED, row.start, int(number) if number.isdecimal() else 0


def _missing(sweep: Sweep, found: Mapping[str, Row], damaged: Iterable[Damaged]) -> Iterator[SweepCell]:
    spoiled = {item.name for item in damaged}
    return (cell for cell in sweep.cells if cell.hash not in found and cell.name not in spoiled)
