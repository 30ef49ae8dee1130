"""Models that think, by provider and family: what each takes, and how much room its thoughts need.

The families stand in `models.yaml`. A model that is in none is not known: what is wanted is sent, and left out where
the server refuses it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import Any

from quorum.agents.llm.protocol import Sampling, Structured, ThinkingEffort, ThinkingFormat
from quorum.agents.llm.providers.refusals import Offer
from quorum.agents.llm.tables import model_table
from quorum_base.user_errors import WrongKey

ROOM: Mapping[ThinkingEffort, int] = dict(zip(ThinkingEffort, (0, 1024, 4096, 8192, 16384, 32768, 65536), strict=True))
"""Tokens of room for thoughts by level, on top of the room for the answer. The figures are ours."""

LEAST_BUDGET = 1024
"""Smallest budget of thinking tokens that Anthropic takes."""


class ToolsThinking(StrEnum):
    """How tools go with thinking."""

    FORCED = "forced"
    """A call may be forced."""
    FREE = "free"
    """The model may call, and cannot be forced to."""
    NEVER = "never"
    """A request has either tools or thoughts."""


class Off(StrEnum):
    """How Anthropic's models are asked not to think."""

    SILENCE = "silence"
    """It does not think unless it is asked to."""
    DISABLED = "disabled"
    BETWEEN_TOOLS = "between_tools"


@dataclass(frozen=True, slots=True)
class Family:
    """What the models of a family take.

    Attributes:
        levels: of effort that they take; nothing for none.
        usual: the level where none is sent; `NONE` where they do not think by themselves.
        longest: tokens of their longest answer, thoughts included.
        budget: whether they take a budget of thinking tokens.
        least_budget: the smallest that they take, but for 0.
        most_budget: the largest; None for all that their longest answer leaves.
        both: whether a budget and an effort go together.
        adaptive: whether they decide by themselves how much to think (Anthropic).
        display: whether the text of their thoughts comes only if it is asked for (Anthropic).
        switch_off: how they are asked not to think (Anthropic).
        sampling: whether temperature and the like are taken while they think.
        tools: how tools go with thinking.
        chat: whether chat completions take them; else the Responses API alone (OpenAI).
    """

    levels: tuple[ThinkingEffort, ...] = ()
    usual: ThinkingEffort = ThinkingEffort.NONE
    longest: int = 128_000
    budget: bool = False
    least_budget: int = LEAST_BUDGET
    most_budget: int | None = None
    both: bool = False
    adaptive: bool = False
    display: bool = False
    switch_off: Off = Off.SILENCE
    sampling: bool = False
    tools: ToolsThinking = ToolsThinking.FORCED
    chat: bool = True

    @property
    def thinks(self) -> bool:
        """Whether these models can think at all."""
        return self.budget or self.adaptive or {self.usual, *self.levels} != {ThinkingEffort.NONE}


@cache
def _families() -> dict[str, dict[str, Family]]:
    """Return families by provider and by a pattern of the whole name, without the date of a snapshot."""
    return model_table("families", dict[str, dict[str, Family]])


_SNAPSHOT = r"(-\d{4}-\d{2}-\d{2}|-\d{8})?"


def find_family(provider: str, model: str) -> Family | None:
    """Return what a model takes; None where it is not known.

    Args:
        provider: name of the component, or `deepseek`; models of `litellm` carry their provider as a prefix.
        model: the model, as it is asked for.
    """
    if provider == "openai_responses":  # which has all models, and lets them think before they call a tool
        family = find_family("openai", model)
        return None if family is None else replace(family, tools=ToolsThinking.FORCED, chat=True)
    if provider == "litellm":
        provider, _, model = model.partition("/")
    rows = _families().get(provider, {}).items()
    return next((family for names, family in rows if re.fullmatch(f"({names}){_SNAPSHOT}", model)), None)


def complaint(
    model: str, family: Family, effort: ThinkingEffort | None, thinking_tokens: int | None
) -> WrongKey | None:
    """Return what is wrong with the wanted thinking, and the way out; None where nothing is.

    Args:
        model: its name, for the message.
        family: what it takes.
        effort: as wanted.
        thinking_tokens: as wanted.
    """
    if effort is not None and effort not in family.levels and {effort, family.usual} != {ThinkingEffort.NONE}:
        budget = "; it takes a budget of thinking tokens instead: llm.thinking_tokens=4096" if family.budget else ""
        if family.levels:
            return WrongKey("effort", f"{model} takes {', '.join(family.levels)}, or null for its usual one{budget}")
        return WrongKey("effort", f"{model} takes no effort: llm.effort=null{budget}")
    if thinking_tokens is None:
        return None
    most = family.most_budget or family.longest - 1
    if not family.budget:
        levels = f"; it takes an effort instead: {', '.join(family.levels)}" if family.levels else ""
        problem = f"{model} takes no budget of thinking tokens: llm.thinking_tokens=null{levels}"
    elif not family.least_budget <= thinking_tokens <= most:
        problem = f"{model} takes a budget of {family.least_budget} to {most} thinking tokens"
    elif effort is not None and not family.both:
        problem = exclusive(model)
    else:
        return None
    return WrongKey("thinking_tokens", problem)


