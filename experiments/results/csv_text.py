"""CSV as all our files of values are written."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from quorum.experiments.results.rows import Scalar


def csv_text(lines: Iterable[Iterable[Scalar]]) -> str:
    """Write lines of values, so that they read the same everywhere.

    Whole numbers have no point, others are in full; nothing stands for what is not defined.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_cell(value) for value in line] for line in lines)
    return text.getvalue()


def _cell(value: Scalar) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        case _:
            return str(value)
