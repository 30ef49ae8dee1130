"""OpenAI, and every server with its chat completions format, through the official SDK."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.protocol import MaxTokensKey, Reply, Request, ThinkingFormat, Usage
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.chat import chat_arguments, chat_usage, read_chat, read_embeddings
from quorum.agents.llm.providers.content import PromptCaching
from quorum.agents.llm.providers.refusals import Offer
from quorum.agents.llm.providers.thinking import BUDGETS, family_table, format_at

OFFICIAL_HOST = "api.openai.com"
AZURE_HOSTS = (".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com")
"""Azure's hosts for OpenAI's models. Other vendors' models there refuse the cache key, which is then left out."""
_GPT = re.compile(r"gpt-(\d+)(?:\.(\d+))?\b")
_FIRST_WITH_BREAKPOINTS = (5, 6)
"""GPT-5.6 and later cache exactly the prefixes that end at a breakpoint, and charge 1.25 times the price for it.

By default they put a breakpoint at the end of the newest message, which differs in each of our prompts: we would pay
for every cache write and never read one. The option `explicit` caches marked prefixes only. Source:
developers.openai.com/api/docs/guides/prompt-caching and the types of openai 3.52, read on 2026-11-23.
"""
PATH = "/chat/completions"
EMBEDDINGS_PATH = "/embeddings"


def has_breakpoints(model: str) -> bool:
    """Return whether an OpenAI model caches only marked prefixes."""
    version = _GPT.match(model)
    return version is not None and (int(version[1]), int(version[2] or 0)) >= _FIRST_WITH_BREAKPOINTS


class OpenAIModel(Provider):
    """A model behind OpenAI's format: OpenAI, vLLM, Ollama, LM Studio, OpenRouter. Addresses end in `/v1`."""

    name: ClassVar[str] = "openai"
    _own_address: ClassVar[str | None] = f"https://{OFFICIAL_HOST}/v1"
    _client_name: ClassVar[str] = "AsyncOpenAI"
    embeds: ClassVar[bool] = True
    usual_key: ClassVar[str | None] = "OPENAI_API_KEY"

    def _import(self) -> Any:
        import openai  # noqa: PLC0415 (costs 0.4 s: only where it is used)

        return openai

    def _usual_max_tokens_key(self) -> MaxTokensKey:
        # OpenAI's newer models refuse the old name; other servers often do not know the new one.
        official = urlsplit(self.base_url).hostname == OFFICIAL_HOST
        return MaxTokensKey.MAX_COMPLETION_TOKENS if official else MaxTokensKey.MAX_TOKENS

    def _usual_prompt_caching(self) -> PromptCaching:
        host = urlsplit(self.base_url).hostname or ""
        if host != OFFICIAL_HOST and not host.endswith(AZURE_HOSTS):
            return PromptCaching.NONE
        return PromptCaching.BREAKPOINTS if has_breakpoints(self.model) else PromptCaching.KEY

    def _dialect(self, chosen: ThinkingFormat) -> ThinkingFormat:
        dialect = format_at(urlsplit(self.base_url).hostname, chosen)
        if dialect not in BUDGETS:
            self._refusals.never("thinking_tokens")
        return dialect

    def _table(self) -> str:
        return family_table(self._thinking)

    def _body(self, request: Request, offer: Offer) -> dict[str, Any]:
        if wants_embeddings(request):
            texts = [message.content for message in request.messages]
            return {"model": self.model, "input": texts, "encoding_format": "float"}
        longest = {offer.max_tokens_key.value: offer.longest}
        return {"model": self.model, **chat_arguments(request, offer, self._thinking), **longest}

    async def _send(self, body: Mapping[str, Any], deadline: float) -> Any:
        # `post` instead of `chat.completions.create`, which walks through every schema in Python before sending it.
        options = {"timeout": self._timeout(deadline)}
        if "input" in body:
            cast_to = self._sdk.types.CreateEmbeddingResponse
            return await self._client.post(EMBEDDINGS_PATH, cast_to=cast_to, body=body, options=options)
        return await self._client.post(PATH, cast_to=self._sdk.types.chat.ChatCompletion, body=body, options=options)

    def _read(self, response: Any, request: Request) -> Reply:
        if wants_embeddings(request):
            return read_embeddings(response, request, self.model)
        self._check_choice(response)
        return read_chat(response, request, self.model)

    def _usage(self, usage: Any, request: Request, text: str, thinking: str) -> Usage:
        return chat_usage(usage, request, text, thinking)
