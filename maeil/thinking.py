"""A thought from its start to its end, however it ends: what its mind sees, and how long it may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from maeil.calls import Call, Ledger, entered_in
from maeil.contracts import check_awaitable, described, wrong_answer
from maeil.errors import EpisodeStop, LimitReached
from maeil.mind import Mind, Observation, Thought, Turn, View
from maeil.team import Participant
from maeil.trace.events import CUT_SHORT
from maeil.world import World
from quorum_base.stopwatches import Stopwatch, timed_by

T = TypeVar("T")

_NOTHING = Thought()
_LOOK = 0.01
"""Seconds between two looks at a limit that is nearly over."""


@dataclass(frozen=True, slots=True)
class TurnAttempt:
    """One try at a turn: a refused thought leads to another attempt at the same turn."""

    turn: Turn
    number: int = 0
    problems: tuple[str, ...] = ()


class Limits:
    """The limits of one episode, counted from here. Waiting for a place in our own queue does not count.

    Args:
        thought_seconds: longest time that a mind may take for a thought; None for any.
        episode_seconds: longest time that the episode may take; None for any.
    """

    def __init__(self, thought_seconds: float | None, episode_seconds: float | None) -> None:
        self._thought_seconds = thought_seconds
        self._episode_seconds = episode_seconds
        self._episode = Stopwatch()

    def check_episode(self) -> None:
        """End an episode that has taken too long.

        Raises:
            LimitReached: it has.
        """
        limit = self._episode_seconds
        if limit is not None and self._episode.seconds >= limit:
            raise LimitReached(f"episode_seconds: {limit:g} s are over")

    async def bound(self, think: Callable[[], Awaitable[T]], name: str, stopwatch: Stopwatch) -> T:
        """Return what a thought returns, within its limit and what is left of the episode.

        Args:
            think: begins the thought.
            name: who thinks.
            stopwatch: of the thought.

        Raises:
            LimitReached: the time is over; the thought is cancelled.
        """
        both = ((self._thought_seconds, stopwatch), (self._episode_seconds, self._episode))
        bounds = [(limit, watch) for limit, watch in both if limit is not None]
        with timed_by(stopwatch, self._episode):
            if not bounds:
                return await think()
            try:
                async with asyncio.timeout(None) as scope:
                    look = asyncio.get_running_loop().create_task(_end_when_over(scope, bounds))
                    try:
                        return await think()
                    finally:
                        look.cancel()
            except TimeoutError:
                if not scope.expired():
                    raise
                self.check_episode()
                limit = self._thought_seconds
                raise LimitReached(f"thought_seconds: {name} thought longer than {limit:g} s") from None


async def _end_when_over(scope: asyncio.Timeout, bounds: Sequence[tuple[float, Stopwatch]]) -> None:
    """End a scope when a limit is over, by a stopwatch that may stand meanwhile."""
    while (left := min(limit - stopwatch.seconds for limit, stopwatch in bounds)) > 0:
        await asyncio.sleep(max(left, _LOOK))
    scope.reschedule(0)


@dataclass(slots=True)
class Thinking:
    """A thought under way, and what is known of it when it is over.

    Attributes:
        attempt: what it answers.
        view: what its mind sees.
        ledger: the calls of its models.
        returned: whether its mind has answered.
        thought: what it has answered, which need be no thought at all; an empty one before.
        stop: what came out of its mind instead, if something did.
        seconds: wall time, without waiting for a place in our own queue.
        cost: how far it moves its author on the cognitive clock.
    """

    attempt: TurnAttempt
    view: View
    ledger: Ledger = field(default_factory=Ledger)
    returned: bool = False
    thought: Thought = _NOTHING
    stop: Exception | None = None
    seconds: float = 0.0
    cost: float = 0

    async def run(self, mind: Mind, limits: Limits) -> None:
        """Have the mind think.

        Raises:
            LimitReached: a wall-clock limit is over.
            ContractError: the mind answers at once, and not by something that can be awaited.
            Exception: whatever the mind raises.
        """
        stopwatch = Stopwatch()
        try:
            with entered_in(self.ledger):
                self.thought = await limits.bound(
                    lambda: check_awaitable(mind.think(self.view), mind.think), self.view.name, stopwatch
                )
            self.returned = True
        except Exception as stop:
            self.stop = stop
            raise
        finally:
            self.seconds = stopwatch.seconds

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls as the mind reports them, else as its models have entered them."""
        reported = self.stop.calls if isinstance(self.stop, EpisodeStop) else getattr(self.thought, "calls", ())
        return reported or self.ledger.calls

    @property
    def why_in_vain(self) -> str:
        """Why the thought takes no effect when the episode is over before its instant has come."""
        return CUT_SHORT if self.stop is None else str(self.stop) or type(self.stop).__name__

    @property
    def failure_flag(self) -> str:
        """What kind of failure the thought is, by the last call that it made."""
        return "empty_answer" if self.calls and "empty_answer" in self.calls[-1].record else "parse_failure"


def observation_of(participant: Participant, world: World) -> Observation:
    """Return what a participant observes: the whole world where it has no body.

    Raises:
        ContractError: it is no observation.
    """
    observe = world.observe if participant.embodied else world.global_observation
    found = world.observe(participant.index) if participant.embodied else world.global_observation()
    if not hasattr(found, "text"):
        raise wrong_answer(observe, described(found), "an observation, which has a method text()")
    return found
