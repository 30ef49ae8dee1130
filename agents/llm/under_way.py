"""The calls of language models that are under way, for those who watch: nothing of it reaches a trace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from quorum.agents.llm.protocol import Model, Origin, Reply, Request
from quorum.agents.llm.spent import Spent

_NOBODY = Origin("", 0)


@dataclass(frozen=True, slots=True)
class CallUnderWay:
    """A request that waits for its answer.

    Attributes:
        agent: the participant who thinks.
        role: the role in which it is asked; empty where it has none.
        since: monotonic seconds.
    """

    agent: str
    role: str
    since: float


class UnderWay:
    """What is asked at the moment, and what the answers so far have taken: one object a process.

    It is written from the event loop, and may be read from any thread.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        """Gives monotonic seconds, of the same clock as `CallUnderWay.since`."""
        self.spent = Spent()
        """Of all answers so far, those of the cache among them."""
        self.simulated = False
        """Whether a simulated model gave one of them, so that the money is made up."""
        self._calls: dict[int, CallUnderWay] = {}
        self._next = 0

    @property
    def calls(self) -> list[CallUnderWay]:
        """The calls under way, that which waits longest first."""
        return list(self._calls.values())

    def begin(self, origin: Origin | None) -> int:
        """Enter a call that begins; return its number."""
        who = origin or _NOBODY
        self._next += 1
        self._calls[self._next] = CallUnderWay(who.agent, who.role, self.clock())
        return self._next

    def end(self, number: int, reply: Reply | None) -> None:
        """Take a call out, with its answer; None where none came."""
        del self._calls[number]
        if reply is not None:
            self.spent += _of(reply)
            self.simulated = self.simulated or reply.simulated


def _of(reply: Reply) -> Spent:
    usage, usd = reply.usage, reply.usd
    return Spent(1, usage.prompt + usage.completion, usd or 0.0, int(usd is None), int(reply.cache_hit))


class Watched:
    """A model whose calls can be seen while they are under way. An answer that is asked for again is another call.

    Args:
        model: the model.
        under_way: where they are entered.
    """

    def __init__(self, model: Model, under_way: UnderWay) -> None:
        self._model = model
        self._under_way = under_way

    async def complete(self, request: Request) -> Reply:
        """Answer a request."""
        number = self._under_way.begin(request.origin)
        reply: Reply | None = None
        try:
            reply = await self._model.complete(request)
        finally:
            self._under_way.end(number, reply)
        return reply
