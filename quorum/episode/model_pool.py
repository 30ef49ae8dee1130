"""The language models of a process: clients with connections, limits and caches; and hints for their failures."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from maeil.contracts import described, name_of
from maeil.errors import ContractError, EpisodeStop
from quorum.agents.llm import errors
from quorum.agents.llm.cache import Cache, NotOurs
from quorum.agents.llm.delivery import Delivery
from quorum.agents.llm.errors import LanguageModelError, Unreachable
from quorum.agents.llm.limits import CallLimits
from quorum.agents.llm.prices import SET_PRICES, service_at
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.llm.redacting import Redacting
from quorum.agents.llm.redaction import Redaction
from quorum.agents.llm.spending import UnderWay
from quorum.configuration.providers.chance import FloorConfig
from quorum.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.configuration.registry import providers
from quorum_base.user_cache import user_cache
from quorum_base.user_errors import UserError

_LONGEST_ANSWER = re.compile(
    r"max_(completion_)?tokens.*(too (large|high)|maximum|at most|supports|less than)", re.DOTALL
)


def model_hint(error: BaseException, config: ModelConfig) -> str:
    """Suggest a remedy for a failure; empty if the error already names one.

    Args:
        error: the failure.
        config: configuration of the model.
    """
    variable = config.key_variable
    where = config.address or "the provider"
    match error:
        case errors.AuthenticationFailed():
            if variable is None:
                return f"If {where} needs a key, name the environment variable that holds it: llm.api_key_env=NAME."
            service = service_at(config.address)
            made = f" Keys are made at {service.keys}." if service is not None else ""
            return f"Set it in the shell: export {variable}=..., or name another variable: llm.api_key_env=NAME.{made}"
        case errors.BadRequest() if "LLM Provider NOT provided" in str(error):
            return "LiteLLM's names begin with the provider: llm.model=bedrock/NAME, llm.model=vertex_ai/NAME."
        case errors.UnknownModel() if (bare := _without_provider(config)) is not None:
            return f"Leave out the prefix of the provider here: llm.model={bare}."
        case errors.UnknownModel():
            return f"Use a name that {where} lists: llm.model=NAME."
        case errors.TimedOut() if "first_byte_timeout" in str(error):
            return "It may be busy or loading the model: llm.first_byte_timeout=null waits as long as llm.deadline."
        case errors.BrokenResponse() if "max_reply_bytes" in str(error):
            return f"If {where} is the right server, allow longer replies: llm.max_reply_bytes=N."
        case errors.BadRequest() if "redirects" in str(error):
            return "To send prompts there, set its address: llm.base_url=ADDRESS."
        case errors.Unreachable(remedy=remedy) if remedy:
            return remedy
        case errors.ConnectionLost() | errors.TimedOut() if _is_lost(error):
            return f"Is a server running at {where}?{_how_to_start(where)} Its address is llm.base_url."
        case errors.TimedOut() if isinstance(config, ProviderConfig):
            return f"The server may be busy or loading the model: llm.deadline={2 * config.deadline:g} waits longer."
        case errors.RateLimited():
            return "The key works, but its limit is reached: try again later, or lower llm.max_concurrency."
        case errors.BrokenResponse():
            return f"What answers at {where} is not a model: for most servers, llm.base_url ends in /v1."
        case errors.AnswerInvalid():
            return (
                "Try another way of asking for JSON, llm.structured=tools or llm.structured=prompt, or another model."
            )
        case errors.ServerFailed():
            return "The provider has a fault: try again later."
        case errors.NotRecorded():
            return "A replay answers only what its run asked: same configuration, same version, same prompts."
        case errors.UnknownPrice():
            prices = f"Set its prices: {SET_PRICES}. Or b"
            begin = prices if "prices" in type(config).model_fields else "B"
            return f"{begin}ound the tokens or the calls: --budget-tokens N, --budget-calls N."
        case errors.ContextOverflow():
            return "Start the server with a longer context, or allow a shorter answer: llm.max_tokens=N."
        case errors.BadRequest() if _LONGEST_ANSWER.search(str(error)):
            return "Allow a shorter answer: llm.max_tokens=N, llm.max_tokens_per_agent=N (joint plans)."
        case errors.BadRequest() if "service_tier" in str(error):
            return "Not every model has every tier: llm.service_tier=null uses the standard one, at its price."
        case errors.BadRequest() if "temperature" in str(error):
            return "Leave it to the provider: llm.temperature=null."
        case errors.BadRequest() if "base_url" in str(error):
            return f"llm.base_url is {where}; for most servers it ends in /v1."
    return ""


_STARTED_BY = {
    8000: "vllm serve NAME",
    8080: "llama-server -m FILE.gguf",
    11434: "ollama serve",
    30000: "python -m sglang.launch_server --model-path NAME",
}
"""Command that starts a local server, by its default port."""


def _how_to_start(address: str) -> str:
    parts = urlsplit(address)
    command = _STARTED_BY.get(parts.port or 0) if parts.hostname in ("localhost", "127.0.0.1", "::1") else None
    return f" Start it: {command}." if command is not None else ""


def _without_provider(config: ModelConfig) -> str | None:
    """Return a model's name without the prefix that LiteLLM would expect; None if it has none."""
    service = service_at(config.address)
    prefix, slash, bare = config.label.partition("/")
    return bare if service is not None and slash and prefix in (service.name, service.prices) else None