def exclusive(model: str) -> str:
    """Say that a model takes an effort or a budget."""
    return f"effort and thinking_tokens exclude each other for {model}: set one of them to null"


BOTH = frozenset({ThinkingFormat.VLLM, ThinkingFormat.SGLANG, ThinkingFormat.LLAMACPP})
"""Dialects in which a budget and an effort go together."""
BUDGETS = BOTH | {ThinkingFormat.OPENROUTER, ThinkingFormat.LITELLM}
"""Dialects in which a budget of tokens can be said."""

_HOSTS = {"api.deepseek.com": ThinkingFormat.DEEPSEEK, "openrouter.ai": ThinkingFormat.OPENROUTER}
_SAMPLED = ("temperature", "top_p")
"""Fields that models do not take while they think."""
_UNKNOWN_ROOM = ROOM[ThinkingEffort.MEDIUM]


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
    return family.thinks and (family.usual if sent.effort is None else sent.effort) is not ThinkingEffort.NONE


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
    if wanted.thinking_tokens is not None or wanted.effort not in (None, ThinkingEffort.NONE):
        return max(wanted.thinking_tokens or 0, _UNKNOWN_ROOM)
    return 0


def chat_thinking(dialect: ThinkingFormat, sampling: Sampling) -> Mapping[str, Any]:
    """Return the fields of a chat completion that say how much a model thinks."""
    effort, budget = sampling.effort, sampling.thinking_tokens
    if effort is None and budget is None:
        return {}
    on = effort is not ThinkingEffort.NONE
    match dialect:
        case ThinkingFormat.VLLM:
            # Templates call the switch by one name or the other, and vLLM passes on what a template knows.
            both = _template(enable_thinking=on, thinking=on)
            said = {} if effort is None else {"reasoning_effort": effort, **both}
            return said if budget is None else {**said, "thinking_token_budget": budget}
        case ThinkingFormat.SGLANG:
            switch = {} if effort is None else {"enable_thinking": on, "thinking": on}
            graded = {"reasoning_effort": effort} if effort is not None and on else {}
            return {**graded, **_template(**switch, **({} if budget is None else {"thinking_budget": budget}))}
        case ThinkingFormat.LLAMACPP:
            graded = {"reasoning_effort": effort} if effort is not None and on else {}
            said = {} if effort is None else _template(enable_thinking=on, **graded)
            names = () if budget is None else ("reasoning_budget_tokens", "thinking_budget_tokens")
            return {**said, **dict.fromkeys(names, budget)}
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
    """Return the fields of a message to Anthropic that say how much a model thinks, `output_config` among them.

    Args:
        sent: as it is sent.
        family: what the model takes; None where that is not known: an effort is sent alone.
        show: whether the text of the thoughts is wanted, which the newer models leave out by themselves.
    """
    effort, budget = sent.effort, sent.thinking_tokens
    level = {} if effort in (None, ThinkingEffort.NONE) else {"output_config": {"effort": effort}}
    if budget is not None:
        return {**level, "thinking": {"type": "enabled", "budget_tokens": budget}}
    if effort is ThinkingEffort.NONE:
        off = Off.DISABLED if family is None else family.switch_off
        return {} if off is Off.SILENCE else {"thinking": {"type": off.value}}
    display = {"display": "summarized"} if show and family is not None and family.display else {}
    if family is not None and family.adaptive and (level or (display and thinks(sent, family))):
        return {**level, "thinking": {"type": "adaptive", **display}}
    return level


def gemini_thinking(sent: Sampling, family: Family | None, *, show: bool) -> Mapping[str, Any]:
    """Return the fields of Gemini's `generationConfig` that say how much a model thinks.

    Args:
        sent: as it is sent.
        family: what the model takes; None where that is not known.
        show: whether the text of the thoughts is wanted.
    """
    effort, budget = sent.effort, sent.thinking_tokens
    said: dict[str, Any] = {} if effort is None else {"thinkingLevel": effort.upper()}
    if budget is not None or effort is ThinkingEffort.NONE:
        said = {"thinkingBudget": budget or 0}
    if show and (effort is not ThinkingEffort.NONE) and (said or (family is not None and thinks(sent, family))):
        said["includeThoughts"] = True
    return {"thinkingConfig": said} if said else {}
