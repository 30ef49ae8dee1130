"""The prompt caches that the server plays keep what those of OpenAI and Anthropic keep, and tell it in the usage."""

from __future__ import annotations

from typing import Any

import pytest

from quorum.agents.llm.protocol import ChatMessage, ChatRole, Reply, Request, Sampling, Usage
from quorum.agents.llm.providers import content as prompt_caching
from tests.agents.llm.wire import Brain, client, reply
from tests.loopback import serve
from tests.loopback.prompt_caches import PromptCaches, read_prompt

SONNET, HAIKU, SOL, MINI = "claude-sonnet-5", "claude-haiku-4-5", "gpt-6-sol", "gpt-5-mini"


def text(tokens: int, letter: str = "a") -> str:
    """Give a text of so many tokens."""
    return letter * 4 * tokens


def anthropic(system: int, *pieces: tuple[int, str, bool], model: str = SONNET, **changes: Any) -> dict[str, Any]:
    """Give a body in Anthropic's format: tokens of the system message, and pieces of the message behind it."""
    mark = {"cache_control": {"type": "ephemeral"}}
    blocks = [{"type": "text", "text": text(n, letter), **(mark if marked else {})} for n, letter, marked in pieces]
    begin = [{"type": "text", "text": text(system), **mark}]
    return {"model": model, "system": begin, "messages": [{"role": "user", "content": blocks}], **changes}


def counted(provider: str, *bodies: dict[str, Any]) -> list[tuple[int, int]]:
    """Ask one after the other; give what was read and written of each."""
    caches, found = PromptCaches(), []
    for body in bodies:
        prompt = read_prompt(provider, body)
        assert prompt is not None
        looked = caches.look(prompt)
        caches.keep(looked)
        found.append((looked.read, looked.written))
    return found


def test_anthropic_keeps_what_ends_at_a_breakpoint_and_reads_the_longest_of_it() -> None:
    first = anthropic(1100, (50, "b", True), (200, "c", False))
    other = anthropic(1100, (60, "d", True), (200, "c", False))
    assert counted("anthropic", first, first, other, other) == [(0, 1150), (1150, 0), (1100, 60), (1160, 0)]


def test_a_beginning_below_the_minimum_of_the_model_is_not_kept() -> None:
    body = anthropic(1000, (50, "b", True), (9, "c", False))
    assert counted("anthropic", body, body) == [(0, 1050), (1050, 0)]
    assert counted("anthropic", *[{**body, "model": HAIKU}] * 2) == [(0, 0), (0, 0)]
    assert counted("anthropic", *[anthropic(1023, (9, "c", False))] * 2) == [(0, 0), (0, 0)]


