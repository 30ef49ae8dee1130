"""Measures the tables of the README and the guide again, with their own commands, and compares or updates the pages.

python -m benchmarks.guide_tables --list             show all tables: when they were measured, and which are stale
python -m benchmarks.guide_tables --stale --write    measure the stale tables, and update pages and digests
python -m benchmarks.guide_tables --stale --confirm  measure them, and update the digests of those with the same cells
python -m benchmarks.guide_tables Talk Repair        measure tables by name, and report the cells that differ

For each table, `guide_tables.yaml` names its page, its commands, the content of its columns, and what it depends on.
`guide_tables.lock` records when each was measured, with digests of all that can move a figure (`table_digests.py`).
`make test` compares these digests with the files; `make claims` measures the tables marked `cheap`. The page that shows
a table also shows its commands.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from benchmarks.figure_tables import (
    ROOT,
    Guide,
    GuideTable,
    figures_digest,
    files_shown,
    load,
    start_of,
    table_rows,
)
from benchmarks.table_cells import KEEP, Cells, Column
from benchmarks.table_digests import Measured, read_lock, write_lock
from quorum.comparison.comparison import Comparison, Question, compare
from quorum.comparison.factors import written
from quorum.installation.version import __version__
from quorum.runs.results_folder import read_results

_NUMBER = re.compile(r"(?<![\w.,])\d+[.,]?\d+(?![\w.,]*\d)")


def measure(table: GuideTable, folder: Path) -> dict[tuple[str, ...], list[str]]:
    """Run the commands of a table in a folder, and return the resulting cells of each row by its labels."""
    if table.within is not None:
        shutil.copytree(ROOT / table.within, folder, dirs_exist_ok=True)
    for name, text in files_shown(table.files or table.page).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    printed = [_run(command, folder) for command in table.run]
    runs = folder / "runs"
    if not table.columns:
        return _printed_rows(_read_one(runs, table.file) if table.file else printed[-1], table)
    question = Question(table.by, table.across, _metrics(table), table.baseline)
    comparison = compare([read_results(runs / (table.folder or sweep_name(table.run[-1])))], question)
    return dict(_rows(table, comparison))


def _read_one(folder: Path, name: str) -> str:
    """Read the only file below a folder that a glob matches."""
    (path,) = folder.glob(name)
    return path.read_text(encoding="utf-8")


@cache
def _run(command: str, folder: Path) -> str:
    program, *words = shlex.split(command)
    if program == "quorum":
        words = ["-m", "quorum", *words, "--quiet"]
    elif words[0] != "-m":
        words[0] = str(ROOT / words[0])
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    call = [sys.executable, *words]
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr[-2000:]}")
    return done.stdout


def sweep_name(command: str) -> str:
    """Return the folder that a sweep writes: its `--name`, or that of its experiment."""
    words = shlex.split(command)
    if "--name" in words:
        return words[words.index("--name") + 1]
    return next(word.removeprefix("experiment=") for word in words if word.startswith("experiment="))


def _metrics(table: GuideTable) -> list[str]:
    return list(dict.fromkeys(column.metric for column in map(Column.of, table.columns) if column.metric != KEEP))


def _printed_rows(text: str, table: GuideTable) -> dict[tuple[str, ...], list[str]]:
    """Find a table in the Markdown output of a command: the last one, if several have its header."""
    lines = [re.sub(r"\\(.)", r"\1", line) for line in text.splitlines()]
    start = max(number for number, line in enumerate(lines) if line.startswith(table.source or table.header))
    labels = 2 if table.rows == "points and levels" else 1
    (header,) = table_rows([lines[start]])
    page = (ROOT / table.page).read_text(encoding="utf-8").splitlines()
    width = len(next(table_rows(page[start_of(page, table) :])))
    places = [header.index(name) for name in table.take] or list(range(labels, width))
    return {
        tuple(table.labels.get(name, name) for name in row[:labels]): [row[place] for place in places]
        for row in table_rows(lines[start + 2 :])
        if row[labels - 1] not in table.hidden
    }


def _rows(table: GuideTable, comparison: Comparison) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    cells = Cells(comparison)
    points = [written(point) for point in comparison.points]
    shown = {
        "levels": [(level, table.at or points[0]) for level in comparison.levels],
        "points": [(comparison.levels[0], point) for point in points],
        "points and levels": [(level, point) for point in points for level in comparison.levels],
    }[table.rows]
    columns = []
    for column in map(Column.of, table.columns):
        where = column.where
        if table.rows == "levels":
            keys = [(level, where or point) for level, point in shown]
        else:
            keys = [(where or level, point) for level, point in shown]
        columns.append(cells.column(column, keys))
    for (level, point), *found in zip(shown, *columns, strict=True):
        if level in table.hidden:
            continue
        names = [table.labels.get(name, name) for name in (point, level)]
        labels = {"levels": names[1:], "points": names[:1], "points and levels": names}[table.rows]
        yield tuple(labels), list(found)


def put(table: GuideTable, measured: Mapping[tuple[str, ...], Sequence[str]]) -> tuple[str, list[str]]:
    """Put measured cells into a page.

    Returns:
        The text of the page, and its changes: a line for each row.

    Raises:
        ValueError: the page has no such table, or no such row.
    """
    lines = (ROOT / table.page).read_text(encoding="utf-8").splitlines()
    start = start_of(lines, table) + 2
    left, changed = dict(measured), []
    for number, row in enumerate(list(table_rows(lines[start:])), start):
        for width in (1, 2):
            if (cells := left.pop(tuple(row[:width]), None)) is None:
                continue
            new = [old if cell == KEEP else cell for old, cell in zip(row[width:], cells, strict=True)]
            if new != row[width:]:
                lines[number] = f"| {' | '.join([*row[:width], *new])} |".replace("|  |", "| |")
                changed.append(f"{table.page}:{number + 1}: {' | '.join(row)}  ->  {' | '.join(new)}")
    if left:
        raise ValueError(f"{table.page}: {table.header}: there is no row for {sorted(left)}")
    return "\n".join(lines) + "\n", changed


def old_figures_in_prose(page: str, before: str, after: str) -> Iterator[str]:
    """Yield the lines of a page outside its tables that have a figure that only the old tables had."""
    old, new = ({*_NUMBER.findall("\n".join(_lines(text, of_tables=True).values()))} for text in (before, after))
    for number, line in _lines(after, of_tables=False).items():
        if found := sorted({*_NUMBER.findall(line)} & (old - new)):
            yield f"{page}:{number} may still have an old figure: {', '.join(found)}"


def _lines(text: str, *, of_tables: bool) -> dict[int, str]:
    return {n: line for n, line in enumerate(text.splitlines(), 1) if line.startswith("|") is of_tables}


def update(guide: Guide, table: GuideTable, text: str, measured: Measured) -> None:
    """Write the page of a measured table, and record the measurement."""
    path, lock = ROOT / table.page, read_lock()
    before = path.read_text(encoding="utf-8")
    parts = [one.name for one in guide.tables if one.place == table.place and one.name in lock]
    same = [name for name in parts if lock[name].figures == figures_digest(table)]
    path.write_text(text, encoding="utf-8")
    figures = figures_digest(table)
    lock |= {name: lock[name].model_copy(update={"figures": figures}) for name in same}
    write_lock({**lock, table.name: measured.model_copy(update={"figures": figures})})
    for line in old_figures_in_prose(table.page, before, text):
        print(f"  {line}")


def measure_all(guide: Guide, tables: Sequence[GuideTable], *, write: bool, confirm: bool) -> bool:
    """Measure tables and report or update them; return whether all are as measured or written.

    The commands of a page share a folder, as a reader's do. Pages do not: two of them may name a sweep alike.
    """
    well = True
    with tempfile.TemporaryDirectory() as scratch:
        for table in tables:
            folder = Path(scratch) / table.page
            folder.mkdir(parents=True, exist_ok=True)
            begin, digests = time.monotonic(), guide.digests(table)  # before: a change during a run counts as later
            try:
                text, changed = put(table, measure(table, folder))
            except (RuntimeError, ValueError, KeyError) as error:
                print(f"{table.name}: {type(error).__name__}: {error}", flush=True)
                well = False
                continue
            seconds = round(time.monotonic() - begin)
            print(f"{table.name}: {len(changed)} rows differ ({seconds} s)", flush=True)
            print("".join(f"  {line}\n" for line in changed), end="", flush=True)
            if write or (confirm and not changed):
                today = datetime.now(UTC).date()
                last = Measured(measured=today, version=__version__, seconds=seconds, figures="", digests=digests)
                update(guide, table, text, last)
            elif changed:
                well = False
    return well


def listing(guide: Guide) -> Iterator[str]:
    """Yield a line for each table: its last measurement, and why it is out of date."""
    lock = read_lock()
    for table in guide.tables:
        if table.once is not None:
            yield f"{table.name}: measured once, {table.once.measured}, {table.once.version}: {table.once.reason}"
            continue
        last, why = lock.get(table.name), guide.out_of_date(table, lock.get(table.name))
        known = "" if last is None else f"{last.measured}, {last.version}, {last.seconds} s"
        yield f"{table.name}: {known or 'never'}{f'  OUT OF DATE: {why}' if why else ''}"


def main() -> int:
    """Measure the tables, and print or write the differences."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="names of tables; default: all")
    parser.add_argument("--list", action="store_true", help="measure nothing; show all tables")
    parser.add_argument("--stale", action="store_true", help="only the tables that are out of date")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--write", action="store_true", help="write the measured values and the digests")
    how.add_argument("--confirm", action="store_true", help="write the digests of tables whose cells are all the same")
    asked = parser.parse_args()
    guide, lock = load(), read_lock()
    if asked.list:
        print("\n".join(listing(guide)))
        return 0
    if unknown := {*asked.names} - {table.name for table in guide.tables}:
        parser.error(f"no table is called {', '.join(sorted(unknown))}: see --list")
    chosen = [table for table in guide.tables if table.run and (not asked.names or table.name in asked.names)]
    if asked.stale:
        chosen = [table for table in chosen if guide.out_of_date(table, lock.get(table.name))]
    return 0 if measure_all(guide, chosen, write=asked.write, confirm=asked.confirm) else 1


if __name__ == "__main__":
    sys.exit(main())
