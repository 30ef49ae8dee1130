"""Lengths on a board as pages get them."""

_DIGITS = 3
"""Decimals that are kept: a thousandth of a cell is less than a pixel."""


def rounded(length: float) -> float:
    """Return a length, in cells, as exactly as it can be seen."""
    return length if type(length) is int else round(length, _DIGITS)
