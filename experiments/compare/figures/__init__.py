"""The figures of a comparison. Matplotlib is imported when they are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from quorum.experiments.compare.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def figures(comparison: Comparison) -> Iterator[tuple[str, str, Figure]]:
    """Draw every figure for which there is something to show; give name, a description in words, and the figure."""
    from quorum.experiments.compare.figures import curves, failures, pareto, radar, values  # noqa: PLC0415 - Matplotlib

    for part in (values, curves, radar, failures, pareto):
        yield from part.draw(comparison)
