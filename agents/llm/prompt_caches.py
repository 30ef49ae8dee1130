"""How providers keep the beginnings of prompts, by model: a dated table."""

from __future__ import annotations

import re
from dataclasses import dataclass

DATE = "2026-11-23"
ANTHROPIC = "platform.claude.com/docs/en/build-with-claude/prompt-caching, minima as in docs.litellm.ai of 2026-10-07"
OPENAI = "developers.openai.com/api/docs/guides/prompt-caching, and the types of openai 3.52"

MOST_BREAKPOINTS = 4
"""Places of a prompt up to which one request can have it kept, with both providers."""


@dataclass(frozen=True, slots=True)
class PromptCache:
    """The rules by which a model's provider keeps the beginnings of prompts.

    A beginning has the form of the answer and the system message, in this order, before the messages: another form or
    system message shares nothing.

    Attributes:
        minimum: tokens that a beginning must have to be kept.
        step: tokens of the steps in which beginnings are kept that nobody has marked, up to the longest whole step of
            each prompt. None: only those are kept, and charged for, that end at a breakpoint of the request.
        source: where the rules stand, as of `DATE`.
    """

    minimum: int
    step: int | None
    source: str


_OF_CLAUDE = (
    (re.compile(r"claude-(opus|fable|mythos)-5\b(?![-.]\d\b)"), 512),
    (re.compile(r"claude-(haiku-4-5|opus-4-[567])\b"), 4096),
    (re.compile(r"claude-(3-5-haiku|3-haiku|haiku-3)"), 2048),
    (re.compile(r"claude-(3|sonnet-4|sonnet-5\b(?![-.]\d\b)|opus-4)"), 1024),
)
_HIGHEST_OF_CLAUDE = 4096
"""The minimum of a model that the table does not know: the highest that there is, so that nothing false is promised.

Of Opus 4.7 sources tell 2,048 and 4,096.
"""
_LEAST_OF_OPENAI = 1024
_STEP_OF_OPENAI = 128
_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?\b")
_FIRST_WITH_BREAKPOINTS = (5, 6)
"""GPT-5.6 and later keep exactly what ends at a breakpoint, and charge 1.25 of the price for it.

By default they put one at the end of the newest message, which is another in each of our prompts: all would be charged
for, and nothing read again. Their option `explicit` keeps what is marked alone.
"""


def prompt_cache(provider: str, model: str) -> PromptCache | None:
    """Return the rules for a model at its provider's own address; None where none are known.

    Args:
        provider: `openai` or `anthropic`; of others nothing is known.
        model: the model, as it is asked for.
    """
    if provider == "anthropic":
        minimum = next((least for name, least in _OF_CLAUDE if name.match(model)), _HIGHEST_OF_CLAUDE)
        return PromptCache(minimum, None, ANTHROPIC)
    if provider == "openai":
        return PromptCache(_LEAST_OF_OPENAI, None if _has_breakpoints(model) else _STEP_OF_OPENAI, OPENAI)
    return None


def _has_breakpoints(model: str) -> bool:
    version = _GPT.match(model)
    return version is not None and (int(version[1]), int(version[2] or 0)) >= _FIRST_WITH_BREAKPOINTS
