"""Thoughts under way, from start to end: their views, results and time limits."""

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
"""Minimum seconds between two checks of a limit."""


@dataclass(frozen=True, slots=True)
class TurnAttempt:
    """One attempt at a turn; a refused thought leads to another attempt at the same turn."""

    turn: Turn
    number: int = 0
    problems: tuple[str, ...] = ()


class Limits:
    """The time limits of one episode, which starts now. Time in the harness's own queue does not count.

    Args:
        thought_seconds: maximum time of a thought; None for no limit.
        episode_seconds: maximum time of the episode; None for no limit.
    """

    def __init__(self, thought_seconds: float | None, episode_seconds: float | None) -> None:
        self._thought_seconds = thought_seconds
        self._episode_seconds = episode_seconds
        self._episode = Stopwatch()

    def check_episode(self) -> None:
        """Check the time limit of the episode.

        Raises:
            LimitReached: the time is over.
        """
        limit = self._episode_seconds
        if limit is not None and self._episode.seconds >= limit:
            raise LimitReached(f"episode_seconds: {limit:g} s are over")

    async def bound(self, think: Callable[[], Awaitable[T]], name: str, stopwatch: Stopwatch) -> T:
        """Run a thought within its own limit and the remaining time of the episode; return its result.

        Args:
            think: starts the thought.
            name: name of the participant.
            stopwatch: measures the thought.

        Raises:
            LimitReached: the time is over, and the thought was cancelled.
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
    """End a timeout scope when a limit has passed on its stopwatch, which may pause."""
    while (left := min(limit - stopwatch.seconds for limit, stopwatch in bounds)) > 0:
        await asyncio.sleep(max(left, _LOOK))
    scope.reschedule(0)


@dataclass(slots=True)
class Thinking:
    """A thought under way, and later its result.

    Attributes:
        attempt: the attempt at a turn that it belongs to.
        view: the view of its mind.
        ledger: the language model calls.
        returned: whether the mind has returned an answer.
        thought: the answer, not checked yet, so it may have another type; an empty thought before the mind returns.
        stop: the error that the mind raised, if any.
        seconds: wall time, without time in the harness's own queue.
        cost: its duration on the cognitive clock.
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
        """Let the mind think.

        Raises:
            LimitReached: a wall-clock limit has passed.
            ContractError: the mind's `think` is not async.
            Exception: any error that the mind raises.
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
        """The calls reported by the mind; if it reports none, those in the ledger."""
        reported = self.stop.calls if isinstance(self.stop, EpisodeStop) else getattr(self.thought, "calls", ())
        return reported or self.ledger.calls

    @property
    def why_in_vain(self) -> str:
        """The reason why a thought has no effect if the episode ends before its instant."""
        return CUT_SHORT if self.stop is None else str(self.stop) or type(self.stop).__name__

    @property
    def failure_flag(self) -> str:
        """The kind of failure, according to the thought's last call."""
        return "empty_answer" if self.calls and "empty_answer" in self.calls[-1].record else "parse_failure"


def observation_of(participant: Participant, world: World) -> Observation:
    """Return a participant's observation; for a participant without a body, the whole world.

    Raises:
        ContractError: the world does not return an observation.
    """
    observe = world.observe if participant.embodied else world.global_observation
    found = world.observe(participant.index) if participant.embodied else world.global_observation()
    if not hasattr(found, "text"):
        raise wrong_answer(observe, described(found), "an observation, which has a method text()")
    return found
