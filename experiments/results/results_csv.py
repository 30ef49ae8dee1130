"""`results.csv`: one line a run."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from pathlib import Path

from maeil.metrics import metrics_by_group, reproducible
from quorum.experiments.common.files import write_whole
from quorum.experiments.common.sanitize import sanitize_lines
from quorum.experiments.results.results_folder import read_results
from quorum.experiments.results.rows import OWN, Results, Row

_FORMULA = re.compile("[\\t=+@\uff1d\uff0b\uff20\uff0d-]")
"""What a formula begins with in spreadsheets, also in the wide forms of those characters."""
_NUMBER = re.compile(r"[+-]?(\d[\d,]*)?(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE | re.ASCII)


def write_csv(folder: Path) -> Path:
    """Rebuild `results.csv` of a sweep from the folders of its runs; return the file.

    Raises:
        UserError: the folder holds no runs, or the file cannot be written there.
    """
    target = folder / "results.csv"
    write_whole(target, as_csv(read_results(folder)).encode(), f"To print it instead: quorum results {folder} --csv")
    return target


def as_csv(results: Results) -> str:
    """Return the table: the runs in planning order, their own columns, the configuration, the reproducible metrics.

    Equal results give equal text. So wall times and dates are left out; `metrics.json` and `meta.json` of each run
    have them.
    """
    metrics = [name for name in metric_columns(results.rows) if name in reproducible(dict.fromkeys([name]))]
    columns = (*OWN, *factor_columns(results.rows), *metrics)
    records = (row.record() for row in results.rows)
    return csv_text([columns, *([record.get(key) for key in columns] for record in records)])


def factor_columns(rows: Iterable[Row]) -> list[str]:
    """Return every key of the runs' configurations, those of one group side by side, each in the order of its run."""
    keys = list(dict.fromkeys(key for row in rows for key in row.factors))
    groups = list(dict.fromkeys(key.partition(".")[0] for key in keys))
    return sorted(keys, key=lambda key: groups.index(key.partition(".")[0]))


def metric_columns(rows: Iterable[Row]) -> list[str]:
    """Return every metric of the runs, in the order in which they are computed; unknown ones behind, by name."""
    names = {name for row in rows for name in row.metrics}
    order = {metric.name: place for place, metric in enumerate(metrics_by_group())}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def csv_text(lines: Iterable[Iterable[object]]) -> str:
    """Write lines of values, so that they read the same everywhere.

    Whole numbers have no point, others are in full; nothing stands for what is not defined. A text has symbols
    for what could act on a terminal; one that a spreadsheet would run as a formula begins with an apostrophe.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([_cell(value) for value in line] for line in lines)
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
