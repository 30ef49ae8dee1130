"""The registry of metrics: their properties, and the functions that compute them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import cleandoc
from math import isfinite
from typing import Any, Literal

from maeil.errors import MetricError
from maeil.trace.events import Event
from maeil.trace.reader import Trace
from quorum_base.exits import without_exit
from quorum_base.registry import Registered

Value = int | float | bool | None
"""A metric's value; None if the trace does not define it (a ratio with denominator 0, for example)."""

Function = Callable[[Any], Value]
"""A function that computes a metric from a trace, or from an object of the type `Metric.source`."""

Better = Literal["higher", "lower"]
"""Which values of a metric are better."""

_WALL = re.compile(r".*[._]seconds")
"""Pattern of the names of metrics that measure wall time."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric.

    Attributes:
        name: `group.name`.
        unit: unit of the value; empty for a plain number or a share.
        better: which values are better; None if neither, or if it depends on the question.
        title: short name for labels, such as those of axes.
        description: definition of the metric: the formula, and the source (paper and symbol) if there is one.
        function: computes the metric from a trace, complete or not.
        share: whether it is the share of goals that a run reached, from 0 to 1. Axes then show this whole range, and
            statistics bound the effect of excluded runs by counting them as 0 and as 1. Every share is also a rate.
        rate: whether values are from 0 to 1 by definition. The confidence interval of the mean then stays in this
            range, and exists even if all runs agree.
        limit: configuration key or metric with the upper bound of the values, which are then never below 0; the
            confidence interval of the mean stays within these bounds. Empty if there is none.
        reproducible: whether equal configuration, seed and replies give an equal value. They do not for wall time and
            effects of the network.
        origin: the source of a definition that differs from this project's own; otherwise empty.
        of: an event that a trace must contain to have this metric; None if all traces have it.
        source: type of the input: the trace, or data about a run that is collected on demand.
    """

    name: str
    unit: str
    better: Better | None
    title: str
    description: str
    function: Function
    share: bool
    rate: bool
    limit: str
    reproducible: bool
    origin: str
    of: type[Event] | None = None
    source: type = Trace

    @property
    def group(self) -> str:
        """First part of the name."""
        return self.name.partition(".")[0]

    @property
    def on_demand(self) -> bool:
        """Whether it is only computed on demand, since the trace alone does not determine it."""
        return self.source is not Trace


GROUPS = (
    "outcome", "communication", "decision", "plans", "constraints", "capability", "model", "gates", "failure", "dig",
    "emcoop", "coop2", "credit", "routing", "tom", "probe", "repair",
)  # fmt: skip
"""The order of groups in tables and files, including those of satellites, so that files of a run stay the same."""

METRICS: Registered[Metric] = Registered("metric", "quorum.metrics", r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*", GROUPS)
"""All metrics by name: those of the loop, of satellites, of plug-ins and of installed packages."""


def metric(
    name: str,
    unit: str = "",
    *,
    better: Better | None = None,
    title: str = "",
    doc: str = "",
    share: bool = False,
    rate: bool = False,
    limit: str = "",
    reproducible: bool = True,
    origin: str = "",
    of: type[Event] | None = None,
    source: type = Trace,
) -> Callable[[Function], Function]:
    """Register a function of the trace as a metric; the arguments are the attributes of `Metric`.

    The default title is the origin and the second part of the name in words. The description is the function's
    docstring, or `doc` for a function without one, such as a member of a family. The names of metrics of wall time end
    in `seconds`, and no other names do; these metrics are never reproducible.

    Raises:
        ValueError: a metric has this name already, or it is not of the form `group.name`.
    """

    def register(function: Function) -> Function:
        METRICS.register(
            name,
            Metric(
                name=name,
                unit=unit,
                better=better,
                title=title or f"{origin} {name.partition('.')[2].replace('_', ' ')}".lstrip(),
                description=cleandoc(doc or function.__doc__ or ""),
                function=function,
                share=share,
                rate=rate or share,
                limit=limit,
                reproducible=reproducible and not _WALL.fullmatch(name),
                origin=origin,
                of=of,
                source=source,
            ),
        )
        return function

    return register


def metrics_by_group() -> list[Metric]:
    """Return all metrics, group by group: `GROUPS` first, then others in order of registration."""
    groups = list(dict.fromkeys(one.group for one in METRICS.values()))
    return sorted(METRICS.values(), key=lambda one: groups.index(one.group))


def compute_metrics(trace: Trace) -> dict[str, Value]:
    """Compute all metrics that a trace has, group by group.

    Raises:
        MetricError: a metric cannot be computed: the events contradict each other, or the metric is wrong.
    """
    of_traces = [one for one in metrics_by_group() if not one.on_demand]
    there = [one for one in of_traces if one.of is None or trace.stamped(one.of)]
    return {one.name: _compute(one, trace) for one in there}


def compute_on_demand(found: object) -> dict[str, Value]:
    """Compute all metrics with this type of source.

    Args:
        found: data about a run, collected on demand.

    Raises:
        MetricError: a metric cannot be computed.
    """
    return {one.name: _compute(one, found) for one in metrics_by_group() if one.source is type(found)}


def _compute(one: Metric, source: object) -> Value:
    try:
        with without_exit():
            value = one.function(source)
    except Exception as error:
        raise MetricError(f"{one.name}: {type(error).__name__}: {error}") from error
    if value is not None and not (isinstance(value, int | float) and isfinite(value)):
        wrong = MetricError(f"{one.name}: {value!r} is neither a finite number nor None")
        wrong.blamed = one.function
        raise wrong
    return value


def reproducible(values: Mapping[str, Value]) -> dict[str, Value]:
    """Keep only the values of reproducible metrics, for comparing two runs.

    With the clock unit `seconds`, the cognitive clock is a wall clock too, so everything that depends on it differs
    between runs.
    """
    return {name: value for name, value in values.items() if name not in METRICS or METRICS[name].reproducible}
