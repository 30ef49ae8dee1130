"""More providers over HTTP: `openai_responses`, `gemini` and `litellm`. They register like a third-party package."""

from __future__ import annotations

from functools import partial
from typing import Annotated, ClassVar, Literal

from maeil.component import Component
from quorum.agents.llm.prices import Price, find_price
from quorum.agents.llm.providers.thinking import Family, find_family
from quorum.configuration.providers.config import Pricing
from quorum.configuration.providers.remote import Address, OpenAIConfig, RemoteConfig, build_remote
from quorum.more_providers.gemini import GeminiModel
from quorum.more_providers.litellm import LiteLLMModel
from quorum.more_providers.responses import ResponsesModel


class ResponsesConfig(OpenAIConfig):
    """Values of `openai_responses`: OpenAI's Responses API."""

    name: Literal["openai_responses"]  # type: ignore[assignment] # it is the only difference

    @property
    def family(self) -> Family | None:
        """The model's family, as served by this API."""
        return find_family(self.name, self.model)

    @property
    def price(self) -> Price | None:
        """Price of the model; falls back to its price for chat completions."""
        return super().price or (find_price("openai", self.model) if self.host == self.official else None)


class GeminiConfig(RemoteConfig):
    """Values of `gemini`: Google's Gemini API."""

    official: ClassVar[str | None] = "generativelanguage.googleapis.com"

    name: Literal["gemini"]
    base_url: Address
    """Address of the server."""
    service_tier: Annotated[Literal["standard", "flex", "priority"] | None, Pricing] = None
    """Speed of answers, at a lower or higher price; null: `standard`."""


class LiteLLMConfig(RemoteConfig):
    """Values of `litellm`: any provider that LiteLLM supports."""

    name: Literal["litellm"]

    @property
    def priced(self) -> bool:
        """Always true: LiteLLM reports the cost of an answer if it knows the price."""
        return True


openai_responses = Component(ResponsesConfig, partial(build_remote, ResponsesModel))
gemini = Component(GeminiConfig, partial(build_remote, GeminiModel))
litellm = Component(LiteLLMConfig, partial(build_remote, LiteLLMModel))
