"""The registry of metrics: what a metric says of itself, and how all of them are computed."""

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
"""A metric's value; None where the trace does not define it (a rate over nothing)."""

Function = Callable[[Any], Value]
"""What computes a metric: from a trace, or from what `Metric.source` says."""

Better = Literal["higher", "lower"]
"""Which values of a metric are better."""

_WALL = re.compile(r".*[._]seconds")
"""Names of metrics that measure wall time."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric.

    Attributes:
        name: `group.name`.
        unit: of the value; empty for a plain number or a share.
        better: which values are better; None where neither are, or where it depends on the question.
        title: short name for a label, such as the axis of a figure.
        description: what it measures: the formula, and the source (paper and symbol) where it has one.
        function: computes it from a trace, whole or a prefix.
        share: whether it is the share of its goals that a run reached, from 0 to 1. Axes then show all of that range,
            and runs that are left out are also counted as 0 and as 1. Each share is a rate.
        rate: whether its values lie from 0 to 1 by their nature. The interval of its mean then stays within them, and
            is there even where all runs agree.
        limit: key of the configuration whose value its values do not exceed, none of them being below 0, so that the
            interval of its mean stays within these bounds; empty: they have none.
        reproducible: whether equal configuration, seed and replies give an equal value: not so for wall time and for
            what the network did.
        origin: whose definition it is where it differs from this project's own; else empty.
        of: the event without which a trace does not have this metric; None: all traces have it.
        source: what it is computed from: the trace, or what is found out about a run on demand alone.
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
        """Whether no run has it unasked, since the trace alone does not tell it."""
        return self.source is not Trace


GROUPS = (
    "outcome", "communication", "decision", "plans", "constraints", "capability", "model", "gates", "failure", "dig",
    "emcoop", "coop2", "credit", "routing", "tom", "probe", "repair",
)  # fmt: skip
"""The order of groups in tables and files. Those of satellites have their places, too: a run's files stay the same."""

METRICS: Registered[Metric] = Registered("metric", "quorum.metrics", r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*", GROUPS)
"""Every metric by name: those of the loop, of satellites, of plug-ins and of installed packages."""


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

    The title is by default the second part of the name in words, behind the origin. `doc` is the description of a
    function that is one of a family; others have it as their docstring. The last word of wall times, and
    only of them, is `seconds`; they need not say that they are not reproducible.

    Raises:
        ValueError: there is a metric of this name, or it is no `group.name`.
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
    """Return every metric, group by group: `GROUPS` first, then others in the order in which they were registered."""
    groups = list(dict.fromkeys(one.group for one in METRICS.values()))
    return sorted(METRICS.values(), key=lambda one: groups.index(one.group))


def compute_metrics(trace: Trace) -> dict[str, Value]:
    """Compute every metric that a trace has, group by group.

    Raises:
        MetricError: a metric cannot be computed: the events contradict each other, or the metric is wrong.
    """
    of_traces = [one for one in metrics_by_group() if not one.on_demand]
    there = [one for one in of_traces if one.of is None or trace.stamped(one.of)]
    return {one.name: _compute(one, trace) for one in there}


def compute_on_demand(found: object) -> dict[str, Value]:
    """Compute every metric whose source is of this type.

    Args:
        found: what was found out about a run.

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
    """Leave out what is not reproducible among the values of metrics, so that those of two runs can be compared.

    With the clock unit `seconds` the cognitive clock is a wall clock too, and nothing that depends on it is the same
    in two runs.
    """
    return {name: value for name, value in values.items() if name not in METRICS or METRICS[name].reproducible}
