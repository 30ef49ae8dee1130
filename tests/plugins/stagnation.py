"""A third party's metric and figure, in one module, registered the way a user would with `--plugin stagnation`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from maeil.metrics import Value, metric
from maeil.metrics.outcome import scores
from maeil.trace import Trace
from quorum.comparison import Comparison
from quorum.comparison.figures import Drawing, figure, style


@metric("progress.stagnation", better="lower", title="stagnation")
def stagnation(trace: Trace) -> Value:
    """Steps after which the score is no higher than before / T; None without a step."""
    after = list(pairwise(scores(trace)))
    return sum(now <= before for before, now in after) / len(after) if after else None


@figure("runs_in_order")
def runs_in_order(comparison: Comparison) -> Iterator[Drawing]:
    """Draw the first metric of every run, a line a level."""
    drawn = style.sheet(1, height=2.0)
    for (level, _), group in comparison.groups.items():
        drawn.panels[0].plot(group.values(comparison.metrics[0]), color=style.colour(comparison, level))
    yield Drawing(f"{comparison.metrics[0]} of every run", style.finish(drawn, comparison, "Runs in order."))
