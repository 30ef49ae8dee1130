"""How providers keep the beginnings of prompts: a dated table by model, and the simulation that the server plays.

In the simulation, tokens are characters / 4 of the texts of a prompt. The form of the answer (schema or tool) stands
before them and must be equal; its tokens help to reach the minimum, and are not reported. Entries exist from the first
answer on, so prompts that are under way at the same time do not help each other. Time plays no part: no entry is
dropped (providers drop what nobody reads for 5 to 30 minutes).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from quorum.agents.llm.limits import CHARACTERS_PER_TOKEN
from quorum.agents.llm.protocol import Request, Usage
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.content import MOST_BREAKPOINTS
from quorum.agents.llm.providers.openai import has_breakpoints

DATE = "2026-11-23"
ANTHROPIC = "platform.claude.com/docs/en/build-with-claude/prompt-caching, minima as in docs.litellm.ai of 2026-10-07"
OPENAI = "developers.openai.com/api/docs/guides/prompt-caching, and the types of openai 3.52"


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
"""The minimum of a model that the table does not know: the highest known, so that the estimate is never too good.

Sources give 2,048 and 4,096 for Opus 4.7.
"""
_LEAST_OF_OPENAI = 1024
_STEP_OF_OPENAI = 128


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
        return PromptCache(_LEAST_OF_OPENAI, None if has_breakpoints(model) else _STEP_OF_OPENAI, OPENAI)
    return None


LOOKBACK = 20
"""Blocks before a breakpoint at whose end Anthropic looks for what is kept."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as a cache sees it.

    Attributes:
        owner: what must be equal as well as the texts: the model, the form of the answer, the key.
        text: all texts, in order.
        ends: where each block of it ends, in characters.
        breakpoints: which of the ends are breakpoints, by their numbers.
        rules: of the model's cache.
        lookback: ends before a breakpoint, itself among them, at which a kept beginning is found.
        before: characters of the form.
    """

    owner: bytes
    text: str
    ends: Sequence[int]
    breakpoints: Sequence[int]
    rules: PromptCache
    lookback: int = 1
    before: int = 0


@dataclass(frozen=True, slots=True)
class Looked:
    """What a cache has of a prompt.

    Attributes:
        read: tokens of it that are kept already.
        written: tokens more that are kept, and charged for, once it is answered.
        kept: the beginnings that are then there.
    """

    read: int
    written: int
    kept: frozenset[bytes]

    def usage(self, usage: Usage) -> Usage:
        """Return the tokens of an answer, including those of the cache."""
        return replace(usage, cached=self.read, cache_written=self.written)


class PromptCaches:
    """The cache of a provider: `look`, answer, `keep`."""

    def __init__(self) -> None:
        self._kept: set[bytes] = set()

    def look(self, prompt: Prompt) -> Looked:
        """Return what is kept of a prompt, and what would be."""
        if prompt.rules.step is not None:
            return self._steps(prompt, prompt.rules.step)
        places = [prompt.ends[number] for number in prompt.breakpoints]
        least = prompt.rules.minimum
        enough = [place for place in places if (prompt.before + place) // CHARACTERS_PER_TOKEN >= least]
        near = {n for at in prompt.breakpoints for n in range(max(0, at - prompt.lookback + 1), at + 1)}
        found = [prompt.ends[n] for n in near if _digest(prompt, prompt.ends[n]) in self._kept]
        read = max(found, default=0) // CHARACTERS_PER_TOKEN
        last = max(enough, default=0) // CHARACTERS_PER_TOKEN
        return Looked(read, max(0, last - read), frozenset(_digest(prompt, place) for place in enough))

    def _steps(self, prompt: Prompt, step: int) -> Looked:
        whole = len(prompt.text) // CHARACTERS_PER_TOKEN // step * step
        tokens = range(-(-prompt.rules.minimum // step) * step, whole + 1, step)
        digests = {n: _digest(prompt, n * CHARACTERS_PER_TOKEN) for n in tokens}
        read = max((n for n, digest in digests.items() if digest in self._kept), default=0)
        return Looked(read, 0, frozenset(digests.values()))

    def keep(self, looked: Looked) -> None:
        """Keep what was looked for: it is answered."""
        self._kept |= looked.kept


def _digest(prompt: Prompt, place: int) -> bytes:
    return hashlib.blake2b(prompt.owner + b"\0" + prompt.text[:place].encode(), digest_size=16).digest()


def _digest_of(value: Any) -> bytes:
    return hashlib.blake2b(orjson.dumps(value, option=orjson.OPT_SORT_KEYS), digest_size=16).digest()


def read_prompt(provider: str, body: Mapping[str, Any]) -> Prompt | None:
    """Return the prompt of a request's body, which must be of the provider's format; None without known rules.

    Args:
        provider: `openai` or `anthropic`: whose format it is.
        body: of the request.

    Raises:
        ValueError: it has more breakpoints than there may be, or one at the end of nothing.
    """
    rules = prompt_cache(provider, str(body.get("model")))
    if rules is None:
        return None
    messages = body["messages"]
    is_anthropic = provider == "anthropic"
    if is_anthropic:
        contents = [body.get("system"), *(message.get("content") for message in messages)]
        form: list[Any] = [body.get("tools"), body.get("output_config"), body.get("output_format")]
    else:
        contents = [message.get("content") for message in messages]
        form = [body.get("tools"), body.get("response_format"), body.get("prompt_cache_key")]
    mark = "cache_control" if is_anthropic else "prompt_cache_breakpoint"
    blocks = [block for content in contents for block in _blocks(content, mark)]
    ends: list[int] = []
    for text, _ in blocks:
        ends.append((ends[-1] if ends else 0) + len(text))
    breakpoints = [number for number, (_, marked) in enumerate(blocks) if marked]
    if is_anthropic and len(breakpoints) > MOST_BREAKPOINTS:
        found = f"Found {len(breakpoints)}."
        raise ValueError(f"A maximum of {MOST_BREAKPOINTS} blocks with cache_control may be provided. {found}")
    if any(not blocks[number][0].strip() for number in breakpoints):
        raise ValueError(f"{mark}: it cannot be set for empty text blocks")
    if not is_anthropic and (body.get("prompt_cache_options") or {}).get("mode") != "explicit" and blocks:
        breakpoints = [*breakpoints, len(blocks) - 1]
    owner = _digest_of([body.get("model"), form])
    text = "".join(text for text, _ in blocks)
    before = len(orjson.dumps([part for part in form if part is not None and not isinstance(part, str)]))
    lookback = LOOKBACK if is_anthropic else 1
    return Prompt(owner, text, ends, breakpoints[-MOST_BREAKPOINTS:], rules, lookback, before)


def _blocks(content: Any, mark: str) -> Iterator[tuple[str, bool]]:
    """Return the texts of a content, and whether each is marked; of a picture, what stands for it."""
    if isinstance(content, str):
        yield content, False
    elif isinstance(content, list):
        for part in content:
            text = str(part.get("text", "")) if part.get("type") == "text" else _digest_of(part).hex()
            yield text, part.get(mark) is not None


class _Built(Exception):
    """A request was built, and is not to be sent."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__("built")
        self.body = body


async def unsent(provider: Provider, request: Request) -> Mapping[str, Any]:
    """Return the body of a request; nothing is sent.

    Raises:
        quorum.agents.llm.errors.BadRequest: the provider's SDK cannot build it.
    """
    try:
        await provider.answer(request, _keep, None)
    except _Built as built:
        return built.body
    raise AssertionError("a request was answered that was not sent")


async def _keep(body: Mapping[str, Any]) -> Any:
    raise _Built(body)
