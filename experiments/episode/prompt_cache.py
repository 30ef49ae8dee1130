"""What a provider's cache should read again of a prompt: where its breakpoints lie, and the share of later prompts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from quorum.agents.llm import prompt_caches
from quorum.agents.llm.limits import CHARACTERS_PER_TOKEN
from quorum.agents.llm.prompt_caches import PromptCaches, read_prompt
from quorum.agents.llm.protocol import Request
from quorum.agents.llm.providers.anthropic import AnthropicModel
from quorum.agents.llm.providers.base import Provider, unsent
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.prompting.requests import UNSET
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.providers.remote import AnthropicConfig, OpenAIConfig
from quorum.experiments.episode.prompt import Prompt, Wanted

_USUAL = (
    ("openai", "gpt-6-sol"),
    ("openai", "gpt-5-mini"),
    ("anthropic", "claude-sonnet-5"),
    ("anthropic", "claude-haiku-4-5"),
)
"""Models that are shown where the configuration names none of these providers: one of each sort of rules."""
_CLIENTS: Mapping[str, tuple[type[Provider], str]] = {
    "openai": (OpenAIModel, "https://api.openai.com/v1"),
    "anthropic": (AnthropicModel, "https://api.anthropic.com"),
}
_END = 48
"""Characters that are shown of what stands before a breakpoint."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """The end of a beginning that the request marks.

    Attributes:
        tokens: up to there, characters / 4.
        kept: whether it is long enough to be kept.
        after: the characters before it.
    """

    tokens: int
    kept: bool
    after: str


@dataclass(frozen=True, slots=True)
class LaterPrompt:
    """A later prompt, and what of it should be read from the cache.

    Attributes:
        question: which one it is.
        share: of its tokens that were kept by then.
    """

    question: str
    share: float


@dataclass(frozen=True, slots=True)
class CacheView:
    """What one model's provider should keep of a prompt.

    Attributes:
        provider: whose rules these are.
        model: the model.
        minimum: tokens that a beginning must have to be kept.
        step: tokens of the steps in which unmarked beginnings are kept; None: marked ones alone are.
        tokens: of the prompt.
        breakpoints: that are marked, in order.
        again: later prompts.
    """

    provider: str
    model: str
    minimum: int
    step: int | None
    tokens: int
    breakpoints: Sequence[Breakpoint]
    again: Sequence[LaterPrompt]

    def text(self) -> str:
        """Return it for a reader."""
        return "\n".join(self._lines())

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)

    def _lines(self) -> Iterator[str]:
        yield f"--- prompt cache: {self.provider}, {self.model} ---"
        if self.step is not None:
            yield f"keeps all beginnings in steps of {self.step} tokens, from {self.minimum:,} tokens on"
        elif not self.breakpoints:
            yield "nothing is marked, so nothing is kept"
        else:
            yield f"keeps what ends at a breakpoint, from {self.minimum:,} tokens on"
        for number, found in enumerate(self.breakpoints, 1):
            short = "" if found.kept else ", too short to be kept"
            yield f"{number}. after {found.tokens:,} of {self.tokens:,} tokens{short}: ...{found.after}"
        for later in self.again:
            yield f"{later.share:4.0%} read from the cache: {later.question}"


def cache_views(prompt: Prompt, wanted: Wanted, config_dir: Path | None = None) -> list[CacheView]:
    """Return what the model of a configuration should keep of a prompt, or four models where it names none.

    Tokens are characters / 4, without those of the form of the answer, which providers count in ways of their own.

    Args:
        prompt: with what is asked after it.
        wanted: as it was asked for: its configuration names the model.
        config_dir: folder with more options of the groups.

    Raises:
        UserError: the configuration is wrong.
    """
    return asyncio.run(_views(prompt, list(_clients(prompt, wanted, config_dir))))


def _clients(prompt: Prompt, wanted: Wanted, config_dir: Path | None) -> Iterator[Provider]:
    rest = wanted.rest if any(word.startswith("agents=") for word in wanted.rest) else (*wanted.rest, "agents=naive")
    config = Cell.compose(list(rest), config_dir).configuration.llm_of(prompt.participant)
    if isinstance(config, OpenAIConfig | AnthropicConfig):
        client, _ = _CLIENTS[config.name]
        yield client(config.model, base_url=config.base_url, key_variable=None, prompt_cache=config.prompt_cache)
        return
    for provider, model in _USUAL:
        client, address = _CLIENTS[provider]
        yield client(model, base_url=address, key_variable=None)


async def _views(prompt: Prompt, clients: Sequence[Provider]) -> list[CacheView]:
    try:
        return [await _view(prompt, client) for client in clients]
    finally:
        for client in clients:
            await client.close()


async def _view(prompt: Prompt, client: Provider) -> CacheView:
    caches = PromptCaches()
    for request in prompt.earlier:
        caches.keep(caches.look(await _as_kept(client, request)))
    first = await _as_kept(client, Request(prompt.messages, prompt.answer, UNSET))
    caches.keep(caches.look(first))
    again: dict[str, float] = {}
    for request in prompt.later:
        kept = await _as_kept(client, request)
        looked = caches.look(kept)
        caches.keep(looked)
        if (question := _which(prompt, request)) is not None:
            again.setdefault(question, looked.read / max(1, len(kept.text) // CHARACTERS_PER_TOKEN))
    marked = first.breakpoints if first.rules.step is None else ()
    return CacheView(
        provider=client.name,
        model=client.model,
        minimum=first.rules.minimum,
        step=first.rules.step,
        tokens=len(first.text) // CHARACTERS_PER_TOKEN,
        breakpoints=[_breakpoint(first.text[: first.ends[number]], first.rules.minimum) for number in marked],
        again=[LaterPrompt(question, share) for question, share in again.items()],
    )


async def _as_kept(client: Provider, request: Request) -> prompt_caches.Prompt:
    prompt = read_prompt(client.name, await unsent(client, request))
    assert prompt is not None, client.name
    return prompt


def _breakpoint(text: str, minimum: int) -> Breakpoint:
    tokens = len(text) // CHARACTERS_PER_TOKEN
    return Breakpoint(tokens, tokens >= minimum, " ".join(text[-2 * _END :].split())[-_END:])


def _which(prompt: Prompt, request: Request) -> str | None:
    """Return which question a later one is; None for one that is not shown."""
    origin = request.origin
    if origin is None:
        return None
    own, same_form = origin.agent == prompt.participant, request.answer == prompt.answer
    if own and origin.t == prompt.t:
        form = "" if same_form else ", which asks for another form of answer"
        return f"the next question to {origin.agent} in this step{form}"
    if not same_form:
        return None
    return f"such a question to {origin.agent} in a later step" if own else "such a question to another participant"
