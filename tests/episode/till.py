"""The other side of the books: a server that counts what it serves, and stops serving as a test says."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from enum import Enum

from quorum.agents.llm.errors import BadRequest, ServerFailed
from quorum.agents.llm.protocol import Finish, Model, Reply, Request

INPUT, OUTPUT = 1.0, 2.0
"""Dollars per million tokens."""
PRICES = f"llm.prices={{input: {INPUT}, output: {OUTPUT}}}"


class Then(Enum):
    """What a till does when it has served its share."""

    SERVE = "it goes on"
    HANG = "it never answers again"
    FAIL = "it answers with 500"
    REJECT = "it answers with 400"
    REFUSE = "its model refuses to answer"


@dataclass
class Till:
    """A brain that counts its answers.

    Args:
        brain: what answers.
        after: answers after which it does something else; None: it goes on.
        then: what it does.
    """

    brain: Model
    after: int | None = None
    then: Then = Then.SERVE
    answers: int = 0
    prompt: int = 0
    completion: int = 0
    asked: int = 0
    dearest: float = 0.0
    """Money for the dearest answer."""
    stopped: threading.Event = field(default_factory=threading.Event)
    """Set when somebody asks after it has stopped serving."""

    @property
    def usd(self) -> float:
        """Money for what was served."""
        return (self.prompt * INPUT + self.completion * OUTPUT) / 1e6

    async def complete(self, request: Request) -> Reply:
        """Answer, and count it; or do what is to be done then."""
        number, self.asked = self.asked, self.asked + 1
        is_over = self.after is not None and number >= self.after
        if is_over and self.then not in (Then.SERVE, Then.REFUSE):
            await self._stop()
        reply = await self.brain.complete(request)
        if is_over and self.then is Then.REFUSE:
            reply = Reply("No.", Finish.REFUSAL, reply.usage, None, 0.0, reply.model, simulated=True)
        self.dearest = max(self.dearest, (reply.usage.prompt * INPUT + reply.usage.completion * OUTPUT) / 1e6)
        self.answers += 1
        self.prompt += reply.usage.prompt
        self.completion += reply.usage.completion
        return reply

    async def _stop(self) -> None:
        await asyncio.sleep(0.1)  # what was served before has been received
        self.stopped.set()
        if self.then is Then.HANG:
            await asyncio.Event().wait()
        raise BadRequest("not this one") if self.then is Then.REJECT else ServerFailed("gone")
