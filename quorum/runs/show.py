"""The output of `quorum results`."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from maeil.metrics import METRICS
from quorum.configuration.registry import remarks_on
from quorum.display.consoles import Console, Text
from quorum.runs.results_folder import csv_text
from quorum.runs.rows import OWN, Results, Row
from quorum.runs.summary import print_aligned, shown

if TYPE_CHECKING:
    from quorum.runs.sql import Answer

COLUMNS = ("outcome.completion", "outcome.steps", "communication.messages")
"""The metrics shown for each run."""


def print_results(results: Results, console: Console) -> None:
    """Print one line per run, and what is missing."""
    header, *lines = run_lines(results)
    print_aligned([header, *lines], [False] * len(header), console)
    for remark in remarks(results):
        console.print(Text(remark), soft_wrap=True)


def run_lines(results: Results) -> Iterator[Sequence[str]]:
    """Yield the names of the columns, then the cells of each run."""
    arms = any(row.arm is not None for row in results.rows)
    yield ("run", *(["arm"] if arms else []), "outcome", *(METRICS[name].title for name in COLUMNS), "")
    for row in results.rows:
        values = [shown(row.metrics.get(name)) for name in COLUMNS]
        yield (row.name, *([row.arm or "-"] if arms else []), row.outcome, *values, _remark(row))


def remarks(results: Results) -> Iterator[str]:
    """Yield the number of runs by outcome, and what is missing or damaged."""
    counts = Counter(row.outcome for row in results.rows)
    counts.update({"not run yet": len(results.missing), "unfinished": results.unfinished})
    counts.update({"damaged": len(results.damaged)})
    parts = (f"{number} {what}" for what, number in counts.items() if number)
    yield f"{len(results.rows)} runs: {', '.join(parts)}"
    yield from remarks_on(results.folder)
    yield from (f"damaged: {item.name}: {item.reason}" for item in results.damaged)


def _remark(row: Row) -> str:
    why = (row.error or row.reason).partition("\n")[0]
    return "; ".join(part for part in ("simulated" if row.simulated else "", why) if part)


def as_json(results: Results) -> dict[str, Any]:
    """Return the results as JSON-ready data."""
    return {
        "folder": str(results.folder),
        "sweep": results.sweep.model_dump(mode="json", by_alias=True) if results.sweep is not None else None,
        "runs": [{name: getattr(row, name) for name in (*OWN, "factors", "metrics")} for row in results.rows],
        "missing": [cell.name for cell in results.missing],
        "unfinished": results.unfinished,
        "damaged": {item.name: item.reason for item in results.damaged},
    }


def print_answer(answer: Answer, console: Console) -> None:
    """Print the result table of an SQL query."""
    table = Table()
    for name in answer.columns:
        table.add_column(Text(name), overflow="fold")
    for row in answer.rows:
        table.add_row(*(Text("" if value is None else str(value)) for value in row))
    console.print(table)


def answer_as_csv(answer: Answer) -> str:
    """Return it as CSV."""
    return csv_text([answer.columns, *answer.rows])


def answer_as_json(answer: Answer) -> list[dict[str, Any]]:
    """Return it as JSON-ready data; values without a JSON form become text."""
    plain = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    found: list[dict[str, Any]] = json.loads(json.dumps(plain, default=str))
    return found
