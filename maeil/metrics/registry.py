"""The list of metrics, filled by the modules beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from maeil.trace.reader import Trace

Value = int | float | bool | None
"""A metric's value; None where the trace does not define it (a rate over nothing)."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric.

    Attributes:
        name: `group.name`.
        unit: unit of the value, `1` for a plain number or a share.
        function: computes it from a trace, whole or a prefix.
    """

    name: str
    unit: str
    function: Callable[[Trace], Value]


METRICS: dict[str, Metric] = {}
"""Every metric by name, in the order of definition."""


def metric(name: str, unit: str = "1") -> Callable[[Callable[[Trace], Value]], Callable[[Trace], Value]]:
    """Register a function of the trace as a metric."""

    def register(function: Callable[[Trace], Value]) -> Callable[[Trace], Value]:
        METRICS[name] = Metric(name, unit, function)
        return function

    return register


def compute_metrics(trace: Trace) -> dict[str, Value]:
    """Compute every metric of a trace."""
    return {name: metric.function(trace) for name, metric in METRICS.items()}
