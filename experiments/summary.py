"""What `quorum run` prints when an episode is over."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments.episode import Result
from maeil.metrics import Value

_MAIN = ("plans.number", "plans.success_rate", "plans.failed", "plans.stability", "plans.coherence")


def print_summary(result: Result, console: Console) -> None:
    """Print the final board, the outcome, the main metrics and where the trace is."""
    console.print(Text.from_ansi(result.board), soft_wrap=True)
    console.print()
    console.print(Text(result.cell.name, style="bold"), soft_wrap=True)
    table = Table.grid(padding=(0, 2))
    metrics = result.metrics
    table.add_row("outcome", result.outcome)
    table.add_row("goals reached", f"{shown(metrics.get('outcome.reached'))} / {shown(metrics.get('outcome.goals'))}")
    table.add_row("steps", shown(metrics.get("outcome.steps")))
    table.add_row("reward", shown(metrics.get("outcome.return")))
    for name in _MAIN:
        if name in metrics:
            table.add_row(name.replace(".", ": ").replace("_", " "), shown(metrics[name]))
    table.add_row("seconds", f"{result.seconds:.2f}")
    console.print(table)
    console.print(Text(f"trace: {result.folder / 'trace.jsonl'}"), soft_wrap=True)


def as_json(result: Result) -> dict[str, Any]:
    """Give the result as JSON-ready data."""
    return {
        "name": result.cell.name,
        "hash": result.cell.hash,
        "folder": str(result.folder),
        "outcome": result.outcome,
        "seconds": round(result.seconds, 6),
        "metrics": dict(result.metrics),
    }


def shown(value: Value) -> str:
    """Write a metric for a reader: at most two decimals, a dash where it is not defined."""
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
