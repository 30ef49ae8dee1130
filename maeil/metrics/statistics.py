"""Means and quantiles that are None where there is nothing to sum up."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, fsum, sqrt


def ratio(part: float, whole: float) -> float | None:
    """Return `part / whole`; None when `whole` is 0."""
    return part / whole if whole else None


def mean(values: Sequence[float]) -> float | None:
    """Return the arithmetic mean."""
    return fsum(values) / len(values) if values else None


def deviation(values: Sequence[float]) -> float | None:
    """Return the standard deviation of a whole population: the divisor is the number of values."""
    centre = mean(values)
    return None if centre is None else sqrt(fsum((value - centre) ** 2 for value in values) / len(values))


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the value below which a share of the values lies, by linear interpolation between the two nearest ones."""
    if not values:
        return None
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
