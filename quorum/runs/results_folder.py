"""Reads the results of a sweep, or of any folder of runs, and writes them as CSV."""

from __future__ import annotations

import csv
import io
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from maeil.metrics import compute_on_demand, metrics_by_group, reproducible
from maeil.metrics.model import Wasted
from quorum.agents.llm.spending import Spent
from quorum.display.sanitize import sanitize_lines
from quorum.episode.episode_folder import PARTIAL
from quorum.runs.finished import dropped_attempts
from quorum.runs.newest import sweeps_hint
from quorum.runs.rows import OWN, POOLED, Damaged, Results, Row, keys_of
from quorum.runs.run_folder import RunFolder, is_run, require_folder, runs_inside
from quorum.runs.sweep_file import read_sweep
from quorum.storage.files import write_all
from quorum.storage.run_files import META
from quorum_base.user_errors import UserError

_log = logging.getLogger(__name__)


def read_results(folder: Path) -> Results:
    """Read the runs of a folder.

    If a cell has several runs, the last pooled one counts, else the last one, because `quorum run` keeps every run. A
    cell that a sweep planned in two arms has a row in each.

    Args:
        folder: folder of a sweep, of any runs, or of a single run.

    Raises:
        UserError: there is no such folder, it holds no runs, or it is a single run that is damaged.
    """
    require_folder(folder)
    folders = list(runs_inside(folder))
    sweep = read_sweep(folder)
    if single := sweep is None and not folders and is_run(folder):
        folders = [folder.resolve()]
    names = {path.name for path in folders}
    read = [RunFolder(path).row() for path in folders if single or PARTIAL not in path.name]
    found = _last_of_each(item for item in read if isinstance(item, Row))
    damaged = tuple(item for item in read if isinstance(item, Damaged))
    if single and damaged:
        raise UserError(f"{folder}: {damaged[0].reason}")
    if not read and sweep is None:
        raise UserError(f"{folder}: it contains no finished runs", sweeps_hint(folder))
    _log.info("read %d runs in %s, %d of them damaged", len(read), folder, len(damaged))
    planned = sweep.cells if sweep is not None else ()
    there, spoiled = {cell.hash for cell in planned}, {item.name for item in damaged}
    rows = [
        row if row.arm == cell.arm else replace(row, arm=cell.arm)
        for cell in planned
        if (row := found.get(cell.hash)) is not None
    ]
    rows += sorted((row for row in found.values() if row.hash not in there), key=lambda row: row.name)
    return Results(
        folder=folder,
        sweep=sweep,
        rows=tuple(_with_wasted(folder, rows)),
        missing=tuple(cell for cell in planned if cell.hash not in found and cell.name not in spoiled),
        unfinished=sum(PARTIAL in name for name in names),
        damaged=damaged,
    )


def _with_wasted(folder: Path, rows: list[Row]) -> list[Row]:
    """Add the usage of dropped attempts to the metrics of each run, if any attempt in the folder used anything."""
    dropped = dropped_attempts(folder)
    if not any(spent.answers for spent in dropped.values()):
        return rows
    nothing = Spent()
    return [replace(row, metrics={**row.metrics, **_wasted(dropped.get(row.name, nothing))}) for row in rows]


def _wasted(spent: Spent) -> dict[str, float | None]:
    found = Wasted(spent.answers, spent.tokens, spent.known_usd)
    return {name: None if value is None else float(value) for name, value in compute_on_demand(found).items()}


def _last_of_each(rows: Iterable[Row]) -> Mapping[str, Row]:
    """Select the run of each cell, by hash."""
    found: dict[str, Row] = {}
    for row in rows:
        other = found.get(row.hash)
        if other is None or _rank(row) >= _rank(other):
            found[row.hash] = row
    return found


def _rank(row: Row) -> tuple[bool, str, int]:
    number = row.name.rpartition(".")[2]
    return row.outcome in POOLED, row.start, int(number) if number.isdecimal() else 0


RESULTS = "results.csv"
"""The table of the runs of a folder."""

_FORMULA = re.compile("[\\t=+@\uff1d\uff0b\uff20\uff0d-]")
"""Characters that start a formula in spreadsheets, including their full-width forms."""
_NUMBER = re.compile(r"[+-]?(\d[\d,]*)?(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def write_csv(results: Results) -> Path:
    """Rewrite `results.csv` of a sweep; return the file.

    Raises:
        UserError: it cannot be written there.
    """
    folder = results.folder
    write_all(folder, {RESULTS: as_csv(results).encode()}, f"To print it instead: quorum results {folder} --csv")
    return folder / RESULTS


def is_current(folder: Path) -> bool:
    """Whether `results.csv` of a sweep is newer than all of its runs."""
    try:
        written = os.lstat(folder / RESULTS).st_mtime_ns
        with os.scandir(folder) as entries:
            runs = (entry for entry in entries if entry.is_dir() and not entry.name.startswith("."))
            # Compare change times: a copied run may keep an older modification time.
            return all(os.lstat(os.path.join(run.path, META)).st_ctime_ns < written for run in runs)
    except OSError:
        return False


def as_csv(results: Results) -> str:
    """Return the table: the runs in planning order with their own columns, configuration and reproducible metrics.

    Equal results give equal text. So wall times and dates are left out; they are in `metrics.json` and `meta.json` of
    each run.
    """
    measured = (name for name in metric_columns(results.rows) if name in reproducible(dict.fromkeys([name])))
    columns = (*OWN, *factor_columns(results.rows), *measured)
    once = lru_cache(maxsize=None, typed=True)(_cell)  # runs share most values
    return csv_text([columns, *(map(row.record().get, columns) for row in results.rows)], once)


def factor_columns(rows: Iterable[Row]) -> list[str]:
    """Return every key of the runs' configurations, grouped, in the order in which they appear in the runs."""
    keys = keys_of(row.factors for row in rows)
    groups = list(dict.fromkeys(key.partition(".")[0] for key in keys))
    return sorted(keys, key=lambda key: groups.index(key.partition(".")[0]))


def metric_columns(rows: Iterable[Row]) -> list[str]:
    """Return every metric of the runs in the order of computation; unknown ones come last, by name."""
    names = keys_of(row.metrics for row in rows)
    order = {metric.name: place for place, metric in enumerate(metrics_by_group())}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def csv_text(lines: Iterable[Iterable[Any]], cell: Callable[[Any], str] | None = None) -> str:
    """Format lines of values, so that they read the same everywhere.

    Whole numbers have no decimal point, others have full precision; undefined values are empty. Control characters in a
    text become symbols; a text that a spreadsheet would run as a formula starts with an apostrophe.

    Args:
        lines: the lines; the first names the columns.
        cell: formats a value; None: the usual way.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(cell or _cell, line) for line in lines)
    return text.getvalue()


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        case int() | float():
            return str(value)
        case _:
            text = sanitize_lines(str(value))
            return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text
