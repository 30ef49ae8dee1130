"""The language models of a process: clients with their connections, limits of providers, the files of caches."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from maeil.contracts import described, name_of
from maeil.errors import ContractError
from maeil.user_errors import UserError
from quorum.agents.llm.batches.model import Batched
from quorum.agents.llm.batches.waves import Waves
from quorum.agents.llm.cache import Cache
from quorum.agents.llm.cache_file import NotOurs
from quorum.agents.llm.errors import LanguageModelError
from quorum.agents.llm.limits import Limits
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.under_way import UnderWay
from quorum.experiments.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.experiments.configuration.registry import providers
from quorum.experiments.episode.model_hints import model_hint

_log = logging.getLogger(__name__)

_PER_REQUEST = {
    "agents", "roles", "fallback", "deadlines", "temperature", "max_tokens", "max_tokens_per_agent", "sampling_seed",
    "effort", "thinking_tokens", "top_p", "stop", "extra_body", "grounded_schema", "tries", "rate_limited_tries",
    "max_wait", "cache", "cache_path", "prices",
}  # fmt: skip
"""Values that leave a client and its limits as they are."""
_NO_LIMIT = 10**9
"""Calls at once where they wait for batches: they are bounded by those."""


def default_cache() -> Path:
    """Return the usual file of the cache: in the user's cache folder."""
    folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(folder) / "quorum" / "replies.sqlite"


@dataclass(frozen=True, slots=True)
class Client:
    """A provider's model with the limits that all who ask it share."""

    config: ProviderConfig
    model: ProvidedModel
    limits: Limits
    identity: Mapping[str, str]


class ModelPool:
    """What the episodes of a process share: one client for each provider and model. For one event loop.

    Args:
        processes: processes that ask the same models at once; the limits of each model are divided among them.
        under_way: where the calls of all episodes can be seen while they are under way; None: the pool makes one.
        waves: by which all calls go out in batches; None: each goes out by itself.
    """

    def __init__(self, processes: int = 1, under_way: UnderWay | None = None, waves: Waves | None = None) -> None:
        self.waves = waves
        """By which all calls go out in batches."""
        self._of_batches = Limits(_NO_LIMIT)
        self.under_way = under_way if under_way is not None else UnderWay()
        """The calls of all episodes that are under way."""
        self._processes = processes
        self._clients: dict[str, Client] = {}
        self._caches: dict[Path, Cache] = {}

    def client(self, config: ProviderConfig) -> Client:
        """Return the client of a configuration, made when it is first asked for.

        Raises:
            UserError: it cannot be made: there is no key, or a package is missing.
        """
        key = config.model_dump_json(exclude=_PER_REQUEST)
        if key not in self._clients:
            build = providers.get(config.name).build
            with as_user_errors(config):
                model = build(config, None)
            if not isinstance(model, ProvidedModel):
                wanted = f"{ProvidedModel.__module__}.{ProvidedModel.__qualname__}"
                raise ContractError(f"{name_of(build)}() returned {described(model)}; it must return a {wanted}", build)
            limits = Limits(*self._shares(config))
            identity = model.identity or {"provider": config.name, "settings": key}
            _log.info("made a client of the provider %s for %s", config.name, config.label)
            self._clients[key] = Client(config, model, limits, identity)
        return self._clients[key]

    def model(self, client: Client, cell: str) -> Model:
        """Return what an episode asks: the client's model, or its batches.

        Args:
            client: of the pool.
            cell: name of the episode's cell.
        """
        if self.waves is None:
            return client.model
        if not isinstance(client.model, Provider):
            raise TypeError(f"llm={client.config.name} has no batches")
        line = self.waves.line(line_key(client.identity), client.model)
        return Batched(client.model, line, cell, client.config.price or client.model.price)

    def limits(self, client: Client) -> Limits:
        """Return the limits of what `model` gives: batches are bounded by those who send them."""
        return client.limits if self.waves is None else self._of_batches

    def resize(self, processes: int) -> None:
        """Divide the limits among another number of processes from now on."""
        self._processes = processes
        for client in self._clients.values():
            client.limits.resize(*self._shares(client.config))

    def _shares(self, config: ProviderConfig) -> tuple[int, int | None, int | None]:
        """Return what this process may do: calls at once, requests and tokens a minute."""
        rates = (config.requests_per_minute, config.tokens_per_minute)
        requests, tokens = (None if rate is None else max(1, rate // self._processes) for rate in rates)
        return max(1, config.max_concurrency // self._processes), requests, tokens

    @property
    def traffic(self) -> tuple[int, int]:
        """Calls that a provider has answered so far, and those that met a rate limit."""
        limits = [self._of_batches, *(client.limits for client in self._clients.values())]
        return sum(limit.answers for limit in limits), sum(limit.rate_limited for limit in limits)

    def cache(self, path: Path) -> Cache:
        """Return the cache in a file.

        Raises:
            UserError: it cannot be opened.
        """
        if path not in self._caches:
            try:
                self._caches[path] = Cache(path)
            except (OSError, sqlite3.Error, NotOurs) as error:
                hint = "Give another file, llm.cache_path=FILE. `quorum cache clear` throws away one that is damaged."
                raise UserError(f"llm.cache_path: {path} cannot be opened: {error}", hint) from error
        return self._caches[path]

    async def close(self) -> None:
        """Close all connections and files."""
        if self.waves is not None:
            await self.waves.close()
        for client in self._clients.values():
            await client.model.close()
        for cache in self._caches.values():
            cache.close()
        self._clients.clear()
        self._caches.clear()


def line_key(identity: Mapping[str, str]) -> str:
    """Return what names the batches of a model in the journal, whatever else its client is told."""
    return hashlib.sha256(json.dumps(dict(identity), sort_keys=True).encode()).hexdigest()[:16]


@contextmanager
def as_user_errors(config: ModelConfig) -> Iterator[None]:
    """Turn what is wrong with a model into the user's mistake that it mostly is: a key, a name, an address."""
    try:
        yield
    except (LanguageModelError, ImportError, ValueError) as error:
        raise UserError(f"llm: {error}", model_hint(error, config)) from None
