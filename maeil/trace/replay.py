"""Replays a trace: seed and joint actions give the frames back, so none are stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from maeil.errors import ReplayMismatch
from maeil.trace.events import EpisodeStart, Stamped, StepOutcome, StepTaken
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
    return replay_events(trace.events, world)


def replay_events(events: Iterable[Stamped], world: World) -> Iterator[int]:
    """Replay an episode as `replay` does, and keep none of its events.

    Args:
        events: of a trace, in order; those between the start and the last may be the steps and their outcomes alone.
        world: as for `replay`.

    Yields:
        As `replay`.

    Raises:
        ReplayMismatch: as `replay`.
    """
    coming = iter(events)
    start = next(coming).event
    assert isinstance(start, EpisodeStart)
    _compare(0, "board", start.board, world.reset(start.seed))
    yield 0
    for t, step, outcomes in _steps(coming):
        transition = world.step(step.joint)
        _compare(t, "reward", step.reward, transition.reward)
        if outcomes is not None:
            _compare(t, "outcomes", outcomes, transition.outcomes)
        yield t + 1


def _steps(events: Iterable[Stamped]) -> Iterator[tuple[int, StepTaken, Sequence[Mapping[str, Any]] | None]]:
    """Put each step and its outcomes together; the outcomes are None where the trace breaks off before them."""
    taken: tuple[int, StepTaken] | None = None
    outcomes: Sequence[Mapping[str, Any]] = ()
    event: object = None
    for stamped in events:
        event = stamped.event
        if isinstance(event, StepTaken):
            if taken is not None:
                yield *taken, outcomes
            taken, outcomes = (stamped.t, event), ()
        elif isinstance(event, StepOutcome) and taken is not None and stamped.t == taken[0]:
            outcomes = event.outcomes
    if taken is not None:
        yield *taken, None if event is taken[1] else outcomes


def _compare(t: int, what: str, expected: object, found: object) -> None:
    if orjson.dumps(expected) != orjson.dumps(found):
        raise ReplayMismatch(f"step {t}: {what} was {expected} in the trace and is {found} now")