def _is_lost(error: BaseException) -> bool:
    return isinstance(error, errors.ConnectionLost) or "connect_timeout" in str(error)


_log = logging.getLogger(__name__)

_PER_REQUEST = {
    "agents", "roles", "fallback", "deadlines", "temperature", "max_tokens", "max_tokens_per_agent", "sampling_seed",
    "effort", "thinking_tokens", "top_p", "stop", "extra_body", "grounded_schema", "longest_text", "longest_list",
    "tries", "rate_limited_tries", "max_wait", "cache", "cache_path", "prices",
}  # fmt: skip
"""Keys that do not affect a client or its limits."""
_NO_LIMIT = 10**9
"""Maximum concurrent calls if a delivery limits them."""


def default_cache() -> Path:
    """Return the default cache file, in the user's cache folder.

    Raises:
        OSError: the user has no home folder.
    """
    return user_cache() / "replies.sqlite"


@dataclass(frozen=True, slots=True)
class Client:
    """A provider's model with limits that all its callers share."""

    config: ProviderConfig
    model: ProvidedModel
    redact: Redaction
    limits: CallLimits
    identity: Mapping[str, str]


class ModelPool(AbstractAsyncContextManager["ModelPool"]):
    """Resources shared by the episodes of a process: one client per provider and model. For one event loop.

    Use it as an asynchronous context manager, which closes it.

    Args:
        processes: number of processes that call the same models; the limits of each model are divided among them.
        under_way: where calls of all episodes can be observed; None: the pool creates one.
        delivery: replaces all providers; None: each request is a direct call.
        patient: whether to wait for a server that has not been reachable yet, as workers do that start while it
            restarts; otherwise the first call that fails to connect ends the command.
    """

    def __init__(
        self,
        processes: int = 1,
        under_way: UnderWay | None = None,
        delivery: Delivery | None = None,
        *,
        patient: bool = False,
    ) -> None:
        self.patient = patient
        """Whether to wait for a server that has not been reachable yet."""
        self._delivery = delivery
        self._unlimited = CallLimits(_NO_LIMIT)
        self.under_way = under_way if under_way is not None else UnderWay()
        """Calls in progress of all episodes."""
        self._processes = processes
        self._clients: dict[str, Client] = {}
        self._caches: dict[Path | None, Cache | None] = {}

    def client(self, config: ProviderConfig) -> Client:
        """Return the client of a configuration, created on first use.

        Raises:
            UserError: it cannot be created: a key or a package is missing.
        """
        key = config.model_dump_json(exclude=_PER_REQUEST)
        if key not in self._clients:
            build = providers.get(config.name).build
            with as_user_errors(config):
                model = build(config, None)
            if not isinstance(model, ProvidedModel):
                wanted = f"{ProvidedModel.__module__}.{ProvidedModel.__qualname__}"
                raise ContractError(f"{name_of(build)}() returned {described(model)}; it must return a {wanted}", build)
            limits = CallLimits(*self._shares(config))
            identity = model.identity or {"provider": config.name, "settings": key}
            _log.info("made a client of the provider %s for %s", config.name, config.label)
            redact = Redaction.of(os.environ, os.environ.get(config.key_variable or ""))
            self._clients[key] = Client(config, model, redact, limits, identity)
        return self._clients[key]

    def model(self, client: Client, cell: str = "") -> Model:
        """Return the client's model, or its delivery; texts that it returns never contain a key.

        Args:
            client: client of the pool.
            cell: name of the episode's cell; empty if there is none.
        """
        return Redacting(self._asked(client, cell), client.redact)

    def _asked(self, client: Client, cell: str) -> Model:
        if self._delivery is None or isinstance(client.config, FloorConfig):
            return client.model
        price = client.config.price or client.model.price
        return self._delivery.model(client.model, line_key(client.identity), cell, price)

    def limits(self, client: Client) -> CallLimits:
        """Return the limits of the model returned by `model`: a delivery has its own."""
        return client.limits if self._delivery is None else self._unlimited

    def resize(self, processes: int) -> None:
        """Divide the limits among another number of processes from now on."""
        self._processes = processes
        for client in self._clients.values():
            client.limits.resize(*self._shares(client.config))

    def _shares(self, config: ProviderConfig) -> tuple[int, int | None, int | None]:
        """Return this process's share: concurrent calls, requests and tokens a minute."""
        rates = (config.requests_per_minute, config.tokens_per_minute)
        requests, tokens = (None if rate is None else max(1, rate // self._processes) for rate in rates)
        return max(1, config.max_concurrency // self._processes), requests, tokens

    @property
    def traffic(self) -> tuple[int, int]:
        """Number of calls that providers have answered, and of those that hit a rate limit."""
        limits = [self._unlimited, *(client.limits for client in self._clients.values())]
        return sum(limit.answers for limit in limits), sum(limit.rate_limited for limit in limits)

    def cache(self, config: ProviderConfig) -> Cache | None:
        """Return the cache of a configuration; None, with a notice, if an optional cache cannot be opened.

        Raises:
            UserError: it cannot be opened, and the configuration requires it with `cache=true` or a `cache_path`.
        """
        path = Path(config.cache_path) if config.cache_path else None
        is_wanted = path is not None or config.cache is True
        if path not in self._caches or (is_wanted and self._caches[path] is None):
            try:
                self._caches[path] = Cache(_cache_file(config))
            except (OSError, sqlite3.Error, NotOurs) as error:
                place = path or f"the default file {default_cache()}"
                hint = "Use another file: llm.cache_path=FILE. You can delete a damaged one."
                if is_wanted:
                    raise UserError(f"llm.cache_path: {place} cannot be opened: {error}", hint) from error
                _log.warning("answers are not kept on disk: %s cannot be opened: %s. %s", place, error, hint)
                self._caches[path] = None
        return self._caches[path]

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close all connections and files."""
        if self._delivery is not None:
            await self._delivery.close()
        for client in self._clients.values():
            await client.model.close()
        for cache in filter(None, self._caches.values()):
            cache.close()
        self._clients.clear()
        self._caches.clear()


class _Reached:
    """A model that opens a connection but sends no request."""

    def __init__(self, client: Client, faults: dict[str, Unreachable | None]) -> None:
        self._client = client
        self._faults = faults

    async def complete(self, _: Request) -> Reply:
        """Connect to the server, once for each address.

        Raises:
            Unreachable: the connection fails.
            QuestionReached: the connection succeeds.
        """
        address = self._client.config.address or ""
        if address not in self._faults:
            self._faults[address] = await self._client.model.reach()
        if (fault := self._faults[address]) is not None:
            raise fault
        raise QuestionReached


class QuestionReached(EpisodeStop):
    """A request was ready to be sent: the check is complete."""


class ConnectingPool(ModelPool):
    """A pool whose models connect but send nothing: `QuestionReached` replaces the network request."""

    def __init__(self) -> None:
        super().__init__()
        self._faults: dict[str, Unreachable | None] = {}

    def model(self, client: Client, cell: str = "") -> Model:  # noqa: ARG002 (nothing is delivered)
        """Return a model that only connects to a client's server."""
        return _Reached(client, self._faults)

    def cache(self, config: ProviderConfig) -> Cache | None:
        """Return the cache of a configuration; None if the file does not exist, as a check must not create it."""
        return super().cache(config) if _cache_file(config).exists() else None


def _cache_file(config: ProviderConfig) -> Path:
    return Path(config.cache_path) if config.cache_path else default_cache()


def line_key(identity: Mapping[str, str]) -> str:
    """Return the key of a model for a delivery, independent of the client's other values."""
    return hashlib.sha256(json.dumps(dict(identity), sort_keys=True).encode()).hexdigest()[:16]


@contextmanager
def as_user_errors(config: ModelConfig) -> Iterator[None]:
    """Convert model errors into user errors, as most come from a wrong key, name or address."""
    try:
        yield
    except (LanguageModelError, ImportError, ValueError) as error:
        raise UserError(f"llm: {error}", model_hint(error, config)) from None
