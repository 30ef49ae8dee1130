"""A thought from its begin to its end, however it ends."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from maeil.calls import Call, Ledger, entered_in
from maeil.contracts import check_awaitable
from maeil.errors import EpisodeStop
from maeil.limits import Limits
from maeil.mind import Mind, Thought, Turn, View
from maeil.trace.events import CUT_SHORT

_NOTHING = Thought()


@dataclass(frozen=True, slots=True)
class TurnAttempt:
    """One try at a turn: a refused thought leads to another attempt at the same turn."""

    turn: Turn
    number: int = 0
    problems: tuple[str, ...] = ()


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
        seconds: wall time.
    """

    attempt: TurnAttempt
    view: View
    ledger: Ledger = field(default_factory=Ledger)
    returned: bool = False
    thought: Thought = _NOTHING
    stop: Exception | None = None
    seconds: float = 0.0

    async def run(self, mind: Mind, limits: Limits) -> None:
        """Have the mind think.

        Raises:
            LimitReached: a wall-clock limit is over.
            ContractError: the mind answers at once, and not by something that can be awaited.
            Exception: whatever the mind raises.
        """
        begin = time.perf_counter()
        try:
            with entered_in(self.ledger):
                async with limits.thought(self.view.name):
                    self.thought = await check_awaitable(mind.think(self.view), mind.think)
            self.returned = True
        except Exception as stop:
            self.stop = stop
            raise
        finally:
            self.seconds = time.perf_counter() - begin

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls as the mind tells them, else as its models have entered them."""
        told = self.stop.calls if isinstance(self.stop, EpisodeStop) else getattr(self.thought, "calls", ())
        return told or self.ledger.calls

    @property
    def why_in_vain(self) -> str:
        """Why the thought takes no effect when the episode is over before its instant has come."""
        return CUT_SHORT if self.stop is None else str(self.stop) or type(self.stop).__name__
