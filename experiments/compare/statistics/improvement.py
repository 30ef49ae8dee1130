"""How often one arm is better than another."""

from __future__ import annotations

from collections.abc import Sequence


def share_greater(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the share of pairs of values in which the first is greater, ties half (Mann and Whitney 1947).

    Its mean over boards is the probability of improvement (Agarwal et al. 2021, section 4.3, with a board as a task).

    Args:
        x: values of one arm on a board, none empty.
        y: those of the other.
    """
    return sum((a > b) + (a == b) / 2 for a in x for b in y) / (len(x) * len(y))
