"""How a model is told to think, in each dialect of OpenAI's format and in Anthropic's, and what goes with thinking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from quorum.agents.llm.protocol import Effort, Sampling
from quorum.agents.llm.providers.families import ROOM, Family, Off, ToolsThinking
from quorum.agents.llm.providers.offer import Offer, Structured


class ThinkingFormat(StrEnum):
    """What the switch of thinking is called in a server's dialect of OpenAI's format.

    Sources, read on 2026-11-23: openai 3.52 (`reasoning_effort`); docs.vllm.ai and vllm-project/vllm#43401;
    docs.ollama.com/openai; ggml-org/llama.cpp, tools/server; openrouter.ai/docs, reasoning tokens;
    api-docs.deepseek.com/guides/thinking_mode; docs.litellm.ai, reasoning content.
    """

    AUTO = "auto"
    """By the address: DeepSeek's and OpenRouter's own, else OpenAI's."""
    OPENAI = "openai"
    """`reasoning_effort`."""
    VLLM = "vllm"
    """`reasoning_effort`, the same for the template of the chat, and `thinking_token_budget`."""
    OLLAMA = "ollama"
    """`reasoning_effort`."""
    LLAMACPP = "llamacpp"
    """`chat_template_kwargs`, and the budget under both names that its versions know."""
    DEEPSEEK = "deepseek"
    """`thinking` and `reasoning_effort`."""
    OPENROUTER = "openrouter"
    """`reasoning`, with an effort or a number of tokens."""
    LITELLM = "litellm"
    """`reasoning_effort` or `thinking`, which LiteLLM translates for its providers."""


BUDGETS = frozenset({ThinkingFormat.VLLM, ThinkingFormat.LLAMACPP, ThinkingFormat.OPENROUTER, ThinkingFormat.LITELLM})
"""Dialects in which a budget of tokens can be said."""
BOTH = frozenset({ThinkingFormat.VLLM, ThinkingFormat.LLAMACPP})
"""Dialects in which a budget and an effort go together."""

_HOSTS = {"api.deepseek.com": ThinkingFormat.DEEPSEEK, "openrouter.ai": ThinkingFormat.OPENROUTER}
_SAMPLED = ("temperature", "top_p")
"""Fields that models do not take while they think."""
_UNKNOWN_ROOM = ROOM[Effort.MEDIUM]


def format_at(host: str | None, chosen: ThinkingFormat) -> ThinkingFormat:
    """Return the dialect of a server.

    Args:
        host: where it is.
        chosen: by the configuration.
    """
    return _HOSTS.get(host or "", ThinkingFormat.OPENAI) if chosen is ThinkingFormat.AUTO else chosen


def family_table(dialect: ThinkingFormat) -> str:
    """Return the provider under which `families` has the models of a server; empty for those that it does not know."""
    return dialect.value if dialect in (ThinkingFormat.OPENAI, ThinkingFormat.DEEPSEEK) else ""


def reconcile(offer: Offer, family: Family | None, *, auto: bool) -> Offer:
    """Return an offer without what does not go with the thinking that it asks for, or that the model does by itself.

    Args:
        offer: what the server is not known to refuse.
        family: what the model takes; None where that is not known.
        auto: whether another way to ask for the form may be taken.
    """
    if family is None or not thinks(offer.sampling, family):
        return offer
    if not family.sampling:
        refused: dict[str, Any] = {name: None for name in _SAMPLED if getattr(offer.sampling, name, None) is not None}
        offer = replace(offer, sampling=replace(offer.sampling, **refused))
    if offer.structured is Structured.TOOLS and family.tools is not ToolsThinking.FORCED:
        if family.tools is ToolsThinking.NEVER and auto:
            return replace(offer, structured=Structured.PROMPT)
        return replace(offer, forced=False)
    return offer


def thinks(sent: Sampling, family: Family) -> bool:
    """Whether a model thinks when it is asked in this way."""
    if sent.thinking_tokens is not None:
        return True
    return family.thinks and (family.usual if sent.effort is None else sent.effort) is not Effort.NONE


def room_for_thinking(wanted: Sampling, sent: Sampling, family: Family | None) -> int:
    """Return how many tokens a model needs for its thoughts, on top of those for its answer.

    What is not sent bounds nothing: the model then thinks as it does by itself.

    Args:
        wanted: how the answer is to be drawn.
        sent: the same without what the server refuses.
        family: what the model takes; None where that is not known.
    """
    if sent.thinking_tokens is not None:
        return sent.thinking_tokens
    if sent.effort is not None:
        return ROOM[sent.effort]
    if family is not None:
        return ROOM[family.usual]
    if wanted.thinking_tokens is not None or wanted.effort not in (None, Effort.NONE):
        return max(wanted.thinking_tokens or 0, _UNKNOWN_ROOM)
    return 0


def chat_thinking(dialect: ThinkingFormat, sent: Sampling) -> Mapping[str, Any]:
    """Return the fields of a chat completion that tell a model how much to think."""
    effort, budget = sent.effort, sent.thinking_tokens
    if effort is None and budget is None:
        return {}
    on = effort is not Effort.NONE
    match dialect:
        case ThinkingFormat.VLLM:
            # Templates call the switch by one name or the other, and vLLM passes on what a template knows.
            told = {} if effort is None else {"reasoning_effort": effort, **_template(enable_thinking=on, thinking=on)}
            return told if budget is None else {**told, "thinking_token_budget": budget}
        case ThinkingFormat.LLAMACPP:
            graded = {"reasoning_effort": effort} if effort is not None and on else {}
            told = {} if effort is None else _template(enable_thinking=on, **graded)
            names = () if budget is None else ("reasoning_budget_tokens", "thinking_budget_tokens")
            return {**told, **dict.fromkeys(names, budget)}
        case ThinkingFormat.DEEPSEEK:
            return {"thinking": {"type": "enabled"}, "reasoning_effort": effort} if on else {"thinking": _DISABLED}
        case ThinkingFormat.OPENROUTER:
            return {"reasoning": {"max_tokens": budget} if effort is None else {"effort": effort}}
        case ThinkingFormat.LITELLM if effort is None:
            return {"thinking": {"type": "enabled", "budget_tokens": budget}}
        case _:
            return {"reasoning_effort": effort}


_DISABLED = {"type": "disabled"}


def _template(**values: Any) -> dict[str, Any]:
    return {"chat_template_kwargs": values}


def message_thinking(sent: Sampling, family: Family | None, *, show: bool) -> Mapping[str, Any]:
    """Return the fields of a message to Anthropic that tell a model how much to think, `output_config` among them.

    Args:
        sent: as it is sent.
        family: what the model takes; None where that is not known: an effort is told alone.
        show: whether the text of the thoughts is wanted, which the newer models leave out by themselves.
    """
    effort, budget = sent.effort, sent.thinking_tokens
    level = {} if effort in (None, Effort.NONE) else {"output_config": {"effort": effort}}
    if budget is not None:
        return {**level, "thinking": {"type": "enabled", "budget_tokens": budget}}
    if effort is Effort.NONE:
        off = Off.DISABLED if family is None else family.off
        return {} if off is Off.SILENCE else {"thinking": {"type": off.value}}
    display = {"display": "summarized"} if show and family is not None and family.display else {}
    if family is not None and family.adaptive and (level or (display and thinks(sent, family))):
        return {**level, "thinking": {"type": "adaptive", **display}}
    return level
