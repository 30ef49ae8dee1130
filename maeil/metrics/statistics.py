"""Ratios, means and deviations that are None for empty data."""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum, sqrt


def ratio(part: float, whole: float) -> float | None:
    """Return `part / whole`; None when `whole` is 0."""
    return part / whole if whole else None


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean; None without values."""
    return fsum(values) / len(values) if values else None


def deviation(values: Sequence[float]) -> float | None:
    """Return the population standard deviation (the divisor is the number of values); None without values."""
    centre = mean(values)
    return None if centre is None else sqrt(fsum((value - centre) ** 2 for value in values) / len(values))
