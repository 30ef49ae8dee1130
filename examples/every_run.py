"""A figure: every run of a comparison as a dot."""

from __future__ import annotations

from collections.abc import Iterator

from quorum.comparison import Comparison
from quorum.comparison.figures import Drawing, figure, style


@figure("every_run")
def every_run(comparison: Comparison) -> Iterator[Drawing]:
    """Draw steps against messages; each run is a dot, each level a colour."""
    drawn = style.sheet(1, height=2.2)
    axes = drawn.panels[0]
    for (level, _), group in comparison.groups.items():
        messages, steps = group.values("communication.messages"), group.values("outcome.steps")
        axes.plot(messages, steps, ".", color=style.colour(comparison, level))
    axes.set_xlabel("messages")
    axes.set_ylabel("steps")
    yield Drawing("Steps against messages, every run", style.finish(drawn, comparison, "A dot is a run."))
