"""A prompt that the model's context has no room for: what servers say, and what is made of it."""

from __future__ import annotations

import pytest

from quorum.agents.llm.errors import BadRequest, ContextOverflow, RateLimited, UnknownModel
from quorum.agents.llm.limits import estimate_tokens
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.providers.failures import error_text, status_failure
from tests.agents.llm.wire import SDKS, Brain, client, request
from tests.loopback import serve

SAID = {
    "openai": (
        400,
        {
            "code": "context_length_exceeded",
            "message": "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 "
            "tokens. Please reduce the length of the messages.",
        },
        None,
    ),
    "openai, newer": (400, {"message": "Input tokens exceed the configured limit of 272000 tokens."}, None),
    "openai, with the answer": (
        400,
        {
            "message": "This model's maximum context length is 4097 tokens. However, you requested 4203 tokens (3703 "
            "in the messages, 500 in the completion). Please reduce the length of the messages or completion."
        },
        394,
    ),
    "vllm": (
        400,
        {
            "message": "'max_tokens' or 'max_completion_tokens' is too large: 6048. This model's maximum context "
            "length is 6048 tokens and your request has 568 input tokens (6048 > 6048 - 568)."
        },
        5480,
    ),
    "vllm, the prompt alone": (
        400,
        {"message": "The decoder prompt (length 5000) is longer than the maximum model length of 4096."},
        None,
    ),
    "anthropic": (
        400,
        {"type": "invalid_request_error", "message": "prompt is too long: 208310 tokens > 200000 maximum"},
        None,
    ),
    "anthropic, with the answer": (
        400,
        {"message": "input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease"},
        21041,
    ),
    "llama.cpp": (
        400,
        {
            "type": "exceed_context_size_error",
            "message": "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it",
        },
        None,
    ),
    "llama.cpp, within an answer": (500, {"type": "server_error", "message": "Context size has been exceeded."}, None),
    "llama-cpp-python": (500, {"message": "Requested tokens (2285) exceed context window of 2048"}, None),
    "ollama": (400, {"message": "the input length exceeds the context length"}, None),
    "litellm": (400, "litellm.ContextWindowExceededError: GeminiException - too much", None),
    "gemini": (
        400,
        {"message": "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576)."},
        None,
    ),
    "openrouter": (
        400,
        {
            "message": "This endpoint's maximum context length is 131072 tokens. However, you requested about 141003 "
            "tokens (121003 of text input, 20000 in the output)."
        },
        10069,
    ),
    "openrouter, the provider behind it": (
        400,
        {"message": "Provider returned error", "code": 400, "metadata": {"raw": '{"message":"prompt is too long"}'}},
        None,
    ),
    "xai": (400, {"message": "This model's maximum prompt length is 131072 but the request contains 537812"}, None),
}


def _failure(status: int, body: object) -> Exception:
    text, code = error_text({"error": body} if isinstance(body, dict) else body, "")
    return status_failure(status, text, code=code, wait=None, model="m", variable=None)


@pytest.mark.parametrize("server", SAID)
def test_every_server_says_in_its_own_words_that_a_prompt_does_not_fit(server: str) -> None:
    status, body, room = SAID[server]
    failure = _failure(status, body)
    assert isinstance(failure, ContextOverflow)
    assert failure.room == room


@pytest.mark.parametrize(
    ("status", "text", "kind"),
    [
        (429, "Request too large for model: tokens per minute limit 6000, requested 9000", RateLimited),
        (400, "max_tokens is too large: 20000. This model supports at most 16384 completion tokens", BadRequest),
        (400, "messages: at least one message is required", BadRequest),
        (404, "The model `context-8k` does not exist", UnknownModel),
    ],
)
def test_other_refusals_are_no_overflow(status: int, text: str, kind: type[Exception]) -> None:
    failure = _failure(status, {"message": text})
    assert type(failure) is kind


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
