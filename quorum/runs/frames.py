"""The runs of a folder, or what their traces record, as the columns of a data frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, Literal

import orjson

from maeil.metrics.costs import costs_per_message
from maeil.trace import Trace
from maeil.trace.events import MessageSent, ThoughtEnd
from quorum.runs.rows import Results
from quorum.runs.run_folder import read_whole_trace
from quorum_base.user_errors import UserError, choices_hint

Rows = Literal["runs", "events", "calls", "messages"]
"""What a row of a data frame is."""


def _events(trace: Trace) -> Iterator[Mapping[str, Any]]:
    return (stamped.to_json() for stamped in trace.events)


def _calls(trace: Trace) -> Iterator[Mapping[str, Any]]:
    """Yield the calls of each thought, in order, with the thought's place in the trace and the name of its agent."""
    names = (*trace.start.agents, *trace.start.coordinators)
    for stamped in trace.events:
        if isinstance(thought := stamped.event, ThoughtEnd):
            place = {"seq": stamped.seq, "t": stamped.t, "t_hat": stamped.t_hat, "agent": names[thought.agent]}
            yield from ({**place, **call} for call in thought.calls)


def _messages(trace: Trace) -> Iterator[Mapping[str, Any]]:
    """Yield each message with its text and its costs."""
    costs = {cost.message: asdict(cost) for cost in costs_per_message(trace)}
    for stamped in trace.events:
        if isinstance(stamped.event, MessageSent):
            yield stamped.to_json() | costs[stamped.event.message]  # whose sender and recipients are names


_OF_TRACES: Final[Mapping[str, Callable[[Trace], Iterable[Mapping[str, Any]]]]] = {
    "events": _events,
    "calls": _calls,
    "messages": _messages,
}


def columns(results: Results, rows: str) -> dict[str, list[Any]]:
    """Return the columns of a data frame. Those of traces start with `run`, the name of the run.

    Args:
        results: the runs.
        rows: what a row is, one of `Rows`.

    Raises:
        UserError: there are no such rows, or a trace cannot be read.
    """
    if rows not in ("runs", *_OF_TRACES):
        raise UserError(f"rows={rows!r}: there are no such rows", choices_hint(rows, "Rows", ["runs", *_OF_TRACES]))
    if rows == "runs":
        records: Sequence[Mapping[str, Any]] = results.records()
    else:
        runs = {row.folder: row.name for row in results.rows}  # a run of two arms has two rows
        traces = ((name, read_whole_trace(folder)) for folder, name in runs.items())
        records = [{"run": name, **record} for name, trace in traces for record in _OF_TRACES[rows](trace)]
    names = dict.fromkeys(name for record in records for name in record)
    return {name: _of_one_type([record.get(name) for record in records]) for name in names}


def _of_one_type(values: list[Any]) -> list[Any]:
    """Return the values of a column; as JSON if they are objects or lists, or of different types."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(kinds) <= 1 and not kinds & {dict, list, tuple}:
        return values
    return [value if value is None or isinstance(value, str) else orjson.dumps(value).decode() for value in values]
