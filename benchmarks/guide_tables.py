"""Measures the tables of the README and the guide again, with their own commands, and compares or updates the pages.

python -m benchmarks.guide_tables --list             show all tables: when they were measured, and which are stale
python -m benchmarks.guide_tables --stale --write    measure the stale tables, and update pages and digests
python -m benchmarks.guide_tables --stale --confirm  measure them, and update the digests of those with the same cells
python -m benchmarks.guide_tables Talk Repair        measure tables by name, and report the cells that differ

For each table, `guide_tables.yaml` names its page, its commands, the content of its columns, and what it depends on.
`guide_tables.lock` records when each was measured, with digests of all that can move a figure (`table_digests.py`).
`make test` compares these digests with the files; `make claims` measures the tables marked `cheap`. The page that shows
a table also shows its commands.

A table is one of figures if it has an interval, or if a third of its cells begin with a number, unless a column is
called `meaning` or `default`. Each of these is in `guide_tables.yaml`: as a table to measure, as one measured once,
with the reason, or as a table of reference.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from benchmarks.table_digests import Measured, commands_digest, digest, group_digest, read_lock, write_lock
from quorum.comparison.comparison import Comparison, Question, compare
from quorum.comparison.differences import Difference
from quorum.comparison.factors import written
from quorum.comparison.groups import Group
from quorum.comparison.tables import decimals, interval, p_value
from quorum.installation.version import __version__
from quorum.runs.results_folder import read_results

ROOT = Path(__file__).resolve().parents[1]
SPEC = Path(__file__).with_suffix(".yaml")
KEEP = "-"
"""A column that is not measured: its cells stay unchanged."""
_TABLE = re.compile(r"^(\|.*)\n\|[-|: ]+\|\n((?:\|.*\n)+)", re.MULTILINE)
_INTERVAL = re.compile(r"\d \[[+-]?\d")
_FIGURE = re.compile(r"\**[<+-]?\d")
_EXPLAINS = {"meaning", "default"}
"""Columns of tables that explain names."""
_NUMBER = re.compile(r"(?<![\w.,])\d+[.,]?\d+(?![\w.,]*\d)")


class Once(BaseModel):
    """Why no command measures a table again, and when it was measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    """The version of Quorum at that time, which its page names."""
    measured: date
    """The day, or that of the version."""
    reason: str
    """Why."""


class GuideTable(BaseModel):
    """A table of the guide, or some of its rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Its name on the command line."""
    page: str
    """Path of the page, from the top of the repository."""
    header: str
    """Start of its first line; the first such table of the page is meant."""
    run: Sequence[str] = ()
    """The commands, as the page shows them. The last one makes the sweep to compare, or prints the table itself, in
    Markdown."""
    depends: Sequence[str] = ()
    """What its figures depend on: names of groups, and paths as in a group."""
    once: Once | None = None
    """Set for a table that no command of minutes measures again."""
    folder: str = ""
    """The sweep to compare, below `runs`; empty: that of the last `--name` or experiment."""
    file: str = ""
    """A file below `runs` that contains the table in Markdown; it may be a glob."""
    source: str = ""
    """Start of the header in the file or the output, if it differs from that on the page."""
    take: Sequence[str] = ()
    """The columns of the file or the output to show after the labels; empty: the first ones, as many as on the page."""
    files: str | None = None
    """Another page with files that the commands need, and which may show them; null: they are on this page."""
    within: str | None = None
    """The folder of the repository to copy and run the commands in; null: an empty folder with the files that the page
    shows."""
    cheap: bool = False
    """Whether `make claims` measures it."""
    by: Sequence[str] = ()
    across: str | None = None
    baseline: str | None = None
    rows: Literal["levels", "points", "points and levels"] = "levels"
    """The factors of the rows; their labels are the first cells."""
    at: str | None = None
    """The point of all cells, if rows are levels and columns do not name one."""
    labels: Mapping[str, str] = Field(default_factory=dict)
    """The page's names of levels and points; the others keep their own."""
    hidden: Sequence[str] = ()
    """Levels that the page omits."""
    columns: Sequence[str] = ()
    """The content of each column after the labels: see `Column`."""

    @model_validator(mode="after")
    def _is_measured_or_says_why_not(self) -> GuideTable:
        if bool(self.run) == bool(self.once) or bool(self.run) != bool(self.depends):
            raise ValueError(f"{self.name}: give either `run` and `depends`, or `once`")
        return self

    @property
    def place(self) -> tuple[str, str]:
        """Its page and header; several entries may measure parts of one table."""
        return self.page, self.header


