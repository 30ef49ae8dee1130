"""Student's t distribution with a whole number of degrees of freedom."""

from __future__ import annotations

import math
from functools import cache


def t_cdf(t: float, freedom: int) -> float:
    """Return P(T <= t), by the finite sums of Abramowitz and Stegun 1964, 26.7.3 and 26.7.4.

    Args:
        t: the point.
        freedom: degrees of freedom, at least 1.
    """
    angle = math.atan(t / math.sqrt(freedom))
    square = math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= square * (k - 1) / k
        total += term
    inside = math.sin(angle) * total
    within = 2 / math.pi * (angle + inside) if odd else inside
    return 0.5 + within / 2


@cache
def t_quantile(share: float, freedom: int) -> float:
    """Return t with P(T <= t) = share, to 12 digits.

    Args:
        share: strictly between 0 and 1.
        freedom: degrees of freedom, at least 1.
    """
    if share < 0.5:
        return -t_quantile(1 - share, freedom)
    low, high = 0.0, 1.0
    while t_cdf(high, freedom) < share:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, freedom) < share else (low, middle)
    return (low + high) / 2
