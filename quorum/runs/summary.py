"""The printed summary of an episode, and the metrics of many."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table

from maeil.metrics import Value
from quorum.agents.llm.spending import dollars
from quorum.display.consoles import Console, Text

if TYPE_CHECKING:
    from quorum.configuration.schema import Budget
    from quorum.episode.runner import Result

_MAIN = (
    "decision.overhead", "decision.latency_mean", "communication.messages", "communication.messages_per_step",
    "communication.messages_std", "plans.number", "plans.success_rate", "plans.interruptions", "plans.coherence",
    "plans.stability", "constraints.attempt_success_rate", "constraints.violation_spatial",
    "constraints.violation_temporal", "model.calls", "model.answers", "model.completion_tokens", "model.usd",
)  # fmt: skip
"""The metrics of most interest to a researcher."""

_ONLY_WITH = {"communication": "communication.messages", "constraints": "constraints.attempts", "model": "model.calls"}
"""Groups that are not informative for an episode in which this metric is 0."""

_WARNINGS = (
    "decision.forced_ready", "plans.invalid", "plans.timed_out", "model.unanswered", "model.fallbacks",
    "model.asked_otherwise", "model.empty_answers", "model.reasoning_tokens", "model.cached_answers",
    "model.estimated_calls",
)  # fmt: skip
"""Metrics shown if they are not 0."""


def print_summary(result: Result, console: Console) -> None:
    """Print the final board, the outcome, the main metrics, why it did not succeed, and the path of the trace."""
    console.print(Text.from_ansi(result.board), soft_wrap=True)
    console.print()
    console.print(Text(result.cell.name, style="bold"), soft_wrap=True)
    table = Table.grid(padding=(0, 2))
    for label, value in summary_rows(result):
        table.add_row(label, Text(value))
    console.print(table)
    for sentence in result.why:
        console.print(Text(sentence.words), soft_wrap=True)
    console.print(Text(f"trace: {result.folder / 'trace.jsonl'}"), soft_wrap=True)


def summary_rows(result: Result) -> Iterator[tuple[str, str]]:
    """Yield the models, the main metrics, the budget and the duration of an episode as label and value."""
    if result.answering_models.models:
        yield "language model", result.answering_models.text
    yield from main_rows(result.outcome, result.metrics)
    if used := budget_used(result.cell.configuration.budget, result.metrics):
        yield "budget", used
    yield "seconds", f"{result.seconds:.2f}"


def main_rows(outcome: str, metrics: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """Yield the main metrics of an episode as label and value, except those of events that did not occur."""
    yield "outcome", outcome
    if metrics.get("outcome.goals") is not None:
        yield "goals reached", f"{shown(metrics.get('outcome.reached'))} / {shown(metrics['outcome.goals'])}"
    bound = metrics.get("outcome.steps_over_lower_bound")
    steps = shown(metrics.get("outcome.steps"))
    yield "steps", f"{steps} ({shown(bound)} x lower bound)" if bound is not None else steps
    yield "reward", shown(metrics.get("outcome.return"))
    if (lowest := metrics.get("outcome.lowest_return")) is not None:
        yield "returns of agents", f"{shown(lowest)} to {shown(metrics.get('outcome.highest_return'))}"
    silent = {group for group, witness in _ONLY_WITH.items() if not metrics.get(witness)}
    if "communication" in silent:
        silent.add("plans.interruptions")
    for name in _MAIN:
        if name in metrics and silent.isdisjoint((name, name.partition(".")[0])):
            yield _label(name), shown_metric(name, metrics)
    for name in _WARNINGS:
        if metrics.get(name):
            yield _label(name), shown_metric(name, metrics)


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


def _label(name: str) -> str:
    return name.replace(".", ": ").replace("_", " ")


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