class Reference(BaseModel):
    """A table with numbers that are not measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    page: str
    """Path of the page, from the top of the repository."""
    header: str
    """Start of its first line."""
    reason: str
    """What its numbers are."""


class Guide(BaseModel):
    """All tables of the guide that have figures."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    groups: Mapping[str, Sequence[str]]
    """Files and folders by the name of a group, or names of other groups: see `table_digests.group_digest`."""
    tables: Sequence[GuideTable]
    """The tables to measure, and those measured once."""
    reference: Sequence[Reference]
    """The tables of reference that look like figures."""

    def digests(self, table: GuideTable) -> dict[str, str]:
        """Return the digests of all that can move the figures of a table."""
        shown = files_shown(table.files or table.page)
        own = table.model_dump(exclude={"name", "page", "header", "depends", "cheap", "labels", "hidden"})
        found = {"entry": digest([repr(own)]), "commands": commands_digest(table.run, shown)}
        for name in self._named(table.depends):
            found[name] = _group_digest(tuple(self.groups.get(name, (name,))))
        return found

    def _named(self, names: Sequence[str]) -> Iterator[str]:
        """Yield the names of groups of files and of paths, with the members of groups of groups in their place."""
        for name in names:
            members = self.groups.get(name, ())
            if any(member in self.groups for member in members):
                yield from self._named(members)
            else:
                yield name

    def out_of_date(self, table: GuideTable, last: Measured | None) -> str:
        """Return why a table must be measured again; empty if it need not be."""
        if table.once is not None:
            return ""
        if last is None:
            return "it has never been measured"
        now = self.digests(table)
        if changed := [name for name in now if now[name] != last.digests.get(name)]:
            return f"measured before the last change of: {', '.join(changed)}"
        return "" if figures_digest(table) == last.figures else "its figures on the page are not those measured"


def load() -> Guide:
    """Read all tables."""
    return Guide.model_validate(yaml.safe_load(SPEC.read_text(encoding="utf-8")))


@cache
def _group_digest(entries: tuple[str, ...]) -> str:
    return group_digest(entries)


def figure_tables() -> Iterator[tuple[str, str]]:
    """Yield the page and the header of each table of figures in the README and the guide."""
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        for header, rows in _TABLE.findall(path.read_text(encoding="utf-8")):
            if is_of_figures(header, rows):
                yield path.relative_to(ROOT).as_posix(), header


def is_of_figures(header: str, rows: str) -> bool:
    """Return whether a table has figures (see the module); the first cell of a row is its label, and does not count."""
    if _EXPLAINS & {*next(_table_rows([header]))}:
        return False
    cells = [cell for row in _table_rows(rows.splitlines()) for cell in row[1:]]
    return bool(_INTERVAL.search(rows)) or 3 * sum(bool(_FIGURE.match(cell)) for cell in cells) >= len(cells) > 0


def figures_digest(table: GuideTable) -> str:
    """Return the digest of the figures that a page shows in a table.

    Raises:
        ValueError: the page has no such table.
    """
    lines = (ROOT / table.page).read_text(encoding="utf-8").splitlines()
    rows = _table_rows(lines[_start(lines, table) + 2 :])
    return digest(cell for row in rows for cell in row if _FIGURE.match(cell))


@dataclass(frozen=True)
class Column:
    """The content of a column: `METRIC [KIND] [PLACES] [@ WHERE]`.

    Attributes:
        metric: its name, or `KEEP`.
        kind: `interval` (a mean with its interval), `mean`, `difference` (from the baseline, with its interval), `p`,
            `holm`, `fewer` (boards with fewer and with more than the baseline), `count` (`45 of 50`: runs in which it
            is true), or `solved` (`25.1 (18-36), 39 of 40`: mean and range; successes, unless all runs are).
        places: decimals; None: as many as a comparison shows.
        where: the point, or the level if rows are points; empty: that of the row.
    """

    metric: str
    kind: str
    places: int | None
    where: str

    @classmethod
    def of(cls, text: str) -> Column:
        """Read a column."""
        words, _, where = text.partition(" @ ")
        metric, *rest = words.split()
        places = int(rest.pop()) if rest and rest[-1].isdigit() else None
        return cls(metric, rest[0] if rest else "interval", places, where)


