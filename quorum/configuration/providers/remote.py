"""The providers `openai` and `anthropic`, and what all providers over HTTP share."""

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
        raise Withheld("it must hold no name, password or query: keys come from the environment (api_key_env)")
    return url


Address = Annotated[str, AfterValidator(_without_credentials)]


def _variable(name: str) -> str:
    if not re.fullmatch("[A-Z_][A-Z0-9_]*", name):
        raise Withheld("it must be the name of an environment variable in capitals, never the key itself")
    return name


OPENAI_TIERS = ("auto", "default", "flex", "priority", "fast", "scale")
"""What OpenAI takes as `service_tier`: the type in openai 3.52 (2026-11-16). Other hosts have other tiers."""
_UNKNOWN = Family(levels=tuple(ThinkingEffort))
"""Models that are not known: they think if they are asked to."""
CHARGES = "openrouter.ai"
"""A host whose answers say what they have cost."""
Money = Annotated[float, Field(ge=0)]


class Prices(BaseModel):
    """Prices of a model in US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: Money
    """Tokens read."""
    output: Money
    """Tokens written."""
    cached: Money | None = None
    """Tokens read from the provider's prompt cache; null: as any others."""
    cache_write: Money | None = None
    """Tokens read and written into that cache; null: as any others."""


class RemoteConfig(ProviderConfig):
    """Values of a provider that is reached over HTTP."""

    official: ClassVar[str | None] = None
    """The host whose prices are known; None: that of no address, which LiteLLM knows."""

    model: Annotated[str, Field(min_length=1)]
    """Name of the model, as the provider calls it."""
    base_url: Address | None
    """Address of the server; null: LiteLLM knows it."""
    api_key_env: Annotated[str, AfterValidator(_variable)] | None
    """Environment variable that holds the key; null: the server wants none."""
    prices: Annotated[Prices | None, Pricing]
    """Of the model; null: what an answer says that it has cost, or the price of the provider's own table."""
    service_tier: Annotated[str | None, Field(pattern="^[a-z_]{1,32}$"), Pricing] = None
    """How soon the provider is to answer, for less or more money; null: its usual tier."""

    @model_validator(mode="after")
    def _can_think_so(self) -> Self:
        problem = thinking_complaint(self)
        if problem is not None:
            raise problem
        return self

    @property
    def price(self) -> Price | None:
        """Price of the model: the given one, else that of the table for the provider's own address."""
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
        """Whether the replies say what they cost though the model has no price."""
        return self.host is not None and (self.host == CHARGES or self.host.endswith(f".{CHARGES}"))

    @property
    def thinks(self) -> bool:
        """Whether the model thinks by itself before it answers: by its family; one that is not known, if asked to."""
        return thinks(self.thinking, self.family or _UNKNOWN)

    @property
    def thinking(self) -> Sampling:
        """How much it is asked to think."""
        return Sampling(None, self.max_tokens, effort=self.effort, thinking_tokens=self.thinking_tokens)

    @property
    def family(self) -> Family | None:
        """What is known of models such as this one; None for nothing."""
        return find_family(self.name, self.model)

    @property
    def host(self) -> str | None:
        """The host that is asked; None where LiteLLM knows it."""
        return urlsplit(self.base_url or "").hostname

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


class OpenAIConfig(RemoteConfig):
    """Values of `openai`: OpenAI, and any server that speaks its format."""

    official: ClassVar[str | None] = "api.openai.com"

    name: Literal["openai"]
    base_url: Address
    """Address of the server."""

    @property
    def family(self) -> Family | None:
        """What is known of models such as this one, whose maker the address shows."""
        return find_family(family_table(format_at(self.host, self.thinking_format)), self.model)

    @field_validator("service_tier")
    @classmethod
    def _knows_its_tier(cls, tier: str | None, info: ValidationInfo) -> str | None:
        official = urlsplit(info.data.get("base_url", "")).hostname == cls.official
        if tier is not None and official and tier not in OPENAI_TIERS:
            raise ValueError(f"the tiers of OpenAI are {', '.join(OPENAI_TIERS)}")
        return tier

    @model_validator(mode="after")
    def _can_be_asked(self) -> Self:
        family = find_family("openai", self.model)
        if self.name == "openai" and self.host == self.official and family is not None and not family.chat:
            raise WrongKey("model", f"chat completions do not have {self.model}: ask it with llm=openai_responses")
        return self


class AnthropicConfig(RemoteConfig):
    """Values of `anthropic`."""

    official: ClassVar[str | None] = "api.anthropic.com"

    name: Literal["anthropic"]
    base_url: Address
    """Address of the server."""
    service_tier: Annotated[Literal["auto", "standard_only"] | None, Pricing] = None
    """`auto` takes capacity that was bought beforehand where there is some, `standard_only` never; null: `auto`."""


def thinking_complaint(config: RemoteConfig) -> WrongKey | None:
    """Return why a model does not think as it is wanted to, with the way out; None where nothing is wrong, or known.

    What a model that is not known does not take, its server says.
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
    """Make sure that the key of a service goes to its own hosts, or to this machine.

    Raises:
        ValueError: it would not.
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
    """Make the client of a provider; its key is read from the environment.

    Raises:
        quorum.agents.llm.errors.AuthenticationFailed: the environment has no key.
        ImportError: the provider's SDK is not installed; says how to install it.
        ValueError: the key is that of another service.
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
