"""The printed summary of an episode, and the metrics of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from maeil.metrics import METRICS, Value
from quorum.agents.llm.spending import dollars
from quorum.display.consoles import Console, Text

if TYPE_CHECKING:
    from quorum.configuration.schema import Budget
    from quorum.episode.runner import Result

_MORE = (
    "outcome.return", "outcome.lowest_return", "outcome.highest_return", "decision.overhead", "decision.latency_mean",
    "communication.messages_per_step", "communication.messages_std", "plans.number", "plans.success_rate",
    "plans.interruptions", "plans.coherence", "plans.stability", "constraints.attempt_success_rate",
    "constraints.violation_spatial", "constraints.violation_temporal", "model.calls", "model.completion_tokens",
    "model.usd",
)  # fmt: skip
"""The metrics that `--all` adds."""

_ONLY_WITH = {"communication": "communication.messages", "constraints": "constraints.attempts", "model": "model.calls"}
"""Groups that are not informative for an episode in which this metric is 0."""

_WARNINGS = (
    "decision.forced_ready", "plans.invalid", "plans.timed_out", "model.unanswered", "model.fallbacks",
    "model.asked_otherwise", "model.empty_answers", "model.reasoning_tokens", "model.cached_answers",
    "model.estimated_calls",
)  # fmt: skip
"""Metrics shown if they are not 0: as rows with `--all`, else in one line."""


def print_summary(result: Result, console: Console, *, everything: bool = False) -> None:
    """Print the final board, the outcome, why it did not succeed, and the path of the trace."""
    console.print(Text.from_ansi(result.board), soft_wrap=True)
    console.print()
    console.print(Text(result.cell.name, style="bold"), soft_wrap=True)
    table = Table.grid(padding=(0, 2))
    unusual = [*warning_rows(result.metrics)]
    for label, value in [*summary_rows(result), *([*more_rows(result.metrics), *unusual] if everything else ())]:
        table.add_row(label, Text(value))
    console.print(table)
    if unusual and not everything:
        console.print(Text(f"also: {'; '.join(map(' '.join, unusual))}"), soft_wrap=True)
    for sentence in result.why:
        console.print(Text(sentence.words), soft_wrap=True)
    console.print(Text(f"trace: {result.folder / 'trace.jsonl'}"), soft_wrap=True)


def summary_rows(result: Result) -> Iterator[tuple[str, str]]:
    """Yield the models, the main metrics, the cost or the budget, and the duration: at most eight rows."""
    if result.answering_models.models:
        yield "language model", result.answering_models.text
    yield from main_rows(result.outcome, result.metrics)
    if used := budget_used(result.cell.configuration.budget, result.metrics):
        yield "budget", used
    elif result.metrics.get("model.calls"):
        usd = result.metrics.get("model.usd")
        yield "cost", "unknown" if usd is None else dollars(usd)
    yield "time", f"{result.seconds:.2f} seconds"


def main_rows(outcome: str, metrics: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """Yield the main metrics of an episode as label and value; messages and answers only if there are any."""
    yield "outcome", outcome
    if metrics.get("outcome.goals") is not None:
        yield "goals reached", f"{shown(metrics.get('outcome.reached'))} / {shown(metrics['outcome.goals'])} goals"
    else:
        yield "reward", f"{shown(metrics.get('outcome.return'))} points"
    bound = metrics.get("outcome.steps_over_lower_bound")
    steps = f"{shown(metrics.get('outcome.steps'))} environment steps"
    yield "steps", f"{steps} ({shown(bound)} x lower bound)" if bound is not None else steps
    if messages := metrics.get("communication.messages"):
        yield "messages", f"{messages} sent"
    if calls := metrics.get("model.calls"):
        yield "model answers", f"{shown(metrics.get('model.answers'))} (calls: {calls})"


def more_rows(metrics: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """Yield the metrics that `--all` adds, with their units, except those of events that did not occur."""
    silent = {group for group, witness in _ONLY_WITH.items() if not metrics.get(witness)}
    if "communication" in silent:
        silent.add("plans.interruptions")
    for name in _MORE:
        if name in metrics and silent.isdisjoint((name, name.partition(".")[0])):
            yield _row(name, metrics)


def warning_rows(metrics: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """Yield the counts of unusual events that occurred, with their units."""
    return (_row(name, metrics) for name in _WARNINGS if metrics.get(name))


def _row(name: str, metrics: Mapping[str, Value]) -> tuple[str, str]:
    unit = METRICS[name].unit if metrics.get(name) is not None else ""
    return name.replace(".", ": ").replace("_", " "), f"{shown_metric(name, metrics)} {unit}".rstrip()


def budget_used(budget: Budget, metrics: Mapping[str, Value]) -> str:
    """Describe how much of its budget an episode used; empty without a budget.

    Calls are requests for an answer, answered or not, including repairs, as limited by `budget.calls`.
    """
    calls = (metrics.get("model.answers") or 0) + (metrics.get("model.unanswered") or 0)
    tokens = (metrics.get("model.prompt_tokens") or 0) + (metrics.get("model.completion_tokens") or 0)
    usd = metrics.get("model.usd")
    parts = []
    if budget.calls is not None:
        parts.append(f"{calls:,} of {budget.calls:,} requests for an answer")
    if budget.tokens is not None:
        parts.append(f"{tokens:,} of {budget.tokens:,} tokens")
    if budget.usd is not None:
        parts.append(f"{'unknown' if usd is None else dollars(usd)} of {dollars(budget.usd)}")
    return ", ".join(parts)


def print_aligned(lines: Sequence[Sequence[str]], right: Sequence[bool], console: Console) -> None:
    """Print lines of cells in columns. Lines are not wrapped or cut, so that names can be copied.

    Args:
        lines: lines of equal length.
        right: which columns are right-aligned.
        console: where to print them.
    """
    console.out("\n".join(aligned(lines, right)), highlight=False)


def aligned(lines: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> Iterator[str]:
    """Yield lines of cells in columns, some of them right-aligned."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = zip(line, widths, right or [False] * len(widths), strict=True)
        yield "  ".join(cell.rjust(width) if flush else cell.ljust(width) for cell, width, flush in cells).rstrip()


def shown_metric(name: str, metrics: Mapping[str, Value]) -> str:
    """Format a metric; money and tokens that a model's calls do not report are shown as unknown, not as zero."""
    if metrics.get(name) is None and name.startswith("model.") and metrics.get("model.calls"):
        return "unknown"
    if name == "model.cached_answers":
        return f"{shown(metrics.get(name))} of {shown(metrics.get('model.answers'))}"
    return shown(metrics.get(name))


def as_json(result: Result) -> dict[str, Any]:
    """Return the result as JSON-ready data."""
    return {
        "name": result.cell.name,
        "hash": result.cell.hash,
        "folder": str(result.folder),
        "outcome": result.outcome,
        "reason": result.reason,
        "why": [sentence.to_json() for sentence in result.why],
        **result.answering_models.to_json(),
        "seconds": round(result.seconds, 6),
        "metrics": dict(result.metrics),
    }


def shown(value: Value) -> str:
    """Format a metric: two decimals, or two digits of a small number; a dash if it is undefined."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2g}" if 0 < abs(value) < 0.1 else f"{value:.2f}"
