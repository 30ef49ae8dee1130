"""What the providers that are reached over HTTP share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, TypeVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from maeil.user_errors import Withheld
from quorum.agents.llm.prices import find_price
from quorum.experiments.configuration.providers.config import ProviderConfig

Client = TypeVar("Client")


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it must be an address that begins with http:// or https://")
    if parts.username or parts.password or parts.query:
        raise Withheld("it must hold no name, password or query: keys come from the environment (api_key_env)")
    return url


Address = Annotated[str, AfterValidator(_without_credentials)]


def _variable(name: str) -> str:
    if not re.fullmatch("[A-Z_][A-Z0-9_]*", name):
        raise Withheld("it must be the name of an environment variable in capitals, never the key itself")
    return name


class RemoteConfig(ProviderConfig):
    """Values of a provider that is reached over HTTP."""

    model: Annotated[str, Field(min_length=1)]
    """Name of the model, as the provider calls it."""
    base_url: Address | None
    """Address of the server; null: LiteLLM knows it."""
    api_key_env: Annotated[str, AfterValidator(_variable)] | None
    """Environment variable that holds the key; null: the server wants none."""

    @property
    def label(self) -> str:
        """What stands for the model in names and tables."""
        return self.model

    @property
    def address(self) -> str | None:
        """Where the model is asked; None where LiteLLM knows it."""
        return self.base_url

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key; None for no key."""
        return self.api_key_env


def build_remote(client: Callable[..., Client], config: RemoteConfig, *, priced: bool) -> Client:
    """Make a client of a provider; its key is read from the environment.

    Args:
        client: the provider's class.
        config: its values.
        priced: whether the table of prices holds for the server that it reaches.
    """
    return client(
        config.model,
        base_url=config.base_url,
        key_variable=config.api_key_env,
        structured=config.structured,
        deadline=config.deadline,
        price=find_price(config.name, config.model) if priced else None,
    )


def host(url: str) -> str | None:
    """Return the host of an address."""
    return urlsplit(url).hostname
