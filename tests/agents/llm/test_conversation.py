"""Conversations: what a model is shown of earlier turns, and what goes back to its provider."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quorum.agents.llm.conversation import Conversation
from quorum.agents.llm.embeddings import EMBEDDINGS, texts_to_embed
from quorum.agents.llm.errors import AnswerInvalid, InfrastructureFailed
from quorum.agents.llm.limits import estimate_prompt
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Model, Origin, Reply, Request, Sampling, Structured
from quorum.agents.llm.records import describe_message, request_key
from quorum.agents.llm.stack import Fallback, build_stack
from tests.agents.llm.raw import Answer, answer, completion, raw_server
from tests.agents.llm.wire import TEXT, Brain, client, reply, request, stack

THOUGHTS: tuple[dict[str, Any], ...] = ({"type": "thinking", "thinking": "Hm.", "signature": "s"},)


def asked(prompt: str, role: str = "") -> Request:
    one = request(prompt)
    return replace(one, origin=Origin("agent_0", 0, role))


def said(message: ChatMessage) -> str:
    return f"{message.role[0]}:{message.content}"


def talk(model: Model, *prompts: str, most: int = 99) -> None:
    conversation = Conversation(model, most)

    async def turns() -> None:
        for prompt in prompts:
            await conversation.complete(asked(prompt))

    asyncio.run(turns())


@given(st.lists(st.tuples(st.sampled_from("ab"), st.text(min_size=1, max_size=3)), max_size=8))
def test_a_turn_is_the_turn_before_it_with_its_answer_and_what_is_asked_now(turns: list[tuple[str, str]]) -> None:
    brain = Brain(lambda one: f"{len(one.messages)}")
    conversation = Conversation(brain, 99)
    before: dict[str, tuple[ChatMessage, ...]] = {}
    for number, (role, prompt) in enumerate(turns):
        reply = asyncio.run(conversation.complete(asked(prompt, role)))
        system, now = request(prompt).messages
        messages = brain.asked[number].messages
        assert messages == (*before.get(role, (system,)), now)
        before[role] = (*messages, ChatMessage(ChatRole.ASSISTANT, reply.text))


def test_the_beginning_never_changes_and_ends_in_marks_for_the_caches() -> None:
    brain = Brain()
    talk(brain, "one", "two")
    assert [message.marks for message in brain.asked[1].messages if message.role is ChatRole.USER] == [(3,), (3,)]
    assert brain.asked[1].messages[1] == brain.asked[0].messages[1]


@pytest.mark.parametrize(
    ("most", "earlier"), [(1, [0, 1, 1, 1, 1, 1]), (2, [0, 1, 2, 1, 2, 1]), (4, [0, 1, 2, 3, 4, 2])]
)
def test_when_there_are_too_many_the_older_half_goes_at_once(most: int, earlier: list[int]) -> None:
    brain = Brain()
    talk(brain, *"abcdef", most=most)
    assert [len(one.messages) // 2 - 1 for one in brain.asked] == earlier
    assert [said(message) for message in brain.asked[-1].messages[-3:]] == ["u:e", f"a:{TEXT}", "u:f"]


def test_what_got_no_answer_and_what_was_fixed_within_a_call_is_not_kept() -> None:
    brain = Brain(["no", "no", "no", "no", TEXT, TEXT])
    conversation = Conversation(build_stack(brain, name="m", max_repairs=2), 9)

    async def turns() -> None:
        with pytest.raises(AnswerInvalid):
            await conversation.complete(asked("one"))
        for prompt in ("two", "three"):
            await conversation.complete(asked(prompt))

    asyncio.run(turns())
    assert [said(message) for message in brain.asked[-1].messages[1:]] == ["u:two", f"a:{TEXT}", "u:three"]


def test_embeddings_are_no_part_of_a_conversation() -> None:
    brain = Brain()
    conversation = Conversation(brain, 9)
    words = Request(texts_to_embed(["a"]), EMBEDDINGS, Sampling(None, 1))

    async def turns() -> None:
        for one in (words, words, asked("one")):
            await conversation.complete(one)

    asyncio.run(turns())
    assert brain.asked[:2] == [words, words]
    assert len(brain.asked[2].messages) == 2


def test_two_calls_in_one_role_are_made_one_after_the_other() -> None:
    class Slow(Brain):
        async def complete(self, request: Request) -> Reply:
            await asyncio.sleep(0)
            return await super().complete(request)

    brain = Slow()
    conversation = Conversation(brain, 9)

    async def both() -> None:
        await asyncio.gather(*(conversation.complete(asked(prompt)) for prompt in ("one", "two")))

    asyncio.run(both())
    assert [said(message) for message in brain.asked[1].messages[1:]] == ["u:one", f"a:{TEXT}", "u:two"]


def test_what_is_carried_is_part_of_what_was_asked_and_nothing_where_there_is_none() -> None:
    plain, carrying = (ChatMessage(ChatRole.ASSISTANT, "a", carried=carried) for carried in ((), THOUGHTS))
    assert describe_message(plain) == {"role": "assistant", "content": "a"}
    assert describe_message(carrying) == {**describe_message(plain), "carried": list(THOUGHTS)}
    keys = {request_key(replace(request(), messages=(one,))) for one in (plain, carrying)}
    assert len(keys) == 2
    assert request_key(replace(request(), carry=True)) != request_key(request())


def test_a_fallback_gets_the_words_of_a_conversation_without_the_thoughts_of_another_model() -> None:
    first = Brain([replace(reply(), carried=THOUGHTS), InfrastructureFailed("gone", 1)])
    second = Brain()
    fallback = Fallback("other", second, lambda one: one, priced=False)
    talk(build_stack(first, name="m", max_repairs=0, fallbacks=[fallback]), "one", "two", "three")
    (_, one, answered, _), *_ = (one.messages for one in second.asked)
    assert (said(one), said(answered), answered.carried) == ("u:one", f"a:{TEXT}", ())
    assert [message.carried for message in first.asked[-1].messages] == [(), (), THOUGHTS, (), (), ()]


def _message(number: int, *, tool: bool) -> dict[str, Any]:
    """Write an answer of a model that thinks, one of its thoughts redacted."""
    thoughts = [
        {"type": "thinking", "thinking": f"Thought {number}.", "signature": f"signed {number}", "new_field": [1, None]},
        {"type": "redacted_thinking", "data": f"secret {number}"},
    ]
    text = {"type": "text", "text": TEXT}
    given = {"plan": [{"action": "wait", "steps": 1}], "mood": "é"}
    call = {"type": "tool_use", "id": "t", "name": "decision", "input": given}
    return {
        "id": "x", "type": "message", "role": "assistant", "model": "m", "stop_sequence": None,
        "stop_reason": "tool_use" if tool else "end_turn", "content": [*thoughts, call if tool else text],
        "usage": {"input_tokens": 100, "output_tokens": 20},
    }  # fmt: skip


async def _sent(wire: str, turns: int, *, tool: bool = False, **arguments: Any) -> list[dict[str, Any]]:
    """Return the bodies that a server gets from a conversation of some turns."""
    numbers = iter(range(turns))

    async def respond(_: dict[str, Any], __: asyncio.StreamWriter) -> Answer:
        number = next(numbers)
        done = {"role": "assistant", "content": TEXT, "reasoning_content": f"Thought {number}."}
        return answer(completion(message=done) if wire == "openai" else _message(number, tool=tool))

    async with raw_server(respond) as (addresses, server), client(wire, addresses, **arguments) as model:
        conversation = Conversation(stack(model), 9)
        for turn in range(turns):
            await conversation.complete(asked(f"turn {turn}"))
        return server.asked


def _texts(body: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the texts of a body, whatever parts they are in."""
    parts = [(m["role"], [m["content"]] if isinstance(m["content"], str) else m["content"]) for m in body["messages"]]
    return [(role, "".join(p if isinstance(p, str) else p.get("text", "") for p in found)) for role, found in parts]


