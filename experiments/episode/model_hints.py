"""How to mend what is wrong with a language model: one line for each kind of failure."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from quorum.agents.llm import errors
from quorum.agents.llm.providers.services import service_at
from quorum.experiments.configuration.providers.config import ModelConfig, ProviderConfig

_LONGEST_ANSWER = re.compile(
    r"max_(completion_)?tokens.*(too (large|high)|maximum|at most|supports|less than)", re.DOTALL
)


def model_hint(error: BaseException, config: ModelConfig) -> str:
    """Say what to do about a failure; empty where the failure says it itself.

    Args:
        error: what went wrong.
        config: values of the model that was asked.
    """
    variable = config.key_variable
    where = config.address or "the provider"
    match error:
        case errors.AuthenticationFailed():
            if variable is None:
                return f"If {where} wants a key: llm.api_key_env=NAME, the environment variable that holds it."
            service = service_at(config.address)
            made = f" Keys are made at {service.keys}." if service is not None else ""
            return f"Set it in the shell: export {variable}=..., or name another variable: llm.api_key_env=NAME.{made}"
        case errors.BadRequest() if "LLM Provider NOT provided" in str(error):
            return "LiteLLM's names begin with the provider: llm.model=bedrock/NAME, llm.model=vertex_ai/NAME."
        case errors.UnknownModel() if (bare := _without_provider(config)) is not None:
            return f"Names have no prefix of the provider here: llm.model={bare}."
        case errors.UnknownModel():
            return f"Give a name that {where} lists: llm.model=NAME."
        case errors.TimedOut() if "first_byte_timeout" in str(error):
            return "It may be busy or loading the model: llm.first_byte_timeout=null waits as long as llm.deadline."
        case errors.BrokenResponse() if "max_reply_bytes" in str(error):
            return f"If {where} is what it should be: llm.max_reply_bytes=N takes longer replies."
        case errors.BadRequest() if "redirects" in str(error):
            return "If prompts shall go there, give its address: llm.base_url=ADDRESS."
        case errors.ConnectionLost() | errors.TimedOut() if _is_lost(error):
            return f"Is a server running at {where}?{_how_to_start(where)} Its address is llm.base_url."
        case errors.TimedOut() if isinstance(config, ProviderConfig):
            return f"It may be busy or loading the model: llm.deadline={2 * config.deadline:g} waits longer."
        case errors.RateLimited():
            return "The key works, and its limit is reached: try again later, or lower llm.max_concurrency."
        case errors.BrokenResponse():
            return f"Something else than a model answers at {where}: llm.base_url should end in /v1 for most servers."
        case errors.AnswerInvalid():
            return (
                "Try another way of asking for JSON, llm.structured=tools or llm.structured=prompt, or another model."
            )
        case errors.ServerFailed():
            return "The provider has a fault of its own: try again later."
        case errors.NotRecorded():
            return "A replay answers only what its run asked: same configuration, same version, same prompts."
        case errors.UnknownPrice():
            prices = "Give its prices: llm.prices='{input: DOLLARS, output: DOLLARS}', per million tokens. Or b"
            begin = prices if "prices" in type(config).model_fields else "B"
            return f"{begin}ound the tokens or the calls: --budget-tokens N, --budget-calls N."
        case errors.ContextOverflow():
            return "Give the server a longer context, or make the answer shorter: llm.max_tokens=N."
        case errors.BadRequest() if _LONGEST_ANSWER.search(str(error)):
            return "Make the longest answer shorter: llm.max_tokens=N, llm.max_tokens_per_agent=N (joint plans)."
        case errors.BadRequest() if "service_tier" in str(error):
            return "Not every model has every tier: llm.service_tier=null is the usual one, at its price."
        case errors.BadRequest() if "temperature" in str(error):
            return "Leave it to the provider: llm.temperature=null."
        case errors.BadRequest() if "base_url" in str(error):
            return f"It is {where}; for most servers it ends in /v1."
    return ""


_STARTED_BY = {
    8000: "vllm serve NAME",
    8080: "llama-server -m FILE.gguf",
    11434: "ollama serve",
}
"""By its usual port, what starts a server on this machine."""


def _how_to_start(address: str) -> str:
    parts = urlsplit(address)
    command = _STARTED_BY.get(parts.port or 0) if parts.hostname in ("localhost", "127.0.0.1", "::1") else None
    return f" Start it: {command}." if command is not None else ""


def _without_provider(config: ModelConfig) -> str | None:
    """Return the name of a model without the prefix that LiteLLM would want; None where it has none."""
    service = service_at(config.address)
    prefix, slash, bare = config.label.partition("/")
    return bare if service is not None and slash and prefix in (service.name, service.prices) else None


def _is_lost(error: BaseException) -> bool:
    return isinstance(error, errors.ConnectionLost) or "connect_timeout" in str(error)
