"""OpenAI, and every server that speaks its chat-completions format, through the official SDK."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlsplit

from quorum.agents.llm.errors import LanguageModelError
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Reply, Request
from quorum.agents.llm.providers.base import Offer, Provider, Structured, check_address
from quorum.agents.llm.providers.chat import chat_arguments, read_chat
from quorum.agents.llm.providers.key import Key

OFFICIAL_HOST = "api.openai.com"
PATH = "/chat/completions"


class OpenAIModel(Provider):
    """A model behind OpenAI's format: OpenAI itself, vLLM, Ollama, LM Studio, OpenRouter.

    Args:
        model: name of the model, as the server knows it.
        base_url: address up to and with `/v1`; None for OpenAI itself (or what the SDK's own variable names).
        key_variable: environment variable that holds the key; None for a server that needs none.
        structured: how the form of an answer is asked for.
        deadline: seconds within which a call must be whole.
        price: price of the model; None when it is not known.

    Raises:
        AuthenticationFailed: the variable holds no key.
        ValueError: `base_url` holds a password.
    """

    name: ClassVar[str] = "openai"

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key_variable: str | None = "OPENAI_API_KEY",
        structured: Structured = Structured.AUTO,
        deadline: float = 120.0,
        price: Price | None = None,
    ) -> None:
        super().__init__(model, Key(key_variable), structured, deadline, price)
        import openai  # noqa: PLC0415 (costs 0.4 s: only where it is used)

        self._sdk = openai
        self._completion = openai.types.chat.ChatCompletion
        self._client = openai.AsyncOpenAI(
            api_key=self._key.reveal(),
            base_url=check_address(base_url),
            max_retries=0,
            timeout=deadline,
            http_client=openai.DefaultAioHttpClient(),  # a third of the CPU of the usual one at 256 calls at once
        )
        self.base_url = str(self._client.base_url)
        official = urlsplit(self.base_url).hostname == OFFICIAL_HOST
        # OpenAI's own newer models refuse the old name; other servers often do not know the new one.
        self._limit = "max_completion_tokens" if official else "max_tokens"

    async def _ask(self, request: Request, offer: Offer) -> Reply:
        body: dict[str, Any] = {"model": self.model, **chat_arguments(request, offer)}
        body[self._limit] = request.sampling.max_tokens
        # `post` and not `chat.completions.create`, which walks through every schema in Python before it is sent.
        reply = read_chat(await self._client.post(PATH, cast_to=self._completion, body=body), self.model)
        return replace(reply, usd=None if self.price is None else self.price.usd(reply.usage))

    def _translate(self, error: Exception) -> LanguageModelError | None:
        return self._translate_sdk(error, self._sdk)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()