def test_another_form_or_model_shares_nothing() -> None:
    body = anthropic(2000, (9, "c", False))
    formed = {**body, "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}}}
    other = {**body, "model": "claude-sonnet-4-5"}
    assert counted("anthropic", body, formed, other, body) == [(0, 2000), (0, 2000), (0, 2000), (2000, 0)]


def test_anthropic_finds_what_ended_at_a_block_before_a_breakpoint() -> None:
    one = anthropic(1100, (50, "b", True))
    more = anthropic(1100, (50, "b", False), (50, "c", True))
    assert counted("anthropic", one, more) == [(0, 1150), (1150, 50)]


def test_what_is_asked_at_the_same_time_does_not_help() -> None:
    caches, prompt = PromptCaches(), read_prompt("anthropic", anthropic(1100))
    assert prompt is not None
    looked = [caches.look(prompt), caches.look(prompt)]
    assert [(one.read, one.written) for one in looked] == [(0, 1100), (0, 1100)]


@pytest.mark.parametrize("broken", [[(1, "b", True)] * 4, [(0, "b", True)]], ids=["five", "empty"])
def test_bodies_that_anthropic_refuses_are_refused(broken: list[tuple[int, str, bool]]) -> None:
    with pytest.raises(ValueError, match="cache_control"):
        read_prompt("anthropic", anthropic(1100, *broken))


def openai(system: int, *pieces: tuple[int, str, bool], model: str, **changes: Any) -> dict[str, Any]:
    """Give a body in OpenAI's format."""
    mark = {"prompt_cache_breakpoint": {"mode": "explicit"}}
    parts = [{"type": "text", "text": text(n, letter), **(mark if marked else {})} for n, letter, marked in pieces]
    begin = [{"type": "text", "text": text(system), **(mark if model == SOL else {})}]
    return {
        "model": model,
        "messages": [{"role": "system", "content": begin}, {"role": "user", "content": parts}],
        **changes,
    }


def test_openai_keeps_steps_of_128_tokens_from_1024_on() -> None:
    first, other = (openai(1100, (100, "b", False), (90, x, False), model=MINI) for x in "cd")
    assert counted("openai", first, other, first) == [(0, 0), (1152, 0), (1280, 0)]
    short = openai(900, (100, "b", False), model=MINI)
    assert counted("openai", short, short) == [(0, 0), (0, 0)]


def test_prompts_of_another_key_are_kept_elsewhere() -> None:
    one, other = (openai(1100, model=MINI, prompt_cache_key=key) for key in "ab")
    assert counted("openai", one, other, one) == [(0, 0), (0, 0), (1024, 0)]


def test_gpt_5_6_and_later_keep_what_is_marked_and_else_all_of_the_newest_message() -> None:
    explicit = {"prompt_cache_options": {"mode": "explicit"}}
    marked = [openai(1100, (50, "b", True), (90, x, False), model=SOL, **explicit) for x in "cd"]
    assert counted("openai", *marked) == [(0, 1150), (1150, 0)]
    implicit = [openai(1100, (50, "b", False), (90, x, False), model=MINI) for x in "cd"]
    unmarked = [{**body, "model": SOL} for body in implicit]
    assert counted("openai", *unmarked) == [(0, 1240), (0, 1240)]


def asked(letter: str) -> Request:
    """Give a request that begins like the others."""
    message = ChatMessage(ChatRole.USER, text(100, "b") + text(300, letter), (400,))
    return Request((ChatMessage(ChatRole.SYSTEM, text(1100)), message), None, Sampling(None, 64))


async def over_http(wire: str, model: str, **arguments: Any) -> list[Reply]:
    """Ask three times over HTTP."""
    brain = Brain(["one", "two", "three"])
    brain.script = [reply(x, prompt=1500) for x in ("one", "two", "three")]
    async with serve(brain, prompt_cache=True) as addresses, client(wire, addresses, model=model, **arguments) as asker:
        replies = [await asker.complete(asked(letter)) for letter in "cde"]
        assert [message.content for message in brain.asked[0].messages] == [m.content for m in asked("c").messages]
        return replies


async def test_over_http_in_anthropics_format() -> None:
    replies = await over_http("anthropic", f"{SONNET}/simulated")
    assert [(r.usage.cached, r.usage.cache_written) for r in replies] == [(0, 1200), (1200, 0), (1200, 0)]
    assert replies[0].usage == Usage(1500, 20, 0, 1200)
    assert replies[0].simulated


async def test_over_http_in_openais_format() -> None:
    replies = await over_http("openai", f"{MINI}/simulated")
    assert [(r.usage.cached, r.usage.cache_written) for r in replies] == [(0, 0), (1152, 0), (1152, 0)]


async def test_a_configuration_without_it_reads_nothing_from_anthropics_cache() -> None:
    replies = await over_http("anthropic", f"{SONNET}/simulated", prompt_cache=False)
    assert [(r.usage.cached, r.usage.cache_written) for r in replies] == [(0, 0)] * 3


async def test_five_breakpoints_over_http_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompt_caching, "MOST_OF_MESSAGES", 9)
    message = ChatMessage(ChatRole.USER, "one two three four", (3, 7, 9, 13))
    request = Request((ChatMessage(ChatRole.SYSTEM, "s"), message), None, Sampling(None, 64))
    async with serve(Brain()) as addresses, client("anthropic", addresses) as model:
        body = model._body(request, model._refusals.offer(request.sampling, form=False, suspected=frozenset()))
        with pytest.raises(model._sdk.BadRequestError, match="maximum of 4 blocks"):
            await model._client.messages.create(**body)
