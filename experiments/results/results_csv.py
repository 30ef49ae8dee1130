"""`results.csv`: one line a run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from maeil.metrics import metrics_by_group, reproducible
from quorum.experiments.common.files import write_whole
from quorum.experiments.results.results_folder import read_results
from quorum.experiments.results.rows import Results, Row, Scalar

OWN = ("name", "hash", "arm", "outcome", "reason", "error", "version", "models", "simulated")
"""The columns before the configuration and the metrics."""


def write_csv(folder: Path) -> Path:
    """Rebuild `results.csv` of a sweep from the folders of its runs; return the file.

    Raises:
        UserError: the folder holds no runs, or the file cannot be written there.
    """
    target = folder / "results.csv"
    write_whole(target, as_csv(read_results(folder)).encode())
    return target


def as_csv(results: Results) -> str:
    """Return the table: the runs in planning order, their own columns, the configuration, the reproducible metrics.

    Equal results give equal text. So wall times and dates are left out; `metrics.json` and `meta.json` of each run
    have them.
    """
    factors = factor_columns(results.rows)
    metrics = [name for name in metric_columns(results.rows) if name in reproducible(dict.fromkeys([name]))]
    lines = (
        (
            *own_values(row),
            *(row.factors.get(key) for key in factors),
            *(row.metrics.get(name) for name in metrics),
        )
        for row in results.rows
    )
    return csv_text([(*OWN, *factors, *metrics), *lines])


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


def own_values(row: Row) -> tuple[Scalar, ...]:
    """Return the values of the columns before the configuration."""
    models = "; ".join(row.models)
    return (
        row.name, row.hash, row.arm, row.outcome, row.reason, row.error, row.version, models, row.simulated,
    )  # fmt: skip


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
