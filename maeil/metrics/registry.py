"""The list of metrics, filled by the modules beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import cleandoc

from maeil.metrics.shared import sharing
from maeil.trace.reader import Trace

Value = int | float | bool | None
"""A metric's value; None where the trace does not define it (a rate over nothing)."""

Function = Callable[[Trace], Value]

GROUPS = ("outcome", "communication", "decision", "plans", "constraints", "capability", "model", "gates", "compat")
"""The groups of metrics in the order in which they are shown; others come behind them."""

_WALL = "_seconds"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric.

    Attributes:
        name: `group.name`.
        unit: unit of the value, `1` for a plain number or a share.
        function: computes it from a trace, whole or a prefix; its docstring gives formula and source.
        reproducible: whether equal configuration, seed and replies give an equal value: not so for wall time and for
            what the network did.
    """

    name: str
    unit: str
    function: Function
    reproducible: bool = True

    @property
    def group(self) -> str:
        """First part of the name."""
        return self.name.partition(".")[0]

    @property
    def description(self) -> str:
        """What it measures, with formula and source."""
        return cleandoc(self.function.__doc__ or "")


METRICS: dict[str, Metric] = {}
"""Every metric by name, in the order of definition."""


def metric(name: str, unit: str = "1", doc: str = "", *, reproducible: bool = True) -> Callable[[Function], Function]:
    """Register a function of the trace as a metric.

    Args:
        name: `group.name`; wall times, and only they, end in `_seconds`.
        unit: unit of the value.
        doc: the docstring of a function that is one of a family; others have their own.
        reproducible: false for what depends on more than configuration, seed and replies; wall times need not say so.

    Raises:
        ValueError: there is a metric of this name.
    """

    def register(function: Function) -> Function:
        if name in METRICS:
            raise ValueError(f"there is a metric '{name}' already")
        if doc:
            function.__doc__ = doc
        METRICS[name] = Metric(name, unit, function, reproducible and not name.endswith(_WALL))
        return function

    return register


def compute_metrics(trace: Trace) -> dict[str, Value]:
    """Compute every metric of a trace, group by group."""
    order = {group: place for place, group in enumerate(GROUPS)}
    metrics = sorted(METRICS.values(), key=lambda metric: order.get(metric.group, len(order)))
    with sharing(trace):
        return {metric.name: metric.function(trace) for metric in metrics}


def reproducible(values: Mapping[str, Value]) -> dict[str, Value]:
    """Leave out what is not reproducible among the values of metrics, so that those of two runs can be compared.

    With the clock unit `seconds` the cognitive clock is a wall clock too, and nothing that depends on it is the same
    in two runs.
    """
    return {name: value for name, value in values.items() if name not in METRICS or METRICS[name].reproducible}
