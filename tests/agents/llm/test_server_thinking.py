"""The loopback server thinks: it spends tokens, returns its thoughts in both formats, and ends without an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from quorum.agents.llm.protocol import Finish, Reply, Structured, ThinkingFormat
from quorum.agents.llm.protocol import ThinkingEffort as Effort
from tests.agents.llm.wire import ANSWER, SDKS, TEXT, Brain, client, request, stack
from tests.loopback import Thinking, serve


async def _answered(wire: str, how: Thinking, wanted: dict[str, Any], **arguments: Any) -> Reply:
    asked = request()
    asked = replace(asked, sampling=replace(asked.sampling, **wanted))
    async with serve(Brain(), thinking=how) as addresses, client(wire, addresses, **arguments) as model:
        return await model.complete(asked)


@pytest.mark.parametrize("structured", [Structured.SCHEMA, Structured.TOOLS])
@pytest.mark.parametrize("wire", SDKS)
async def test_thoughts_cost_tokens_and_are_counted_separately(wire: str, structured: Structured) -> None:
    reply = await _answered(wire, Thinking(100), {}, structured=structured)
    assert (reply.usage.completion, reply.usage.reasoning) == (120, 100)
    assert reply.thinking.startswith("Simulated thoughts.")
    assert len(reply.thinking) == 400
    assert reply.finish is Finish.STOP


EFFORTS = [
    ("openai", "openai", {"effort": Effort.LOW}, 50),
    ("openai", "openai", {"effort": Effort.NONE}, 0),
    ("openai", "vllm", {"effort": Effort.NONE}, 0),
    ("openai", "vllm", {"thinking_tokens": 30}, 30),
    ("openai", "sglang", {"effort": Effort.HIGH}, 200),
    ("openai", "sglang", {"effort": Effort.NONE}, 0),
    ("openai", "sglang", {"thinking_tokens": 30}, 30),
    ("openai", "llamacpp", {"effort": Effort.HIGH}, 200),
    ("openai", "llamacpp", {"effort": Effort.NONE}, 0),
    ("openai", "llamacpp", {"thinking_tokens": 30}, 30),
    ("openai", "deepseek", {"effort": Effort.NONE}, 0),
    ("openai", "deepseek", {"effort": Effort.MAX}, 800),
    ("openai", "openrouter", {"effort": Effort.HIGH}, 200),
    ("openai", "openrouter", {"thinking_tokens": 30}, 30),
    ("anthropic", "auto", {"effort": Effort.HIGH}, 200),
    ("anthropic", "auto", {"effort": Effort.NONE}, 0),
    ("anthropic", "auto", {"thinking_tokens": 30}, 30),
    ("openai_responses", "auto", {"effort": Effort.HIGH}, 200),
    ("gemini", "auto", {"effort": Effort.HIGH}, 200),
    ("gemini", "auto", {"effort": Effort.NONE}, 0),
    ("gemini", "auto", {"thinking_tokens": 30}, 30),
]


@pytest.mark.parametrize(("wire", "dialect", "wanted", "thoughts"), EFFORTS)
async def test_it_thinks_as_much_as_it_is_told_to_in_every_dialect(
    wire: str, dialect: str, wanted: dict[str, Any], thoughts: int
) -> None:
    reply = await _answered(wire, Thinking(100), wanted, thinking_format=ThinkingFormat(dialect))
    assert (reply.usage.reasoning, reply.not_sent) == (thoughts, ("temperature",) if wire == "anthropic" else ())


@pytest.mark.parametrize(
    ("how", "finish", "spent"),
    [
        (Thinking(100, empty_stop=1.0), Finish.STOP, 100),
        (Thinking(100, empty_length=1.0), Finish.LENGTH, 256),
        (Thinking(300), Finish.LENGTH, 256),
    ],
    ids=["stop", "length", "no room"],
)
@pytest.mark.parametrize("wire", SDKS)
async def test_it_ends_without_an_answer_at_set_rates(wire: str, how: Thinking, finish: Finish, spent: int) -> None:
    reply = await _answered(wire, how, {})
    assert (reply.text, reply.finish, reply.usage.completion, reply.usage.reasoning) == ("", finish, spent, spent)


async def test_more_room_helps_against_thoughts_that_need_it() -> None:
    async with serve(Brain(), thinking=Thinking(300)) as addresses, client("openai", addresses) as model:
        reply = await stack(model).complete(request())
    assert (reply.value, reply.text, reply.repairs, reply.widened) == (ANSWER, TEXT, 0, 1)


@pytest.mark.parametrize("arguments", [(0,), (10, -0.1), (10, 0.6, 0.6)])
def test_what_is_no_way_to_think_is_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ValueError, match=r"thinks|shares"):
        Thinking(*arguments)
