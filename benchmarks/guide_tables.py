"""Measures the tables of the README and the guide again, with their own commands, and compares or updates the pages.

python -m benchmarks.guide_tables              measure all, and report the cells that differ
python -m benchmarks.guide_tables --write      write the measured values into the pages
python -m benchmarks.guide_tables Talk Repair  only the tables with these names

For each table, `guide_tables.yaml` names its page, its commands, and the content of its columns. `make claims` measures
the tables marked `cheap`. The page that shows a table also shows its commands.
"""

from __future__ import annotations

import argparse
import math
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from quorum.comparison.comparison import Comparison, Question, compare
from quorum.comparison.differences import Difference
from quorum.comparison.factors import written
from quorum.comparison.groups import Group
from quorum.comparison.tables import decimals, interval, p_value
from quorum.runs.results_folder import read_results

ROOT = Path(__file__).resolve().parents[1]
SPEC = Path(__file__).with_suffix(".yaml")
KEEP = "-"
"""A column that is not measured: its cells stay unchanged."""


class GuideTable(BaseModel):
    """A table of the guide, or some of its rows."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """Its name on the command line."""
    page: str
    """Path of the page, from the top of the repository."""
    header: str
    """Start of its first line; the first such table of the page is meant."""
    run: Sequence[str]
    """The commands, as the page shows them. The last one makes the sweep to compare, or prints the table itself, in
    Markdown."""
    folder: str = ""
    """The sweep to compare, below `runs`; empty: that of the last `--name` or experiment."""
    file: str = ""
    """A file below `runs` that contains the table in Markdown, with the same header."""
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


def load() -> list[GuideTable]:
    """Read all tables."""
    return [GuideTable.model_validate(entry) for entry in yaml.safe_load(SPEC.read_text(encoding="utf-8"))]


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
    _write_files(ROOT / (table.files or table.page), folder)
    printed = [_run(command, folder) for command in table.run]
    runs = folder / "runs"
    if not table.columns:
        return _printed_rows((runs / table.file).read_text(encoding="utf-8") if table.file else printed[-1], table)
    question = Question(table.by, table.across, _metrics(table), table.baseline)
    comparison = compare([read_results(runs / (table.folder or _name(table.run)))], question)
    return dict(_rows(table, comparison))


def _write_files(page: Path, folder: Path) -> None:
    """Write the files that a page shows: blocks that start with a comment that is a path."""
    for block in re.findall(r"^```\w+\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        if named := re.match(r"# ([\w./]+\.(?:py|yaml))\n", block):
            (folder / named[1]).parent.mkdir(parents=True, exist_ok=True)
            (folder / named[1]).write_text(block, encoding="utf-8")


@cache
def _run(command: str, folder: Path) -> str:
    program, *words = shlex.split(command)
    words = ["-m", "quorum", *words, "--quiet"] if program == "quorum" else [str(ROOT / words[0]), *words[1:]]
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)
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
    start = max(number for number, line in enumerate(lines) if line.startswith(table.header))
    labels = 2 if table.rows == "points and levels" else 1
    return {tuple(row[:labels]): row[labels:] for row in _table_rows(lines, start)}


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


def _table_rows(lines: Sequence[str], start: int) -> Iterator[list[str]]:
    """Yield the cells of the rows of a table in Markdown, whose header is at `start`."""
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def put(table: GuideTable, measured: Mapping[tuple[str, ...], Sequence[str]]) -> tuple[str, list[str]]:
    """Put measured cells into a page.

    Returns:
        The text of the page, and its changes: a line for each row.

    Raises:
        ValueError: the page has no such table, or no such row.
    """
    lines = (ROOT / table.page).read_text(encoding="utf-8").splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith(table.header)]
    if not starts:
        raise ValueError(f"{table.page}: no table begins with {table.header!r}")
    left, changed = dict(measured), []
    for number, row in enumerate(_table_rows(lines, starts[0]), starts[0] + 2):
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


def main() -> None:
    """Measure the tables, and print or write the differences."""
    parser = argparse.ArgumentParser(description="Measure the tables of the guide again.")
    parser.add_argument("names", nargs="*", help="names of tables; default: all")
    parser.add_argument("--write", action="store_true", help="write the measured values into the pages")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for table in load():
            if asked.names and table.name not in asked.names:
                continue
            begin = time.monotonic()
            text, changed = put(table, measure(table, Path(folder)))
            print(f"{table.name}: {len(changed)} rows differ ({time.monotonic() - begin:.0f} s)", flush=True)
            print("".join(f"  {line}\n" for line in changed), end="", flush=True)
            if asked.write:
                (ROOT / table.page).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
