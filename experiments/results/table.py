"""`results.csv`: one line a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from maeil.metrics import GROUPS, METRICS, reproducible
from quorum.experiments.common.files import write_whole
from quorum.experiments.results.csv_text import csv_text
from quorum.experiments.results.reading import read_results
from quorum.experiments.results.rows import OWN, Results, Row


def write_csv(folder: Path) -> Path:
    """Rebuild `results.csv` of a sweep from the folders of its runs; give the file.

    Raises:
        UserError: the folder holds no runs, or the file cannot be written there.
    """
    target = folder / "results.csv"
    write_whole(target, as_csv(read_results(folder)).encode())
    return target


def as_csv(results: Results) -> str:
    """Give the table: the runs in planning order, their own columns, the configuration, the reproducible metrics.

    Equal results give equal text. So wall times and dates are left out; `metrics.json` and `meta.json` of each run
    have them.
    """
    metrics = [name for name in metric_columns(results.rows) if name in reproducible(dict.fromkeys([name]))]
    columns = (*OWN, *factor_columns(results.rows), *metrics)
    records = (row.record() for row in results.rows)
    return csv_text([columns, *([record.get(key) for key in columns] for record in records)])


def factor_columns(rows: Iterable[Row]) -> list[str]:
    """Give every key of the runs' configurations, those of one group side by side, each in the order of its run."""
    keys = list(dict.fromkeys(key for row in rows for key in row.factors))
    groups = list(dict.fromkeys(key.partition(".")[0] for key in keys))
    return sorted(keys, key=lambda key: groups.index(key.partition(".")[0]))


def metric_columns(rows: Iterable[Row]) -> list[str]:
    """Give every metric of the runs, in the order in which they are computed; unknown ones behind, by name."""
    names = {name for row in rows for name in row.metrics}
    order = {name: place for place, name in enumerate(_ordered())}
    return sorted(names, key=lambda name: (order.get(name, len(order)), name))


def _ordered() -> Iterator[str]:
    places = {group: place for place, group in enumerate(GROUPS)}
    yield from sorted(METRICS, key=lambda name: places.get(METRICS[name].group, len(places)))
