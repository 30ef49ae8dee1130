"""What others have published, beside the runs of a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np

from maeil.metrics import METRICS
from quorum.experiments.compare.comparison import Comparison
from quorum.experiments.compare.factors import NONE, short, value_of, written
from quorum.experiments.compare.formats import Table
from quorum.experiments.results import Row
from quorum.experiments.results.published import Published, Value
from quorum.experiments.results.rows import Scalar


def published_tables(comparison: Comparison) -> Iterator[Table]:
    """Yield each published table of the sweeps: each published value, and the same of the runs that count."""
    for published in comparison.published:
        yield _table(published, comparison.pool.rows)


def _table(published: Published, runs: Sequence[Row]) -> Table:
    named = len(published.factors)
    header = [*map(short, published.factors), "runs"]
    titles = [METRICS[metric].title if metric in METRICS else metric for metric in published.metrics]
    header += [f"{title}, {whose}" for title in titles for whose in ("published", "here")]
    rows = []
    for row in published.rows:
        wanted = dict(zip(published.factors, row, strict=False))
        found = [run for run in runs if all(value_of(run, factor) == value for factor, value in wanted.items())]
        texts = [*(written(cast("Scalar", value)) for value in row[:named]), str(len(found))]
        for metric, value in zip(published.metrics, row[named:], strict=True):
            texts += [_figure(value), _spread([v for run in found if (v := run.metrics.get(metric)) is not None])]
        rows.append(tuple(texts))
    caption = f"Published: {published.source}. Mean (standard deviation); here over the runs that define the metric."
    return Table(
        "published and here",
        tuple(header),
        tuple(rows),
        caption,
        labels=named,
        words="Published figures, and the same of the runs here",
    )


def _figure(value: Value) -> str:
    match value:
        case [mean, deviation]:
            return f"{mean:.2f} ({deviation:.2f})"
        case int() | float():
            return f"{value:.2f}"
        case _:
            return NONE


def _spread(values: Sequence[float]) -> str:
    if len(values) < 2:
        return _figure(values[0] if values else None)
    return _figure([float(np.mean(values)), float(np.std(values, ddof=1))])
