"""Durations as readers write them."""

from __future__ import annotations


def clock_time(seconds: float) -> str:
    """Write a duration as hours, minutes and seconds: `1:02:03`, `2:03`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
