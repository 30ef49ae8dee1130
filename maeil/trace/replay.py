"""Replays a trace: seed, joint actions and changes of the world reproduce all frames, so traces store none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from maeil.errors import ChangeRefused, ReplayMismatch
from maeil.trace.events import EpisodeStart, Stamped, StepOutcome, StepTaken
from maeil.trace.reader import Trace
from maeil.world import Transition, World


def replay(trace: Trace, world: World) -> Iterator[int]:
    """Take a world through every state of an episode, and check that it is the same episode.

    Args:
        trace: a trace, complete or a prefix.
        world: a world with the trace's configuration; it is reset.

    Yields:
        The current environment step `t`: 0 first, then once after each joint action, and after any change of the world
        at the start of that step.

    Raises:
        ReplayMismatch: the board, a reward or an outcome differs from the recorded one, or the world refuses a change.
    """
    return replay_events(trace.events, world)


def replay_events(events: Iterable[Stamped], world: World) -> Iterator[int]:
    """Replay an episode like `replay`, without keeping its events.

    Args:
        events: events of a trace, in order. Between the first and the last, only the steps, their outcomes and the
            changes of the world are required.
        world: as in `replay`.

    Yields:
        As in `replay`.

    Raises:
        ReplayMismatch: as in `replay`.
    """
    coming = iter(events)
    start = next(coming).event
    assert isinstance(start, EpisodeStart)
    _compare(0, "board", start.board, world.reset(start.seed))
    t = 0
    event: object = None
    transition: Transition | None = None
    outcomes: Sequence[Mapping[str, Any]] = ()
    for stamped in coming:
        event = stamped.event
        if isinstance(event, StepTaken):
            if transition is not None:
                _compare(t - 1, "outcomes", outcomes, transition.outcomes)
            yield t
            transition, outcomes = world.step(event.joint), ()
            _compare(t, "reward", event.reward, transition.reward)
            t += 1
        elif isinstance(event, StepOutcome) and stamped.t == t - 1:
            outcomes = event.outcomes
        elif stamped.event.changes_world:
            try:
                stamped.event.apply(world)
            except ChangeRefused as error:
                raise ReplayMismatch(f"step {t}: the world now refuses a recorded change: {error}") from error
    if transition is not None and not isinstance(event, StepTaken):  # else the trace ends before the outcomes
        _compare(t - 1, "outcomes", outcomes, transition.outcomes)
    yield t


def _compare(t: int, what: str, expected: object, found: object) -> None:
    if orjson.dumps(expected) != orjson.dumps(found):
        raise ReplayMismatch(f"step {t}: {what} was {expected} in the trace and is now {found}")
