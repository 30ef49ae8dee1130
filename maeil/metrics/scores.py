"""The score along the steps of an episode."""

from __future__ import annotations

from maeil.metrics.shared import shared
from maeil.trace.events import ScoreChange, StepTaken
from maeil.trace.reader import Trace


@shared
def scores(trace: Trace) -> tuple[float, ...]:
    """Give the world's score before the first step, 0 where none is told, and after each, so (steps + 1) of them."""
    changes = {stamped.t: stamped.event for stamped in trace.stamped(ScoreChange)}
    found: list[float] = []
    for t in range(len(trace.stamped(StepTaken)) + 1):
        change = changes.get(t)
        found.append(change.score if isinstance(change, ScoreChange) else found[-1] if found else 0.0)
    return tuple(found)
