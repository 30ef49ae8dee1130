"""Replays a trace: seed, joint actions and changes of the world give the frames back, so none are stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from maeil.errors import ChangeRefused, ReplayMismatch
from maeil.trace.events import ChangesWorld, EpisodeStart, Stamped, StepOutcome, StepTaken
from maeil.trace.reader import Trace
from maeil.world import World


def replay(trace: Trace, world: World) -> Iterator[int]:
    """Bring `world` through every state of an episode, and check on the way that it is the same episode.

    Args:
        trace: a trace, whole or a prefix.
        world: a world of the trace's configuration; it is reset.

    Yields:
        The environment step `t` that the world stands at: 0 first, then after each joint action; where the world was
        changed at the start of a step, once, after that.

    Raises:
        ReplayMismatch: the board, a reward or an outcome differs from the recorded one, or the world refuses a change.
    """
    return replay_events(trace.events, world)


def replay_events(events: Iterable[Stamped], world: World) -> Iterator[int]:
    """Replay an episode as `replay` does, and keep none of its events.

    Args:
        events: of a trace, in order; those between the start and the last may be the steps, their outcomes and the
            changes of the world alone.
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
    t = 0
    for state in _states(coming):
        if state.step is not None:
            t, step = state.step
            transition = world.step(step.joint)
            _compare(t, "reward", step.reward, transition.reward)
            if state.outcomes is not None:
                _compare(t, "outcomes", state.outcomes, transition.outcomes)
            t += 1
        for change in state.changes:
            try:
                change.apply(world)
            except ChangeRefused as error:
                raise ReplayMismatch(f"step {t}: the world was changed, and refuses it now: {error}") from error
        yield t


@dataclass(slots=True)
class _State:
    """How a state came about: by a step, but for the first one, and by what was changed then.

    Attributes:
        step: the step that led to it, and the `t` that it was taken at.
        outcomes: of the step; None where the trace breaks off before them.
        changes: of the world.
    """

    step: tuple[int, StepTaken] | None = None
    outcomes: Sequence[Mapping[str, Any]] | None = ()
    changes: list[ChangesWorld] = field(default_factory=list)


def _states(events: Iterable[Stamped]) -> Iterator[_State]:
    """Yield each state when the step that leaves it has come, or the end."""
    state = _State()
    event: object = None
    for stamped in events:
        event = stamped.event
        if isinstance(event, StepTaken):
            yield state
            state = _State((stamped.t, event))
        elif isinstance(event, StepOutcome) and state.step is not None and stamped.t == state.step[0]:
            state.outcomes = event.outcomes
        elif isinstance(event, ChangesWorld):
            state.changes.append(event)
    if state.step is not None and event is state.step[1]:
        state.outcomes = None
    yield state


def _compare(t: int, what: str, expected: object, found: object) -> None:
    if orjson.dumps(expected) != orjson.dumps(found):
        raise ReplayMismatch(f"step {t}: {what} was {expected} in the trace and is {found} now")
