"""`llm=anthropic`: Anthropic."""

from __future__ import annotations

from typing import Literal

from maeil.component import Component
from quorum.agents.llm.providers.anthropic import AnthropicModel
from quorum.experiments.configuration.providers.remote import Address, RemoteConfig, build_remote, host

OFFICIAL = "api.anthropic.com"
"""The host whose prices are known."""


class AnthropicConfig(RemoteConfig):
    """Values of `anthropic`."""

    name: Literal["anthropic"]
    base_url: Address
    """Address of the server."""


def build(config: AnthropicConfig, _context: None) -> AnthropicModel:
    """Make the client.

    Raises:
        quorum.agents.llm.errors.AuthenticationFailed: the environment has no key.
    """
    return build_remote(AnthropicModel, config, priced=host(config.base_url) == OFFICIAL)


component = Component(AnthropicConfig, build)
