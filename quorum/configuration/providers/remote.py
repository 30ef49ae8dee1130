"""The providers `openai` and `anthropic`, and code shared by all HTTP providers."""

from __future__ import annotations

import re
from functools import partial
from ipaddress import ip_address
from typing import Annotated, ClassVar, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from maeil.component import Component
from quorum.agents.llm.prices import Price, find_price, hosts_of, service_at
from quorum.agents.llm.protocol import Sampling, Structured, ThinkingEffort
from quorum.agents.llm.providers.anthropic import AnthropicModel
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.bounded import Bounds
from quorum.agents.llm.providers.openai import OpenAIModel
from quorum.agents.llm.providers.thinking import (
    BOTH,
    Family,
    ToolsThinking,
    complaint,
    exclusive,
    family_table,
    find_family,
    format_at,
    thinks,
)
from quorum.configuration.providers.config import Pricing, ProviderConfig
from quorum_base.user_errors import Withheld, WrongKey


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("it must be an address that begins with http:// or https://")
    if parts.username or parts.password or parts.query:
        raise Withheld(
            "it must not contain a user name, password or query: keys come from the environment (api_key_env)"
        )
    return url


Address = Annotated[str, AfterValidator(_without_credentials)]


def _variable(name: str) -> str:
    if not re.fullmatch("[A-Z_][A-Z0-9_]*", name):
        raise Withheld("it must be the name of an environment variable in capitals, never the key itself")
    return name


OPENAI_TIERS = ("auto", "default", "flex", "priority", "fast", "scale")
"""Values of `service_tier` that OpenAI accepts: the type in openai 3.52 (2026-11-16). Other hosts have other tiers."""
_UNKNOWN = Family(levels=tuple(ThinkingEffort))
"""Unknown models: they reason if requested."""
CHARGES = "openrouter.ai"
"""A host whose answers report their cost."""
Money = Annotated[float, Field(ge=0)]


class Prices(BaseModel):
    """Prices of a model in US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: Money
    """Tokens read."""
    output: Money
    """Tokens written."""
    cached: Money | None = None
    """Tokens read from the provider's prompt cache; null: the same price as other input tokens."""
    cache_write: Money | None = None
    """Tokens read and written into that cache; null: the same price as other input tokens."""


class RemoteConfig(ProviderConfig):
    """Values of a provider that is reached over HTTP."""

    official: ClassVar[str | None] = None
    """The host whose prices are known; None: a provider without an address, which LiteLLM knows."""

    model: Annotated[str, Field(min_length=1)]
    """The provider's name for the model."""
    base_url: Address | None
    """Address of the server; null: LiteLLM knows it."""
    api_key_env: Annotated[str, AfterValidator(_variable)] | None
    """Environment variable that holds the API key; null: the server needs none."""
    prices: Annotated[Prices | None, Pricing]
    """Prices of the model; null: the cost that an answer reports, or the provider's price list."""
    service_tier: Annotated[str | None, Field(pattern="^[a-z_]{1,32}$"), Pricing] = None
    """Requested priority of answers, for less or more money; null: the provider's default tier."""

    @model_validator(mode="after")
    def _can_think_so(self) -> Self:
        problem = thinking_complaint(self)
        if problem is not None:
            raise problem
        return self

    @property
    def price(self) -> Price | None:
        """Price of the model: the configured one, else the list price if the address is the provider's own."""
        if (given := self.prices) is not None:
            return Price(
                input=given.input,
                output=given.output,
                cached=given.input if given.cached is None else given.cached,
                cache_write=given.input if given.cache_write is None else given.cache_write,
                source="llm.prices",
                date="",
                given=True,
            )
        if self.host == self.official:
            return find_price(self.name, self.model)
        service = service_at(self.base_url)
        return find_price(service.prices, self.model) if service is not None and service.prices else None

    @property
    def priced(self) -> bool:
        """Whether the replies report their cost although the model has no price."""
        return self.host is not None and (self.host == CHARGES or self.host.endswith(f".{CHARGES}"))

    @property
    def thinks(self) -> bool:
        """Whether the model reasons before it answers, by its family; an unknown model does if requested."""
        return thinks(self.thinking, self.family or _UNKNOWN)

    @property
    def thinking(self) -> Sampling:
        """The requested amount of thinking."""
        return Sampling(None, self.max_tokens, effort=self.effort, thinking_tokens=self.thinking_tokens)

    @property
    def family(self) -> Family | None:
        """The model's family; None if unknown."""
        return find_family(self.name, self.model)

    @property
    def host(self) -> str | None:
        """The host of the model; None if LiteLLM knows it."""
        return urlsplit(self.base_url or "").hostname

    @property
    def label(self) -> str:
        """The model's label in names and tables."""
        return self.model

    @property
    def address(self) -> str | None:
        """Address of the model; None if LiteLLM knows it."""
        return self.base_url

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the API key; None if there is none."""
        return self.api_key_env


class OpenAIConfig(RemoteConfig):
    """Values of `openai`: OpenAI, and any server that speaks its format."""

    official: ClassVar[str | None] = "api.openai.com"

    name: Literal["openai"]
    base_url: Address
    """Address of the server."""

    @property
    def family(self) -> Family | None:
        """The model's family, for the vendor that the address indicates."""
        return find_family(family_table(format_at(self.host, self.thinking_format)), self.model)

    @field_validator("service_tier")
    @classmethod
    def _knows_its_tier(cls, tier: str | None, info: ValidationInfo) -> str | None:
        official = urlsplit(info.data.get("base_url", "")).hostname == cls.official
        if tier is not None and official and tier not in OPENAI_TIERS:
            raise ValueError(f"OpenAI's tiers are {', '.join(OPENAI_TIERS)}")
        return tier

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        family = find_family("openai", self.model)
        if self.name == "openai" and self.host == self.official and family is not None and not family.chat:
            raise WrongKey("model", f"{self.model} is not available through chat completions: use llm=openai_responses")
        return self


