"""Who answers at an address: the names of providers by their hosts, for prices, tables and hints."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Service:
    """A provider.

    Attributes:
        name: as tables write it; that of its preset.
        prices: name under which the price map of litellm has its models; empty where that would be a guess.
        keys: the page on which its keys are made.
    """

    name: str
    prices: str
    keys: str


SERVICES = {
    "api.openai.com": Service("openai", "openai", "platform.openai.com/api-keys"),
    "api.anthropic.com": Service("anthropic", "anthropic", "console.anthropic.com/settings/keys"),
    "openai.azure.com": Service("azure", "", "portal.azure.com, Keys and Endpoint of your resource"),
    "services.ai.azure.com": Service("azure", "", "portal.azure.com, Keys and Endpoint of your resource"),
    "generativelanguage.googleapis.com": Service("gemini", "gemini", "aistudio.google.com/apikey"),
    "openrouter.ai": Service("openrouter", "", "openrouter.ai/settings/keys"),
    "api.deepseek.com": Service("deepseek", "deepseek", "platform.deepseek.com/api_keys"),
    "api.x.ai": Service("xai", "xai", "console.x.ai"),
    "api.mistral.ai": Service("mistral", "mistral", "console.mistral.ai/api-keys"),
    "api.groq.com": Service("groq", "groq", "console.groq.com/keys"),
    "api.together.ai": Service("together", "together_ai", "api.together.ai/settings/api-keys"),
    "api.together.xyz": Service("together", "together_ai", "api.together.ai/settings/api-keys"),
}
"""Providers by host, their subdomains included, as their documentation had them on 2026-11-23 (`configs/llm`).

A deployment of Azure has any name, and OpenRouter says itself what it charges: neither has prices of a table.
"""


def service_at(address: str | None) -> Service | None:
    """Return who answers at an address; None where that is not known."""
    host = urlsplit(address or "").hostname or ""
    found = (service for known, service in SERVICES.items() if host == known or host.endswith(f".{known}"))
    return next(found, None)


def provider_name(name: str, model: str, address: str | None) -> str:
    """Return what tables call the provider of a model: its service, its own machine, or the component's name.

    Args:
        name: of the component: `openai`, `litellm`, `simulated`.
        model: as the configuration has it; LiteLLM's begin with the provider.
        address: where it is asked; None where LiteLLM knows that, or nobody is asked.
    """
    if name == "litellm":
        return model.partition("/")[0] if "/" in model else name
    service = service_at(address)
    if service is not None or not address:
        return service.name if service is not None else name
    parts = urlsplit(address)
    return parts.netloc.rpartition("@")[2]
