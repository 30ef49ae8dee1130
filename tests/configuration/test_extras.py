"""`llm.extra_body` and `llm.extra_headers`: what may stand there, and what has its own place or is a key."""

from __future__ import annotations

import pytest

from quorum.configuration.cell import Cell
from quorum_base.user_errors import UserError
from tests.conftest import Quorum

LLM = ("agents=naive", "llm=vllm", "llm.model=a")


def _llm(*words: str):
    return Cell.compose([*LLM, *words]).configuration.llm


def test_any_other_field_and_header_may_stand_there() -> None:
    found = _llm("llm.extra_body.top_k=40", "llm.extra_body.provider={order: [x]}", "llm.extra_headers.X-Title=Quorum")
    assert found.extra_body == {"top_k": 40, "provider": {"order": ["x"]}}
    assert found.extra_headers == {"X-Title": "Quorum"}


@pytest.mark.parametrize(
    ("field", "place"),
    [
        ("model=b", "llm.model"),
        ("messages=[]", "prompts"),
        ("temperature=1", "llm.temperature"),
        ("top_p=1", "llm.top_p"),
        ("stop=[x]", "llm.stop"),
        ("stop_sequences=[x]", "llm.stop"),
        ("seed=1", "llm.sampling_seed"),
        ("max_completion_tokens=1", "llm.max_tokens"),
        ("response_format={type: text}", "llm.structured"),
        ("reasoning_effort=low", "llm.effort"),
        ("thinking={type: enabled}", "llm.effort"),
        ("chat_template_kwargs={enable_thinking: false}", "llm.effort"),
        ("service_tier=flex", "llm.service_tier"),
        ("n=2", "one whole answer"),
        ("stream=true", "one whole answer"),
        ("api_base=x", "llm.base_url"),
    ],
)
def test_a_field_that_has_its_own_key_is_refused_with_the_key(field: str, place: str) -> None:
    with pytest.raises(UserError, match=rf"llm.extra_body: .*{field.partition('=')[0]}.* has its own place: .*{place}"):
        _llm(f"llm.extra_body.{field}")


def test_a_template_of_a_chat_may_be_told_what_is_no_thinking() -> None:
    assert _llm("llm.extra_body.chat_template_kwargs={date: today}").extra_body


@pytest.mark.parametrize(
    "header",
    [
        "Authorization='Bearer canary0123'",
        "api-key=canary0123",
        "x-api-key=canary0123",
        "Cookie=canary0123",
        "X-Goog-Api-Key=canary0123",
        "X-Auth-Token=canary0123",
        "X-Title='Bearer canary0123'",
        "X-Title=sk-canary0123456789",
        "X-Title=gsk_canary0123456789",
        "Host=canary0123",
    ],
)
def test_a_header_that_may_hold_a_key_is_refused_and_not_shown(header: str, quorum: Quorum) -> None:
    with pytest.raises(UserError, match=r"llm.extra_headers: the value \(not shown here\)") as caught:
        _llm(f"llm.extra_headers.{header}")
    assert "canary" not in str(caught.value)


def test_a_key_among_headers_is_shown_nowhere_by_the_command(quorum: Quorum) -> None:
    for word in ("llm.extra_headers.Authorization=Bearer canary0123", "llm.extra_body.note=sk-canary0123456789"):
        shown = quorum("show", *LLM, word)
        assert shown.returncode == 2
        assert word.partition("=")[0].rpartition(".")[0] in shown.stderr
        assert "canary" not in shown.stdout + shown.stderr


def test_the_value_of_a_variable_that_holds_a_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary-0123456789")
    with pytest.raises(UserError, match="that of the environment variable SOME_API_KEY") as caught:
        _llm("llm.extra_headers.X-Title=canary-0123456789")
    assert "canary" not in str(caught.value)


def test_they_are_part_of_the_name_of_a_cell() -> None:
    words = ("llm.top_p=0.9", "llm.stop=[x]", "llm.extra_body.top_k=4", "llm.extra_headers.X-Title=Quorum")
    assert len({Cell.compose([*LLM, *more]).hash for more in ((), *((word,) for word in words))}) == 1 + len(words)


@pytest.mark.parametrize("word", ["llm.top_p=0", "llm.top_p=1.5", "llm.stop=[]", "llm.stop=['']", "llm.stop=x"])
def test_values_that_no_server_takes_are_refused(word: str) -> None:
    with pytest.raises(UserError, match=rf"^{word.partition('=')[0]}"):
        _llm(word)
