"""The tables of the README and the guide that have figures: which there are, and when each must be measured again.

A table is one of figures if it has an interval, or if a third of its cells begin with a number, unless a column is
called `meaning` or `default`. Each of these is in `guide_tables.yaml`: as a table to measure, as one measured once,
with the reason, or as a table of reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, model_validator

from benchmarks.table_digests import Measured, commands_digest, digest, group_digest

ROOT = Path(__file__).resolve().parents[1]
SPEC = Path(__file__).with_name("guide_tables.yaml")
_TABLE = re.compile(r"^(\|.*)\n\|[-|: ]+\|\n((?:\|.*\n)+)", re.MULTILINE)
_INTERVAL = re.compile(r"\d \[[+-]?\d")
_FIGURE = re.compile(r"\**[<+-]?\d")
_EXPLAINS = {"meaning", "default"}
"""Columns of tables that explain names."""


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
    if _EXPLAINS & {*next(table_rows([header]))}:
        return False
    cells = [cell for row in table_rows(rows.splitlines()) for cell in row[1:]]
    return bool(_INTERVAL.search(rows)) or 3 * sum(bool(_FIGURE.match(cell)) for cell in cells) >= len(cells) > 0


def figures_digest(table: GuideTable) -> str:
    """Return the digest of the figures that a page shows in a table.

    Raises:
        ValueError: the page has no such table.
    """
    lines = (ROOT / table.page).read_text(encoding="utf-8").splitlines()
    rows = table_rows(lines[start_of(lines, table) + 2 :])
    return digest(cell for row in rows for cell in row if _FIGURE.match(cell))


def files_shown(page: str) -> dict[str, str]:
    """Return the files that a page shows, by path: blocks that start with a comment that is a path."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return {named[1]: block for block in blocks if (named := re.match(r"# ([\w./]+\.(?:py|yaml))\n", block))}


def table_rows(lines: Sequence[str]) -> Iterator[list[str]]:
    """Yield the cells of the rows of a table in Markdown, to its last row."""
    for line in lines:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip()[1:-1].split("|")]


def start_of(lines: Sequence[str], table: GuideTable) -> int:
    """Return the number of the line with the header of a table.

    Raises:
        ValueError: the page has no such table.
    """
    found = next((number for number, line in enumerate(lines) if line.startswith(table.header)), None)
    if found is None:
        raise ValueError(f"{table.page}: no table begins with {table.header!r}")
    return found
