"""The rules by which a published point agrees or differs. They are the same for every figure.

| point | `agrees` | `differs` | `not comparable` |
|---|---|---|---|
| a number | both 95 % intervals overlap | they do not | wall time; no run; one board; nothing published |
| an order | the paired difference is significant, in that direction | it is in the other direction, or none is significant | too few boards for any difference to be significant; no run |

The interval of a published number follows from its standard deviation, or for a share from its trials. For a number
read off a plot it is the reading tolerance; any other number is a point. A share of trials has the interval of Clopper
and Pearson, a mean of trials that of Student.
"""  # noqa: E501 - a table

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from maeil.metrics import Metric
from quorum.comparison.differences import Difference
from quorum.comparison.statistics.bounded import bounded_mean_interval
from quorum.comparison.statistics.flips import smallest_p
from quorum.comparison.statistics.intervals import TAIL, Estimate, t_quantile
from quorum.comparison.tables import decimals, interval
from quorum.runs.sweep_file import Published, Value

_LEVEL = 2 * TAIL


class Verdict(StrEnum):
    """The verdict on a published point."""

    AGREES = "agrees"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict with its reason.

    Attributes:
        verdict: the verdict.
        reason: why, in a few words.
    """

    verdict: Verdict
    reason: str


def judge_number(metric: Metric, value: Value, here: Estimate | None, table: Published) -> Judged:
    """Judge a published number.

    Args:
        metric: its metric.
        value: a mean, or a mean and its standard deviation.
        here: the estimate of our runs; None without any.
        table: its published table.
    """
    if here is None or not here.runs:
        return Judged(Verdict.NOT_COMPARABLE, "no such run here")
    if not metric.reproducible:
        return Judged(Verdict.NOT_COMPARABLE, "wall time of another machine")
    if here.boards < 2:
        return Judged(Verdict.NOT_COMPARABLE, "one board has no interval")
    published = published_estimate(metric, value, table)
    if overlap(published, here):
        return Judged(Verdict.AGREES, "the intervals overlap")
    side = "higher" if here.value > published.value else "lower"
    size = abs(here.value - published.value)
    return Judged(Verdict.DIFFERS, f"{side} here by {size:.{decimals([here, published])}f}")


def published_estimate(metric: Metric, value: Value, table: Published) -> Estimate:
    """Return a published number with its interval; without ends if only the point is known."""
    mean, deviation = value if isinstance(value, Sequence) and not isinstance(value, str) else (value, 0.0)
    assert isinstance(mean, int | float)
    trials, reading = table.trials or 1, table.tolerance * abs(mean)
    low = high = float(mean)
    if metric.share and trials > 1:
        successes = round(mean * trials)
        low, high = bounded_mean_interval(np.repeat([1.0, 0.0], [successes, trials - successes]), TAIL)
    elif deviation and trials > 1:
        reach = t_quantile(1 - TAIL, trials - 1) * deviation / math.sqrt(trials)
        low, high = mean - reach, mean + reach
    low, high = low - reading, high + reading
    return Estimate(float(mean), *((low, high) if low < high else (math.nan, math.nan)), trials, trials)


def judge_order(sign: int, difference: Difference | None) -> Judged:
    """Judge a published order.

    Args:
        sign: 1 if the level is published as greater than the other, -1 if as less.
        difference: difference of the level from the other one, paired over boards; None if either has no runs.
    """
    if difference is None or not difference.mean.boards:
        return Judged(Verdict.NOT_COMPARABLE, "the two share no boards")
    boards = difference.mean.boards
    if smallest_p(boards) > _LEVEL:
        return Judged(Verdict.NOT_COMPARABLE, f"too few boards ({boards}) for a significant difference")
    if not difference.differing:
        return Judged(Verdict.DIFFERS, "no board differs")
    if difference.p > _LEVEL:
        return Judged(Verdict.DIFFERS, f"no significant difference (p = {difference.p:.3f})")
    if sign * difference.mean.value > 0:
        return Judged(Verdict.AGREES, f"over {boards} boards")
    return Judged(Verdict.DIFFERS, "significant in the other direction")


def written_estimate(found: Estimate | None, *, signed: bool = False) -> str:
    """Write an estimate with its interval."""
    return interval(found, decimals([found] if found is not None else []), signed=signed)


def overlap(one: Estimate, other: Estimate) -> bool:
    """Return whether two intervals overlap."""
    (low, high), (lowest, highest) = _ends(one), _ends(other)
    return low <= highest and lowest <= high


def _ends(found: Estimate) -> tuple[float, float]:
    """Return the ends of an interval; without one, because all boards agree, both are the value."""
    return (found.value, found.value) if math.isnan(found.low) else (found.low, found.high)
