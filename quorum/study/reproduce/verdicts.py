"""The rules by which a published point agrees, differs or is undecided. They are the same for every figure.

| point | `agrees` | `differs` | `undecided` | `not comparable` |
|---|---|---|---|---|
| a number | the 95 % interval of here - published lies within the margin | it lies outside | else | wall time; no run; nothing published |
| an order | the 95 % interval of the paired difference lies beyond the margin in that direction | it lies short of the margin, or in the other direction | else | no run of both |

A figure file states the margins, the largest differences that do not matter. Agreement of numbers is an equivalence test
(Schuirmann 1987, A Comparison of the Two One-Sided Tests Procedure and the Power Approach for Assessing the Equivalence
of Average Bioavailability). His tests at 5 % use the 90 % interval; these use the interval of 95 % that all tables show,
so each has a level of 2.5 %. An order holds if a difference that matters is significant (Murphy and Myors 1999, Testing
the Hypothesis That Treatments Have Negligible Effects). In both, what agrees and what differs lie on two sides of the
margin, so an interval that shrinks around the truth decides a point, and `differs` turns into `agrees` only by an error
of the interval. A test of an order against 0, with `differs` within the margin, would call a small difference both.

The interval of here - published combines both intervals by MOVER (Zou and Donner 2008, Construction of Confidence
Limits about Effect Measures), which keeps their asymmetry. The reading tolerance of a plot is a bound, not a deviation,
so it is added in full. A published share of trials has the interval of Clopper and Pearson, a mean that of Student;
other published numbers are points. If all boards agree in a value that is not a share, the interval is that value from six
boards on: then the sign test excludes any other median.

A board that was not played may differ more than those that were. So the interval of a paired difference allows for one
more board on each side, with the largest difference seen (for rates 1: `sign_flip_interval` of shares, after Agresti and
Min 2005). Otherwise, two boards with small differences and four with none would show that no other board differs.
"""  # noqa: E501 - a table

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from maeil.metrics import Metric
from quorum.comparison.statistics.bounded import bounded_mean_interval
from quorum.comparison.statistics.flips import FEWEST, sign_flip_interval
from quorum.comparison.statistics.intervals import TAIL, Estimate, Floats, t_quantile
from quorum.comparison.tables import decimals, interval
from quorum.runs.sweep_file import Published, Value


