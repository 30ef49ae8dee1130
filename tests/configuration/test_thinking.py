"""What a known model does not take is reported before anything is run."""

from __future__ import annotations

import pytest

from quorum.configuration.cell import Cell
from quorum_base.user_errors import UserError


def _compose(*words: str) -> Cell:
    return Cell.compose(["agents=naive", *words])


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (
            ("llm=openai", "llm.model=gpt-5", "llm.effort=max"),
            "llm.effort: 'max' is not allowed: gpt-5 takes minimal, low",
        ),
        (("llm=openai", "llm.model=gpt-6.1-sol", "llm.effort=none"), "gpt-6.1-sol takes low, medium, high, xhigh, max"),
        (("llm=openai", "llm.model=gpt-4.1", "llm.effort=low"), "llm.effort=null"),
        (("llm=openai", "llm.model=gpt-6-sol", "llm.thinking_tokens=2000"), "it takes an effort instead: none, low"),
        (
            ("llm=openai", "llm.model=gpt-6-sol", "llm.structured=tools"),
            "llm.structured: 'tools' is not allowed: gpt-6-sol takes no tools",
        ),
        (("llm=anthropic", "llm.model=claude-haiku-4-5", "llm.effort=low"), "llm.thinking_tokens=4096"),
        (
            ("llm=anthropic", "llm.model=claude-haiku-4-5", "llm.thinking_tokens=100"),
            "llm.thinking_tokens: 100 is not allowed: ",
        ),
        (("llm=anthropic", "llm.model=claude-opus-5", "llm.thinking_tokens=2000"), "it takes an effort instead"),
        (("llm=anthropic", "llm.model=claude-opus-5-5", "llm.effort=none"), "claude-opus-5-5 takes low"),
        (
            ("llm=litellm", "llm.model=anthropic/claude-opus-4-5", "llm.effort=max"),
            "anthropic/claude-opus-4-5 takes low, medium, high",
        ),
        (("llm=ollama", "llm.model=qwen", "llm.effort=low", "llm.thinking_tokens=10"), "exclude each other"),
        (("llm=openai", "llm.model=x", "llm.effort=much"), "xhigh"),
        (
            ("llm=openai", "llm.model=x", "llm.fallback=[{model: gpt-5, effort: max}]"),
            "llm.fallback.0.effort: 'max' is",
        ),
    ],
)
def test_what_a_known_model_does_not_take_is_reported_with_the_way_out(words: tuple[str, ...], reported: str) -> None:
    with pytest.raises(UserError) as error:
        _compose(*words)
    assert reported in str(error.value)
    assert str(error.value).startswith(("llm.effort: ", "llm.thinking_tokens: ", "llm.structured: ", "llm.fallback.0."))


@pytest.mark.parametrize(
    "words",
    [
        ("llm=openai", "llm.model=gpt-6-sol", "llm.effort=max"),
        ("llm=openai", "llm.model=gpt-6-sol", "llm.effort=none", "llm.structured=tools"),
        ("llm=openai", "llm.model=gpt-4.1", "llm.effort=none"),
        ("llm=openai", "llm.model=a-new-one", "llm.effort=max"),
        ("llm=openai", "llm.model=gpt-5", "llm.thinking_format=vllm", "llm.effort=max"),
        ("llm=anthropic", "llm.model=claude-opus-4-5", "llm.effort=low", "llm.thinking_tokens=2000"),
        ("llm=vllm", "llm.model=qwen", "llm.effort=low", "llm.thinking_tokens=10"),
    ],
)
def test_what_a_model_takes_or_may_take_is_composed(words: tuple[str, ...]) -> None:
    _compose(*words)


def test_an_agent_may_think_more_than_the_others() -> None:
    cell = _compose("llm=openai", "llm.model=gpt-6-sol", "llm.effort=low", "llm.agents.agent_0.effort=high")
    assert [cell.configuration.llm_of(name).effort for name in ("agent_0", "agent_1")] == ["high", "low"]  # type: ignore[attr-defined]


def test_what_is_kept_of_thoughts_names_no_other_cell_and_how_much_is_thought_does() -> None:
    plain, dropped, more = (
        _compose("llm=openai", "llm.model=gpt-6-sol", *words)
        for words in ((), ("llm.text_of_thinking=drop",), ("llm.effort=high",))
    )
    assert plain.hash == dropped.hash != more.hash


@pytest.mark.parametrize(
    ("words", "writes"),
    [
        (("llm=openai", "llm.model=gpt-5-mini"), False),
        (("llm=openai", "llm.model=gpt-4.1"), True),
        (("llm=openai", "llm.model=gpt-6-sol", "llm.effort=none"), True),
        (("llm=openai", "llm.model=a-new-one"), True),
        (("llm=openai", "llm.model=a-new-one", "llm.effort=low"), False),
        (("llm=anthropic", "llm.model=claude-haiku-4-5"), True),
        (("llm=anthropic", "llm.model=claude-haiku-4-5", "llm.thinking_tokens=2000"), False),
        (("llm=deepseek", "llm.model=deepseek-reasoner"), False),
        (("llm=llamacpp",), False),
        (("llm=llamacpp", "llm.longest_text=null"), True),
        (("llm=simulated",), True),
    ],
    ids=str,
)
def test_models_that_think_by_themselves_or_are_to_be_short_are_not_asked_for_thoughts(
    words: tuple[str, ...], writes: bool
) -> None:
    assert _compose(*words).configuration.writes_thoughts("agent_0", "") is writes


def test_each_role_is_asked_as_its_own_model_is() -> None:
    own = ("topology=centralized", "llm.roles.leader.model=gpt-5")
    c = _compose("llm=openai", "llm.model=gpt-4.1", *own).configuration
    assert [c.writes_thoughts("agent_0", role) for role in ("leader", "follower")] == [False, True]


def test_only_what_thoughts_follow_from_names_a_cell() -> None:
    cells = [_compose("llm=openai", f"llm.model={model}") for model in ("gpt-5", "gpt-4.1")]
    assert [cell.plain["agents"]["prompts"]["thoughts"] for cell in cells] == ["auto", "auto"]
    assert _compose("llm=openai", "llm.model=gpt-5", "prompts.thoughts=off").hash != cells[0].hash
