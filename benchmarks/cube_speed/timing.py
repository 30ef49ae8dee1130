"""Timing that tolerates a noisy machine: short series of calls, alternating subjects, and medians."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median

Run = Callable[[], float]
"""Takes one measurement."""
SERIES = 20
"""Number of short series of calls in a measurement."""


def seconds_per_call(function: Callable[[], object], calls: int) -> float:
    """Return the seconds of a call: the median over short series of calls.

    A series ends before the system gives the core to another process, so few series are interrupted.

    Args:
        function: the function to call.
        calls: total number of calls.
    """
    length = max(1, calls // SERIES)
    return median(_mean(function, length) for _ in range(max(1, calls // length)))


def _mean(function: Callable[[], object], calls: int) -> float:
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


def medians(runs: Mapping[str, Run], rounds: int) -> dict[str, float]:
    """Return the median of each run over some rounds, after one warm-up round.

    Each round takes every run once, so that a busy moment of the machine affects them alike.
    """
    values: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            value = run()
            if number:
                values[name].append(value)
    return {name: median(found) for name, found in values.items()}
