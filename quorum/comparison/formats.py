"""Tables as rows of text, written for the terminal, as Markdown, as CSV and as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from rich.cells import cell_len
from rich.console import JustifyMethod
from rich.table import Table as RichTable

from maeil.metrics import METRICS
from quorum.display.consoles import Console, Text
from quorum.display.sanitize import sanitize_lines
from quorum.runs.results_folder import csv_text

ARROWS = "↑ more is better, ↓ less is better."
"""Meaning of the arrows after metrics."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        title: what it shows.
        header: a text for each column.
        rows: a text for each column in each row.
        caption: what a reader must know about the numbers.
        labels: number of label columns on the left.
        name: short name, for a label in LaTeX; empty: the title.
        words: the title in words, if it is not a sentence; empty: the title.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    labels: int = 1
    name: str = ""
    words: str = ""


def print_tables(found: Iterable[Table], notes: Iterable[str], console: Console) -> None:
    """Print the notes and then the tables. Headers wrap; numbers and labels are never cut or folded."""
    for note in notes:
        console.print(Text(note, style="yellow" if note.startswith("Simulated") else ""))
    for table in found:
        shown = RichTable()
        columns = list(zip(table.header, *table.rows, strict=True))
        widths = [max(map(cell_len, cells)) for cells in columns]
        if _total(widths) > console.width:
            widths = [max(cell_len(text) for text in (*cells[1:], *cells[0].split())) for cells in columns]
        for place, (cells, width) in enumerate(zip(columns, widths, strict=True)):
            # Give every column a fixed width: otherwise Rich cuts the last column of a table that nearly fits.
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
    """Return the width of a table with these column widths, including its lines."""
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
    """Write a table as CSV, as shown."""
    return csv_text([table.header, *table.rows])


COLUMN_POINTS = 235.0
"""Column width of a two-column paper, in TeX's points: 3.25 inches, the narrowest of the usual classes (ICML)."""
_LETTER_POINTS, _GAP_POINTS = 4.3, 8.0
"""Width of a digit at `\\footnotesize` in Computer Modern (cmr8), and of the space between two columns of a table."""
_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "↑": r"$\uparrow$", "↓": r"$\downarrow$", "|": r"\textbar{}", "…": r"\dots{}",
}  # fmt: skip
_FIT = r"""% Needs \usepackage{booktabs} and \usepackage{graphicx}.
\providecommand{\quorumfit}[1]{\begingroup\sbox0{#1}%
  \ifdim\wd0>\linewidth\resizebox{\linewidth}{!}{\usebox0}\else\usebox0\fi\endgroup}
"""
_MEANT = {"↑": "higher is better", "↓": "lower is better"}


def tables_as_latex(found: Iterable[Table], notes: Iterable[str], columns: int) -> str:
    """Write tables as LaTeX, with the notes as comments.

    Args:
        found: the tables.
        notes: their notes.
        columns: columns of the document: with two, a wide table spans both.
    """
    labels = _Labels("tab")
    parts = [_table(table, labels, columns) for table in found]
    return sanitize_lines("\n".join([_comments(notes) + _FIT, *parts]))


def figures_as_latex(files: Mapping[str, tuple[str, bool]], notes: Iterable[str], columns: int) -> str:
    """Write figures as LaTeX.

    Args:
        files: by file: the description of the figure, and whether it is as wide as a page.
        notes: their notes.
        columns: columns of the document.
    """
    labels = _Labels("fig")
    parts = [
        _float("figure", columns == 2 and wide, _words(description), labels.take(PurePath(file).stem), _image(file))
        for file, (description, wide) in files.items()
    ]
    return sanitize_lines("\n".join([_comments(notes) + _FIT, *parts]))


def escaped(text: str) -> str:
    """Return a text on one line, escaped for TeX."""
    return "".join(_SIGNS.get(sign, sign) for sign in re.sub(r"\s+", " ", text))


class _Labels:
    """Makes unique labels."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._taken: dict[str, int] = {}

    def take(self, name: str) -> str:
        plain = re.sub("[^a-z0-9]+", "-", name.lower()).strip("-") or "table"
        self._taken[plain] = number = self._taken.get(plain, 0) + 1
        return f"{self._kind}:{plain}" + (f"-{number}" if number > 1 else "")


def _comments(notes: Iterable[str]) -> str:
    return "".join(f"% {re.sub(chr(10), ' ', note)}\n" for note in notes)


def _image(file: str) -> str:
    stem, _, form = file.rpartition(".")
    return f"\\quorumfit{{\\includegraphics{{{{{stem}}}.{form}}}}}"


def _table(table: Table, labels: _Labels, columns: int) -> str:
    header = [_heading(cell) for cell in table.header]
    form = "l" * table.labels + "r" * (len(header) - table.labels)
    lines = "\n".join(f"  {_row(map(_cell, row))}" for row in table.rows)
    tabular = (
        "\\quorumfit{\\footnotesize\\setlength{\\tabcolsep}{4pt}%\n"
        f"\\begin{{tabular}}{{@{{}}{form}@{{}}}}\n  \\toprule\n  {_row(header)}\n  \\midrule\n{lines}\n"
        "  \\bottomrule\n\\end{tabular}}"
    )
    signed = any(sign in cell for cell in table.header for sign in _MEANT)
    caption = table.caption if signed else table.caption.replace(ARROWS, "")
    words = _sentences(_words(table.words or table.title), caption)
    wide = columns == 2 and _points(table) > COLUMN_POINTS
    return _float("table", wide, words, labels.take(table.name or table.title), tabular)


def _float(kind: str, wide: bool, words: str, label: str, content: str) -> str:
    star = "*" if wide else ""
    caption = f"\\caption{{{escaped(words)}}}\n\\label{{{label}}}\n"
    body = caption + "\\smallskip\n" + content + "\n" if kind == "table" else content + "\n" + caption
    return f"\\begin{{{kind}{star}}}\n\\centering\n{body}\\end{{{kind}{star}}}\n"


def _row(cells: Iterable[str]) -> str:
    # LaTeX would read a row that begins with a bracket as an option of the previous row.
    return f"{{}}{' & '.join(cells)} \\\\"


def _cell(text: str) -> str:
    return "--" if text == "-" else re.sub(r"(?<![\w.])-(?=\d)", "$-$", escaped(text))


def _heading(text: str) -> str:
    """Write a column heading: for a metric its title and its unit."""
    name, _, sign = text.partition(" ")
    if name not in METRICS:
        return escaped(text)
    metric = METRICS[name]
    unit = f" ({metric.unit})" if metric.unit and metric.unit != metric.title else ""
    return escaped(f"{metric.title}{unit} {sign}".strip())


def _words(text: str) -> str:
    """Describe a table or figure in words: metrics by their titles, arrows by their meaning."""
    meant = [words for sign, words in _MEANT.items() if sign in text]
    plain = re.sub(r" ?[↑↓]", "", text)
    for name in sorted(set(re.findall(r"[a-z_]+\.[a-z_0-9]+", plain)) & METRICS.keys(), key=len, reverse=True):
        plain = plain.replace(name, METRICS[name].title)
    return _sentences(plain[:1].upper() + plain[1:] + (f" ({meant[0]})" if len(meant) == 1 else ""))


def _sentences(*parts: str) -> str:
    return " ".join(part if part.endswith((".", "?", "!")) else f"{part}." for part in parts if part)


def _points(table: Table) -> float:
    """Estimate the width of a table, in points."""
    widths = [max(map(len, cells)) for cells in zip(table.header, *table.rows, strict=True)]
    return sum(widths) * _LETTER_POINTS + (len(widths) - 1) * _GAP_POINTS
