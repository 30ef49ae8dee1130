"""Thinking models by provider and family: the parameters they accept, and the tokens their thoughts need.

`models.yaml` lists the families. For a model in no family, all wanted parameters are sent, and those that the server
refuses are left out.
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
"""Allowance of thinking tokens by level, on top of the answer's. These are our own figures."""

LEAST_BUDGET = 1024
"""Smallest budget of thinking tokens that Anthropic accepts."""


class ToolsThinking(StrEnum):
    """How tools combine with thinking."""

    FORCED = "forced"
    """A call can be forced."""
    FREE = "free"
    """The model may call a tool but cannot be forced to."""
    NEVER = "never"
    """A request has either tools or thinking."""


class Off(StrEnum):
    """How to turn thinking off for Anthropic's models."""

    SILENCE = "silence"
    """The model thinks only on request."""
    DISABLED = "disabled"
    BETWEEN_TOOLS = "between_tools"


@dataclass(frozen=True, slots=True)
class Family:
    """What the models of a family accept.

    Attributes:
        levels: accepted levels of effort; empty for none.
        usual: the default level; `NONE` if they do not think by default.
        longest: maximum tokens of an answer, including thoughts.
        budget: whether they accept a budget of thinking tokens.
        least_budget: the smallest budget accepted, other than 0.
        most_budget: the largest; None for everything within their longest answer.
        both: whether a budget and an effort may be combined.
        adaptive: whether they decide themselves how much to think (Anthropic).
        display: whether they return the text of their thoughts only on request (Anthropic).
        switch_off: how to turn thinking off (Anthropic).
        sampling: whether they accept temperature and similar fields while they think.
        tools: how tools combine with thinking.
        chat: whether they support chat completions; if not, only the Responses API (OpenAI).
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
    """Return families by provider and by a pattern of the full model name without its snapshot date."""
    return model_table("families", dict[str, dict[str, Family]])


_SNAPSHOT = r"(-\d{4}-\d{2}-\d{2}|-\d{8})?"


def find_family(provider: str, model: str) -> Family | None:
    """Return the family of a model; None if unknown.

    Args:
        provider: name of the component, or `deepseek`; model names of `litellm` start with their provider.
        model: the configured model name.
    """
    if provider == "openai_responses":  # serves all models, and lets them think before they call a tool
        family = find_family("openai", model)
        return None if family is None else replace(family, tools=ToolsThinking.FORCED, chat=True)
    if provider == "litellm":
        provider, _, model = model.partition("/")
    rows = _families().get(provider, {}).items()
    return next((family for names, family in rows if re.fullmatch(f"({names}){_SNAPSHOT}", model)), None)


def complaint(
    model: str, family: Family, effort: ThinkingEffort | None, thinking_tokens: int | None
) -> WrongKey | None:
    """Return an error message with a remedy for unsupported thinking settings; None if they are supported.

    Args:
        model: its name, for the message.
        family: what it accepts.
        effort: the configured effort.
        thinking_tokens: the configured budget.
    """
    if effort is not None and effort not in family.levels and {effort, family.usual} != {ThinkingEffort.NONE}:
        budget = "; it takes a budget of thinking tokens instead: llm.thinking_tokens=4096" if family.budget else ""
        if family.levels:
            return WrongKey("effort", f"{model} takes {', '.join(family.levels)}, or null for its default{budget}")
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
    """Return the message that a model accepts either an effort or a budget."""
    return f"effort and thinking_tokens exclude each other for {model}: set one of them to null"


BOTH = frozenset({ThinkingFormat.VLLM, ThinkingFormat.SGLANG, ThinkingFormat.LLAMACPP})
"""Dialects in which a budget and an effort may be combined."""
BUDGETS = BOTH | {ThinkingFormat.OPENROUTER, ThinkingFormat.LITELLM}
"""Dialects that can express a token budget."""

_HOSTS = {"api.deepseek.com": ThinkingFormat.DEEPSEEK, "openrouter.ai": ThinkingFormat.OPENROUTER}
_SAMPLED = ("temperature", "top_p")
"""Fields that models do not accept while they think."""
_UNKNOWN_ROOM = ROOM[ThinkingEffort.MEDIUM]


def format_at(host: str | None, chosen: ThinkingFormat) -> ThinkingFormat:
    """Return the dialect of a server.

    Args:
        host: host name of the server.
        chosen: the configured dialect.
    """
    return _HOSTS.get(host or "", ThinkingFormat.OPENAI) if chosen is ThinkingFormat.AUTO else chosen


def family_table(dialect: ThinkingFormat) -> str:
    """Return the provider whose `families` list the models of a server; empty if unknown."""
    return dialect.value if dialect in (ThinkingFormat.OPENAI, ThinkingFormat.DEEPSEEK) else ""


def reconcile(offer: Offer, family: Family | None, *, auto: bool) -> Offer:
    """Remove from an offer what conflicts with thinking, requested or by default.

    Args:
        offer: the request without what the server is known to refuse.
        family: what the model accepts; None if unknown.
        auto: whether another way to request the schema is allowed.
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
    """Return whether a model thinks, given the parameters sent."""
    if sent.thinking_tokens is not None:
        return True
    return family.thinks and (family.usual if sent.effort is None else sent.effort) is not ThinkingEffort.NONE


def room_for_thinking(wanted: Sampling, sent: Sampling, family: Family | None) -> int:
    """Return the number of tokens a model needs for its thoughts, in addition to its answer.

    A parameter that is not sent limits nothing: the model then thinks as it does by default.

    Args:
        wanted: the configured sampling parameters.
        sent: the same without what the server refuses.
        family: what the model accepts; None if unknown.
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
    """Return the fields of a chat completion that control thinking."""
    effort, budget = sampling.effort, sampling.thinking_tokens
    if effort is None and budget is None:
        return {}
    on = effort is not ThinkingEffort.NONE
    match dialect:
        case ThinkingFormat.VLLM:
            # Templates use either name of the switch, and vLLM passes on those that a template knows.
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
    """Return the fields of an Anthropic message that control thinking, including `output_config`.

    Args:
        sent: the parameters sent.
        family: what the model accepts; None if unknown: then only an effort is sent.
        show: whether to request the text of the thoughts, which newer models omit by default.
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
    """Return the fields of Gemini's `generationConfig` that control thinking.

    Args:
        sent: the parameters sent.
        family: what the model accepts; None if unknown.
        show: whether to request the text of the thoughts.
    """
    effort, budget = sent.effort, sent.thinking_tokens
    said: dict[str, Any] = {} if effort is None else {"thinkingLevel": effort.upper()}
    if budget is not None or effort is ThinkingEffort.NONE:
        said = {"thinkingBudget": budget or 0}
    if show and (effort is not ThinkingEffort.NONE) and (said or (family is not None and thinks(sent, family))):
        said["includeThoughts"] = True
    return {"thinkingConfig": said} if said else {}