@pytest.mark.parametrize("wire", ["openai", "anthropic"])
def test_the_texts_of_all_turns_go_over_the_wire_and_the_system_once(wire: str) -> None:
    *_, last = asyncio.run(_sent(wire, 3))
    texts = [("user", "turn 0"), ("assistant", TEXT), ("user", "turn 1"), ("assistant", TEXT), ("user", "turn 2")]
    assert _texts(last) == [*([("system", "You are an agent.")] if wire == "openai" else []), *texts]
    assert "Thought" not in str(last) or wire == "anthropic"


@pytest.mark.parametrize("tool", [False, True], ids=["text", "tool"])
def test_thinking_blocks_go_back_as_they_came_before_the_text_of_their_answer(tool: bool) -> None:
    bodies = asyncio.run(_sent("anthropic", 3, tool=tool, structured=Structured.TOOLS if tool else Structured.AUTO))
    answers = [message["content"] for message in bodies[-1]["messages"] if message["role"] == "assistant"]
    for number, content in enumerate(answers):
        assert content[:2] == _message(number, tool=tool)["content"][:2]
        (text,) = content[2:]
        assert text["type"] == "text"
        assert text["text"] == TEXT or "é" in text["text"]
    assert len(answers) == 2


def test_thoughts_that_are_not_kept_do_not_go_back() -> None:
    bodies = asyncio.run(_sent("anthropic", 2, keep_thinking=False))
    assert bodies[1]["messages"][1] == {"role": "assistant", "content": TEXT}


def test_without_a_conversation_nothing_is_carried() -> None:
    async def ask() -> Reply:
        async def respond(_: dict[str, Any], __: asyncio.StreamWriter) -> Answer:
            return answer(_message(0, tool=False))

        async with raw_server(respond) as (addresses, _), client("anthropic", addresses) as model:
            return await model.complete(request())

    assert asyncio.run(ask()).carried == ()


def test_a_breakpoint_follows_the_last_turns() -> None:
    *_, last = asyncio.run(_sent("anthropic", 5))
    marked = [any("cache_control" in part for part in m["content"] if isinstance(part, dict)) for m in last["messages"]]
    assert marked == [False] * 4 + [True, False] * 2 + [True]


def test_thoughts_that_go_back_count_in_the_estimate_of_a_prompt() -> None:
    message = ChatMessage(ChatRole.ASSISTANT, "a", carried=({"data": "x" * 4000},))
    plain, carrying = (replace(request(), messages=(one,)) for one in (replace(message, carried=()), message))
    assert estimate_prompt(carrying) - estimate_prompt(plain) > 1000
