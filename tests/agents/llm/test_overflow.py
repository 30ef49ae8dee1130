"""A prompt that the model's context has no room for: what servers say, and what is made of it."""

from __future__ import annotations

import pytest

from quorum.agents.llm.errors import ContextOverflow
from quorum.agents.llm.limits import estimate_tokens
from quorum.agents.llm.protocol import Reply, Request
from tests.agents.llm.wire import SDKS, Brain, client, request
from tests.loopback import serve


def _tokens(asked: Request) -> int:
    return estimate_tokens(*(message.content for message in asked.messages))


class Seeing(Brain):
    """A brain that keeps what reaches it."""

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[Request] = []

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        return await super().complete(request)


@pytest.mark.parametrize("wire", SDKS)
async def test_a_prompt_that_is_too_long_is_refused_once_and_not_taken_for_a_refused_schema(wire: str) -> None:
    asked, seen = request("word " * 400), Seeing()
    async with serve(seen, context=_tokens(asked)) as addresses, client(wire, addresses) as model:
        with pytest.raises(ContextOverflow):
            await model.complete(asked)
        await model.complete(request())
    (short,) = seen.requests
    assert short.answer is not None


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
async def test_an_answer_gets_the_room_that_the_context_leaves(wire: str) -> None:
    asked, seen = request(), Seeing()
    async with serve(seen, context=_tokens(asked) + 7) as addresses, client(wire, addresses) as model:
        reply = await model.complete(asked)
    assert ([found.sampling.max_tokens for found in seen.requests], reply.attempts) == ([7], 2)