class AnthropicConfig(RemoteConfig):
    """Values of `anthropic`."""

    official: ClassVar[str | None] = "api.anthropic.com"

    name: Literal["anthropic"]
    base_url: Address
    """Address of the server."""
    service_tier: Annotated[Literal["auto", "standard_only"] | None, Pricing] = None
    """`auto` uses prepaid capacity if available, `standard_only` never; null: `auto`."""


def thinking_complaint(config: RemoteConfig) -> WrongKey | None:
    """Return why a model cannot think as requested, with a remedy; None if it can or is unknown.

    For an unknown model, its server reports unsupported settings.
    """
    effort, budget, model = config.effort, config.thinking_tokens, config.model
    family = config.family
    if family is None:
        dialect = config.thinking_format
        if isinstance(config, OpenAIConfig):
            dialect = format_at(config.host, dialect)
        both = effort is not None and budget is not None and dialect not in BOTH
        return WrongKey("thinking_tokens", exclusive(model)) if both else None
    never = family.tools is ToolsThinking.NEVER and config.structured is Structured.TOOLS
    if never and config.thinks:
        way_out = "llm.structured=schema, or llm.effort=none where it takes that"
        return WrongKey("structured", f"{model} takes no tools while it thinks: {way_out}")
    return complaint(model, family, effort, budget)


def refuse_foreign_key(config: RemoteConfig) -> None:
    """Check that the API key of a service is sent only to its own hosts or to this machine.

    Raises:
        ValueError: it would be sent elsewhere.
    """
    variable, host = config.api_key_env, config.host
    hosts = hosts_of(variable) if variable is not None else []
    if not hosts or host is None or host == "localhost" or _is_loopback(host):
        return
    if not any(host == own or host.endswith(f".{own}") for own in hosts):
        raise ValueError(
            f"llm.base_url is at {host}, and {variable} holds a key for {' and '.join(hosts)}, which is not sent "
            "elsewhere. Name the variable with the key for this server, llm.api_key_env=NAME, or null if it needs none"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def build_remote(client: type[Provider], config: RemoteConfig, _context: None = None) -> Provider:
    """Build the client of a provider; its key is read from the environment.

    Raises:
        quorum.agents.llm.errors.AuthenticationFailed: the environment has no key.
        ImportError: the provider's SDK is not installed; the message says how to install it.
        ValueError: the key belongs to another service.
    """
    refuse_foreign_key(config)
    return client(
        config.model,
        base_url=config.base_url,
        key_variable=config.api_key_env,
        structured=config.structured,
        deadline=config.deadline,
        bounds=Bounds(config.connect_timeout, config.first_byte_timeout, config.max_reply_bytes),
        max_tokens_key=config.max_tokens_key,
        prompt_cache=config.prompt_cache,
        thinking_format=config.thinking_format,
        keep_thinking=config.text_of_thinking == "keep",
        service_tier=config.service_tier,
        headers=config.extra_headers,
    )


openai = Component(OpenAIConfig, partial(build_remote, OpenAIModel))
anthropic = Component(AnthropicConfig, partial(build_remote, AnthropicModel))