class Verdict(StrEnum):
    """The verdict on a published point."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNDECIDED = "undecided"
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


@dataclass(frozen=True, slots=True)
class Stated:
    """A number as a paper states it.

    Attributes:
        value: the number.
        low: lower end of the 95 % interval that follows from its trials; the number if they are not published.
        high: upper end.
        lowest: the smallest number that the reading tolerance allows; the number if it was printed.
        highest: the largest one.
    """

    value: float
    low: float
    high: float
    lowest: float
    highest: float

    def __str__(self) -> str:
        known = Estimate(self.value, self.low, self.high, 1, 1) if self.low < self.high else None
        places = decimals([known or Estimate(self.value, self.lowest, self.highest, 1, 1)])
        if known is not None:
            return interval(known, places)
        read = f" (read {self.lowest:.{places}f} to {self.highest:.{places}f})" if self.lowest < self.highest else ""
        return f"{self.value:.{places}f}{read}"


def read_number(metric: Metric, value: Value, table: Published, trials: int, bounds: tuple[float, float]) -> Stated:
    """Return a published number with its uncertainty, within the bounds of the metric.

    Args:
        metric: its metric.
        value: a mean, or a mean and its standard deviation, which is divided by the number of trials, not by one less.
        table: its published table.
        trials: number of trials that it is the mean of; 1 if it is not published.
        bounds: the smallest and the largest possible value.
    """
    mean, deviation = value if isinstance(value, Sequence) and not isinstance(value, str) else (value, 0.0)
    assert isinstance(mean, int | float)
    low = high = float(mean)
    bounds = (bounds[0], math.inf) if mean > bounds[1] else bounds  # the paper had another limit
    if metric.share and trials > 1:
        successes = round(mean * trials)
        low, high = bounded_mean_interval(np.repeat([1.0, 0.0], [successes, trials - successes]), TAIL)
    elif deviation and trials > 1:
        reach = t_quantile(1 - TAIL, trials - 1) * deviation / math.sqrt(trials - 1)
        low, high = mean - reach, mean + reach
    reading = table.tolerance * abs(mean)
    return Stated(float(mean), *(float(np.clip(end, *bounds)) for end in (low, high, mean - reading, mean + reading)))


def judge_number(metric: Metric, here: Estimate | None, stated: Stated, margin: float) -> Judged:
    """Judge a published number.

    Args:
        metric: its metric.
        here: the estimate of our runs; None without any.
        stated: the published number.
        margin: the largest difference that does not matter.
    """
    if here is None or not here.runs:
        return Judged(Verdict.NOT_COMPARABLE, "no such run here")
    if not metric.reproducible:
        return Judged(Verdict.NOT_COMPARABLE, "wall time of another machine")
    found = difference(here, stated)
    if found is None:
        return Judged(Verdict.UNDECIDED, f"too few boards ({here.boards})")
    reason = _against(found, margin)
    if _within(found, margin):
        return Judged(Verdict.AGREES, reason)
    if found.low > margin or found.high < -margin:
        return Judged(Verdict.DIFFERS, f"{'higher' if found.value > 0 else 'lower'} here; {reason}")
    best = difference(Estimate(stated.value, stated.value, stated.value, here.runs, here.boards), stated)
    alone = "" if best is None or _within(best, margin) else "; the published uncertainty alone exceeds the margin"
    return Judged(Verdict.UNDECIDED, reason + alone)


def difference(here: Estimate, stated: Stated) -> Estimate | None:
    """Return here - published with its interval; None over too few boards for one."""
    low, high = here.low, here.high
    if math.isnan(low):
        if here.boards < FEWEST:
            return None
        low = high = here.value
    below = math.hypot(here.value - low, stated.high - stated.value) + stated.highest - stated.value
    above = math.hypot(high - here.value, stated.value - stated.low) + stated.value - stated.lowest
    value = here.value - stated.value
    return Estimate(value, value - below, value + above, here.runs, here.boards)


def judge_order(sign: int, found: Estimate, margin: float) -> Judged:
    """Judge a published order.

    Args:
        sign: 1 if the level is published as greater than the other, -1 if as less.
        found: the paired difference of the level from the other one.
        margin: the largest difference that does not matter.
    """
    if not found.boards:
        return Judged(Verdict.NOT_COMPARABLE, "no board has a value for both")
    if math.isnan(found.low):
        return Judged(Verdict.UNDECIDED, f"too few boards ({found.boards})")
    low, high = sorted((sign * found.low, sign * found.high))
    reason = _against(found, margin)
    if low > margin:
        return Judged(Verdict.AGREES, reason)
    if high < margin:
        return Judged(Verdict.DIFFERS, f"{'the other way round' if high < 0 else 'no more than the margin'}; {reason}")
    return Judged(Verdict.UNDECIDED, reason)


def paired_difference(deltas: Floats, *, rate: bool) -> Estimate:
    """Return the mean of paired differences with its interval; without ends over fewer than six boards.

    Args:
        deltas: one per board, shape (boards,).
        rate: whether they are differences of values from 0 to 1.
    """
    boards = len(deltas)
    if boards < FEWEST:
        return Estimate(float(deltas.mean()) if boards else math.nan, math.nan, math.nan, boards, boards)
    mean, largest = float(deltas.mean()), 1.0 if rate else float(np.abs(deltas).max())
    if np.any(deltas):
        low, high = (largest * end for end in sign_flip_interval(deltas / largest, share=True))
    else:
        high = 1 - TAIL ** (1 / boards) if rate else 0.0
        low = -high
    return Estimate(mean, low, high, boards, boards)


def _within(found: Estimate, margin: float) -> bool:
    return -margin <= found.low and found.high <= margin


def _against(found: Estimate, margin: float) -> str:
    places = decimals([found])
    return f"difference {interval(found, places, signed=True)}, margin {margin:.{places}f}"
