"""A table as text in rows; `formats` writes it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        title: what it shows.
        header: a text a column.
        rows: as many texts each.
        caption: what a reader must know of the numbers.
        labels: number of columns at the left that are labels.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    labels: int = 1
