"""`llm=openai`: OpenAI, and any server that speaks its format."""

from __future__ import annotations

from typing import Literal

from maeil.component import Component
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.experiments.configuration.providers.remote import Address, RemoteConfig, build_remote, host

OFFICIAL = "api.openai.com"
"""The host whose prices are known."""


class OpenAIConfig(RemoteConfig):
    """Values of `openai`."""

    name: Literal["openai"]
    base_url: Address
    """Address of the server."""


def build(config: OpenAIConfig, _context: None) -> OpenAIModel:
    """Make the client.

    Raises:
        quorum.agents.llm.errors.AuthenticationFailed: the environment has no key.
    """
    return build_remote(OpenAIModel, config, priced=host(config.base_url) == OFFICIAL)


component = Component(OpenAIConfig, build)
