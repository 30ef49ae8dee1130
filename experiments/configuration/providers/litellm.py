"""`llm=litellm`: every provider that LiteLLM knows."""

from __future__ import annotations

from typing import Literal

from maeil.component import Component
from quorum.agents.llm.providers.litellm import LiteLLMModel
from quorum.experiments.configuration.providers.remote import RemoteConfig, build_remote


class LiteLLMConfig(RemoteConfig):
    """Values of `litellm`."""

    name: Literal["litellm"]


def build(config: LiteLLMConfig, _context: None) -> LiteLLMModel:
    """Make the client.

    Raises:
        quorum.agents.llm.errors.AuthenticationFailed: the environment has no key.
        ImportError: LiteLLM is not installed; says how to install it.
    """
    return build_remote(LiteLLMModel, config, priced=config.base_url is None)


component = Component(LiteLLMConfig, build)
