"""Replays a trace: seed and joint actions give the frames back, so none are stored."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from maeil.errors import ReplayMismatch
from maeil.trace.events import StepOutcome, StepTaken
from maeil.trace.reader import Trace
from maeil.world import World


def replay(trace: Trace, world: World) -> Iterator[int]:
    """Bring `world` through every state of an episode, and check on the way that it is the same episode.

    Args:
        trace: a trace, whole or a prefix.
        world: a world of the trace's configuration; it is reset.

    Yields:
        The environment step `t` that the world stands at: 0 first, then after each joint action.

    Raises:
        ReplayMismatch: the board, a reward or an outcome differs from the recorded one.
    """
    start = trace.start
    _compare(0, "board", start.board, world.reset(start.seed))
    recorded = {stamped.t: stamped.event for stamped in trace.stamped(StepOutcome)}
    yield 0
    for stamped in trace.stamped(StepTaken):
        step = stamped.event
        assert isinstance(step, StepTaken)
        transition = world.step(step.joint)
        _compare(stamped.t, "reward", step.reward, transition.reward)
        outcome = recorded.get(stamped.t)
        if outcome is None and stamped is trace.events[-1]:
            yield stamped.t + 1  # the trace breaks off before the outcomes of its last step
            return
        _compare(
            stamped.t, "outcomes", outcome.outcomes if isinstance(outcome, StepOutcome) else (), transition.outcomes
        )
        yield stamped.t + 1


def _compare(t: int, what: str, expected: object, found: object) -> None:
    if orjson.dumps(expected) != orjson.dumps(found):
        raise ReplayMismatch(f"step {t}: {what} was {expected} in the trace and is {found} now")