class Cells:
    """Writes the cells of a comparison.

    Args:
        comparison: has the metrics of all columns.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self._differences = {(d.metric, d.level, written(d.point)): d for d in comparison.differences}
        self._groups = {(level, written(point)): group for (level, point), group in comparison.groups.items()}

    def column(self, column: Column, keys: Sequence[tuple[str, str]]) -> list[str]:
        """Return the cells of a column by level and point."""
        if column.metric == KEEP:
            return [KEEP] * len(keys)
        metric, places = column.metric, column.places
        if column.kind in ("interval", "mean", "count", "solved"):
            groups = [self._groups[key] for key in keys]
            estimates = [group.estimate(metric, "mean") for group in groups]
            if column.kind == "interval":
                return [interval(found, decimals(estimates) if places is None else places) for found in estimates]
            if column.kind == "mean":
                return ["" if math.isnan(e.value) else f"{e.value:,.{places or 0}f}" for e in estimates]
            return [(_count if column.kind == "count" else _solved)(metric, group) for group in groups]
        found = [self._differences.get((metric, *key)) for key in keys]
        there = [difference.mean for difference in found if difference is not None]
        return [self._difference(column, one, decimals(there) if places is None else places) for one in found]

    def _difference(self, column: Column, difference: Difference | None, places: int) -> str:
        if difference is None:
            return ""
        match column.kind:
            case "difference" if not difference.differing:
                return f"no {self._comparison.unit[:-1]} differs"
            case "difference":
                return interval(difference.mean, places, signed=True)
            case "p":
                return p_value(difference.p)
            case "holm":
                return p_value(difference.p_holm)
            case "fewer":
                return self._fewer(difference)
        raise ValueError(f"there is no kind {column.kind!r} of cells")

    def _fewer(self, difference: Difference) -> str:
        place = written(difference.point)
        own = self._groups[difference.level, place].cells(difference.metric)
        others = self._groups[str(self._comparison.baseline), place].cells(difference.metric)
        changes = [fmean(own[cell]) - fmean(others[cell]) for cell in own]
        return f"{sum(change < 0 for change in changes)} / {sum(change > 0 for change in changes)}"


def _count(metric: str, group: Group) -> str:
    return f"{sum(bool(row.metrics[metric]) for row in group.rows)} of {len(group.rows)}"


def _solved(metric: str, group: Group) -> str:
    values = [row.metrics[metric] for row in group.rows]
    solved = sum(bool(row.metrics["outcome.success"]) for row in group.rows)
    of_all = f", {solved} of {len(values)}" if solved < len(values) else ""
    return f"{fmean(values):.1f} ({min(values):.0f}-{max(values):.0f}){of_all}"


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
    comparison = compare([read_results(runs / (table.folder or _name(table.run)))], question)
    return dict(_rows(table, comparison))


def files_shown(page: str) -> dict[str, str]:
    """Return the files that a page shows, by path: blocks that start with a comment that is a path."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return {named[1]: block for block in blocks if (named := re.match(r"# ([\w./]+\.(?:py|yaml))\n", block))}


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


def _name(commands: Sequence[str]) -> str:
    """Return the folder that a sweep writes: its `--name`, or that of its experiment."""
    words = shlex.split(commands[-1])
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
    (header,) = _table_rows([lines[start]])
    page = (ROOT / table.page).read_text(encoding="utf-8").splitlines()
    width = len(next(_table_rows(page[_start(page, table) :])))
    places = [header.index(name) for name in table.take] or list(range(labels, width))
    return {
        tuple(table.labels.get(name, name) for name in row[:labels]): [row[place] for place in places]
        for row in _table_rows(lines[start + 2 :])
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


def _table_rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the cells of the rows of a table in Markdown, to its last row."""
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip()[1:-1].split("|")]


def _start(lines: Sequence[str], table: GuideTable) -> int:
    """Return the number of the line with the header of a table.

    Raises:
        ValueError: the page has no such table.
    """
    found = next((number for number, line in enumerate(lines) if line.startswith(table.header)), None)
    if found is None:
        raise ValueError(f"{table.page}: no table begins with {table.header!r}")
    return found


def put(table: GuideTable, measured: Mapping[tuple[str, ...], Sequence[str]]) -> tuple[str, list[str]]:
    """Put measured cells into a page.

    Returns:
        The text of the page, and its changes: a line for each row.

    Raises:
        ValueError: the page has no such table, or no such row.
    """
    lines = (ROOT / table.page).read_text(encoding="utf-8").splitlines()
    start = _start(lines, table) + 2
    left, changed = dict(measured), []
    for number, row in enumerate(list(_table_rows(lines[start:])), start):
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
    """Measure tables and report or update them; return whether all are as measured or written."""
    well = True
    with tempfile.TemporaryDirectory() as folder:
        for table in tables:
            begin, digests = time.monotonic(), guide.digests(table)  # before: a change during a run counts as later
            try:
                text, changed = put(table, measure(table, Path(folder)))
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
