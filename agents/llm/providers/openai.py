"""OpenAI, and every server that speaks its chat-completions format, through the official SDK."""

from __future__ import annotations

from typing import Any, ClassVar
from urllib.parse import urlsplit

from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.providers.base import Offer, Provider
from quorum.agents.llm.providers.chat import chat_arguments, read_chat

OFFICIAL_HOST = "api.openai.com"
PATH = "/chat/completions"


class OpenAIModel(Provider):
    """A model behind OpenAI's format: OpenAI itself, vLLM, Ollama, LM Studio, OpenRouter. Addresses end in `/v1`."""

    name: ClassVar[str] = "openai"
    usual_key: ClassVar[str | None] = "OPENAI_API_KEY"

    def _import(self) -> Any:
        import openai  # noqa: PLC0415 (costs 0.4 s: only where it is used)

        return openai

    def _connect(self, base_url: str | None) -> str:
        self._completion = self._sdk.types.chat.ChatCompletion
        self._client = self._sdk.AsyncOpenAI(
            api_key=self._key.reveal(),
            base_url=base_url,
            max_retries=0,
            timeout=self._deadline,
            http_client=self._sdk.DefaultAioHttpClient(),  # a third of the CPU of the usual one at 256 calls at once
        )
        reached = str(self._client.base_url)
        # OpenAI's own newer models refuse the old name; other servers often do not know the new one.
        official = urlsplit(reached).hostname == OFFICIAL_HOST
        self._limit = "max_completion_tokens" if official else "max_tokens"
        return reached

    async def _ask(self, request: Request, offer: Offer) -> Reply:
        body: dict[str, Any] = {"model": self.model, **chat_arguments(request, offer)}
        body[self._limit] = request.sampling.max_tokens
        # `post` and not `chat.completions.create`, which walks through every schema in Python before it is sent.
        return read_chat(await self._client.post(PATH, cast_to=self._completion, body=body), self.model)
