"""The program of a seat: it sends each request of Quorum to the model as a conversation in itself."""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf
from openai import AsyncOpenAI


class SeatSession(vf.HarnessSession):
    """One seat in one episode."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The server at `endpoint` forwards each request to the model, and records it in the trace.
        self._client = AsyncOpenAI(base_url=self.endpoint, api_key=self.secret, timeout=None)

    async def _run(self, messages: vf.Messages | None) -> vf.ProgramResult:
        """Send the messages of a turn, without those of the turns before."""
        if messages is None:
            raise vf.HarnessError("a seat only answers requests; use it with the environment quorum-verifiers")
        prompt: list[Any] = [message.model_dump(exclude_none=True) for message in messages]
        await self._client.chat.completions.create(model=self.ctx.model, messages=prompt)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")

    async def close(self) -> None:
        """Close the connection."""
        await self._client.close()
        await super().close()


class SeatHarness(vf.Harness[vf.HarnessConfig]):
    """Answers the requests of a seat.

    Quorum writes all that an agent knows into each request. In the trace of a seat, each request is therefore a branch,
    and verifiers makes one training sample of each.
    """

    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def session(self, *args: Any, **kwargs: Any) -> SeatSession:
        """Return the program of a seat for one episode."""
        return SeatSession(self, *args, **kwargs)

    async def launch(self, *args: Any, **kwargs: Any) -> vf.ProgramResult:
        """Run nothing: the session does."""
        raise NotImplementedError
