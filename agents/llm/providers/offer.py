"""What of a request is sent: what the configuration chooses, less what the server is known to refuse."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import StrEnum

from quorum.agents.llm.protocol import Sampling
from quorum.agents.llm.providers.prompt_caching import PromptCaching


class Structured(StrEnum):
    """How the form of an answer is asked for.

    `AUTO` begins with `SCHEMA` and remembers what the server refuses.
    """

    AUTO = "auto"
    SCHEMA = "schema"
    TOOLS = "tools"
    PROMPT = "prompt"


class MaxTokensKey(StrEnum):
    """What the longest answer is called in OpenAI's format. `AUTO` takes the other name where one is refused."""

    AUTO = "auto"
    MAX_TOKENS = "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens"


@dataclass(frozen=True, slots=True)
class Offer:
    """What of a request is sent, given what the server is known to refuse.

    Attributes:
        structured: how the form is asked for; None for free text.
        sampling: as it is sent: a field that the server refuses is None.
        max_tokens_key: what the longest answer is called.
        longest: tokens that the answer may have, the room for thinking included.
        forced: whether a tool's call is forced where the form is asked for by a tool; else the model may write text.
        prompt_cache: what is said of the provider's prompt cache.
    """

    structured: Structured | None
    sampling: Sampling
    max_tokens_key: MaxTokensKey
    longest: int
    forced: bool = True
    prompt_cache: PromptCaching = PromptCaching.NONE


def left_out(wanted: Sampling, sent: Sampling) -> tuple[str, ...]:
    """Return the names of the fields that are wanted and not sent, in their order."""
    names = (field.name for field in fields(Sampling))
    return tuple(name for name in names if getattr(wanted, name) is not None and getattr(sent, name) is None)
