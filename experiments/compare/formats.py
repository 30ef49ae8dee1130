"""A table as text in rows, and how it is written: for the terminal, as Markdown, as CSV; `latex` writes papers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import JustifyMethod
from rich.table import Table as RichTable

from quorum.experiments.common.consoles import Console, Text
from quorum.experiments.common.sanitize import sanitize_lines
from quorum.experiments.results.results_csv import csv_text

ARROWS = "↑ more is better, ↓ less is better."
"""What the signs behind metrics mean."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        title: what it shows.
        header: a text a column.
        rows: as many texts each.
        caption: what a reader must know of the numbers.
        labels: number of columns at the left that are labels.
        name: short name, for a label in LaTeX; empty: the title.
        words: the title as words, where it is no sentence; empty: the title.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    labels: int = 1
    name: str = ""
    words: str = ""


def print_tables(found: Iterable[Table], notes: Iterable[str], console: Console) -> None:
    """Print the tables, and the notes before them. Headers wrap; numbers and labels are never cut or folded."""
    for note in notes:
        console.print(Text(note, style="yellow" if note.startswith("Simulated") else ""))
    for table in found:
        shown = RichTable()
        columns = list(zip(table.header, *table.rows, strict=True))
        widths = [max(map(cell_len, cells)) for cells in columns]
        if _total(widths) > console.width:
            widths = [max(cell_len(text) for text in (*cells[1:], *cells[0].split())) for cells in columns]
        for place, (cells, width) in enumerate(zip(columns, widths, strict=True)):
            # Of a width that is left to it, Rich cuts the last column of a table that nearly fits.
            justify: JustifyMethod = "left" if place < table.labels else "right"
            shown.add_column(Text(cells[0]), justify=justify, min_width=width, max_width=width)
        needed = _total(widths)
        for row in table.rows:
            shown.add_row(*map(Text, row))
        console.print("\n", Text(table.title, style="bold"), sep="")
        wide = needed > console.width
        console.print(shown, width=max(needed, console.width), crop=not wide, soft_wrap=wide)
        if table.caption:
            console.print(Text(table.caption, style="dim"))


def _total(widths: Sequence[int]) -> int:
    """Return how wide a table is whose columns are so wide, with its lines."""
    return 1 + sum(width + 3 for width in widths)


def as_markdown(found: Iterable[Table], notes: Iterable[str]) -> str:
    """Write the tables and the notes as Markdown."""
    parts = ["\n".join(f"- {_in_line(note)}" for note in notes)]
    for table in found:
        rules = ["---" if place < table.labels else "---:" for place in range(len(table.header))]
        lines = [table.header, rules, *table.rows]
        text = "\n".join(f"| {' | '.join(_in_line(cell) for cell in line)} |" for line in lines)
        parts.append(f"### {_in_line(table.title)}\n\n{text}" + (f"\n\n{table.caption}" if table.caption else ""))
    return sanitize_lines("\n\n".join(parts) + "\n")


def _in_line(text: str) -> str:
    return re.sub(r"([\\|<>`*_\[\]])", r"\\\1", re.sub(r"\s+", " ", text))


def as_csv(table: Table) -> str:
    """Write a table as CSV, as it is shown."""
    return csv_text([table.header, *table.rows])
