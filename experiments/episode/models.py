"""The language models of a process, and of one episode.

A pool holds what is shared: clients with their connections, the limits of a provider, the files of the cache. An
episode has its own wrappers around them: its budget, its recording, the waits between its tries.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from maeil import Seeds
from maeil.user_errors import UserError
from quorum.agents.llm.batches.model import Batched
from quorum.agents.llm.batches.waves import Waves
from quorum.agents.llm.budget import Budget, Spending
from quorum.agents.llm.cache import Cache
from quorum.agents.llm.cache_file import NotOurs
from quorum.agents.llm.errors import ContextExceeded, ContextOverflow, LanguageModelError
from quorum.agents.llm.fallback import Fallback
from quorum.agents.llm.folding import Folding
from quorum.agents.llm.limits import Limits
from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Model, Origin, Reply, Request, Sampling
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.services import provider_name
from quorum.agents.llm.replay import Replay
from quorum.agents.llm.retry import RetryRules
from quorum.agents.llm.stack import Caching, build_stack, reached
from quorum.agents.llm.under_way import UnderWay
from quorum.experiments.configuration.providers import replay
from quorum.experiments.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.experiments.configuration.registry import providers
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.by_role import ByRole, deadline_of
from quorum.experiments.episode.model_hints import model_hint
from quorum.experiments.episode.picture_files import PictureFiles

_log = logging.getLogger(__name__)

CALLS = "calls.jsonl"
"""The file of an episode that holds its calls."""

FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0
"""Seconds: the first wait of our own choice between two tries, and the longest."""

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
class _Client:
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
        self._clients: dict[str, _Client] = {}
        self._caches: dict[Path, Cache] = {}

    def client(self, config: ProviderConfig) -> _Client:
        """Return the client of a configuration, made when it is first asked for.

        Raises:
            UserError: it cannot be made: there is no key, or a package is missing.
        """
        key = config.model_dump_json(exclude=_PER_REQUEST)
        if key not in self._clients:
            with as_user_errors(config):
                model = providers.get(config.name).build(config, None)
            if not isinstance(model, ProvidedModel):
                raise TypeError(f"llm={config.name}: its component builds no quorum.agents.llm.provided.ProvidedModel")
            limits = Limits(*self._shares(config))
            identity = model.identity or {"provider": config.name, "settings": key}
            _log.info("made a client of the provider %s for %s", config.name, config.label)
            self._clients[key] = _Client(config, model, limits, identity)
        return self._clients[key]

    def model(self, client: _Client, cell: str) -> Model:
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

    def limits(self, client: _Client) -> Limits:
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


@dataclass(frozen=True, slots=True)
class _Way:
    """How a model is reached in an episode: its client, the waits between tries, the cache; and its price."""

    client: _Client
    rng: random.Random
    retry: RetryRules
    caching: Caching | None
    price: Price | None


class EpisodeModels:
    """Gives each participant of an episode, by name, the language model that it thinks with.

    Args:
        configuration: of the episode.
        pool: what is shared with other episodes.
        folder: where `calls.jsonl` is written when a model is first asked for, and the pictures of prompts beside it;
            None: nothing is recorded.
        cell: name of the cell that is played, by which batches know its requests.
    """

    def __init__(self, configuration: Configuration, pool: ModelPool, folder: Path | None, cell: str = "") -> None:
        self._cell = cell
        self._configuration = configuration
        self._pool = pool
        self._folder = folder
        self._pictures = PictureFiles(folder) if folder is not None else None
        self._file: BinaryIO | None = None
        self._folding = Folding()
        budget = configuration.budget
        self._spending = Spending(Budget(budget.usd, budget.tokens, budget.calls))
        self._recorded: Replay | None = None
        self.given: dict[str, Model] = {}
        """The models that were asked for, by participant."""

    def __call__(self, participant: str) -> Model:
        """Return the model of a participant.

        Raises:
            UserError: there is none: no key, a package is missing, nothing was recorded.
        """
        if participant not in self.given:
            config = self._configuration.llm_of(participant)
            if isinstance(config, replay.ReplayConfig):
                self.given[participant] = self._replayed(config, participant)
            else:
                self.given[participant] = self._of_roles(self._live(config, participant), participant)
        return self.given[participant]

    def _of_roles(self, model: Model, participant: str) -> Model:
        """Return the model of a participant that other models stand in for where its role has some."""
        c = self._configuration
        special = {role: self._live(c.llm_of(participant, role), participant, role) for role in c.llm.special_roles}
        return ByRole(model, special) if special else model

    def _live(self, config: ModelConfig, participant: str, role: str = "") -> Model:
        if not isinstance(config, ProviderConfig):
            raise TypeError(f"llm={config.name}: the values of a provider must be a ProviderConfig")
        seeds = Seeds(self._configuration.seed).child("models").child(participant)
        seeds = seeds.child(role) if role else seeds
        way = self._way(config, random.Random(seeds.integer()))
        fallbacks = [
            self._fallback(other, random.Random(seeds.child("fallback").child(index).integer()))
            for index, other in enumerate(self._configuration.fallbacks_of(config))
        ]
        with as_user_errors(config):
            stack = build_stack(
                self._pool.model(way.client, self._cell),
                name=config.label,
                rng=way.rng,
                retry=way.retry,
                limits=self._pool.limits(way.client),
                caching=way.caching,
                spending=self._spending,
                price=way.price,
                priced=config.priced,
                fallbacks=fallbacks,
                max_repairs=self._configuration.max_repairs,
                sink=self._write,
                keep=self._keep,
                under_way=self._pool.under_way,
            )
        return _ConfiguredModel(
            stack,
            participant,
            sampling_of(config),
            config.max_tokens_per_agent,
            deadline=partial(deadline_of, config.deadlines, config.deadline),
            prepare=grounded if config.grounded_schema else None,
        )

    def _way(self, config: ProviderConfig, rng: random.Random) -> _Way:
        """Return how a model is reached."""
        client = self._pool.client(config)
        caching = None
        if config.caches:
            path = Path(config.cache_path) if config.cache_path else default_cache()
            caching = Caching(self._pool.cache(path), client.identity, sampled=config.cache is True)
        retry = RetryRules(config.tries, config.rate_limited_tries, config.max_wait, FIRST_WAIT, LONGEST_WAIT)
        return _Way(client, rng, retry, caching, config.price or client.model.price)

    def _fallback(self, config: ModelConfig, rng: random.Random) -> Fallback:
        if not isinstance(config, ProviderConfig):
            raise UserError(f"llm.fallback: {config.name} cannot stand in the place of a model")
        way = self._way(config, rng)
        model = reached(
            self._pool.model(way.client, self._cell),
            rng=way.rng,
            retry=way.retry,
            limits=self._pool.limits(way.client),
            caching=way.caching,
            price=way.price,
        )
        name = f"{provider_name(config.name, config.label, config.address)}/{config.label}"
        return Fallback(name, model, partial(_drawn_for, config), config.priced or way.price is not None)

    def _replayed(self, config: replay.ReplayConfig, participant: str) -> Model:
        if self._recorded is None:
            self._recorded = replay.build(config, None)
        stack = build_stack(
            self._recorded,
            name=config.name,
            rng=random.Random(),
            max_repairs=self._configuration.max_repairs,
            widens=self._recorded.knows,
            sink=self._write,
            keep=self._keep,
        )
        sampling = self._recorded.sampling_of(participant)
        return _ConfiguredModel(stack, participant, sampling, prepare=partial(_as_recorded, self._recorded))

    def _write(self, record: Mapping[str, Any]) -> None:
        if self._folder is None:
            return
        if self._file is None:
            # Only its user may read it: prompts and answers are nobody else's.
            self._file = os.fdopen(os.open(self._folder / CALLS, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
        self._file.write(self._folding.line(record))
        self._file.flush()

    def _keep(self, picture: Picture) -> None:
        if self._pictures is not None:
            self._pictures.keep(picture)

    def close(self) -> None:
        """Close the file of the calls."""
        if self._file is not None:
            self._file.close()


def sampling_of(config: ProviderConfig) -> Sampling:
    """Return how answers are drawn."""
    return Sampling(
        config.temperature,
        config.max_tokens,
        config.sampling_seed,
        top_p=config.top_p,
        stop=config.stop,
        extra_body=config.extra_body or None,
        effort=config.effort,
        thinking_tokens=config.thinking_tokens,
    )


def _drawn_for(config: ProviderConfig, request: Request) -> Request:
    """Return a request as the values of a fallback have it drawn; its form stays that of the chosen model."""
    longest = config.max_tokens + config.max_tokens_per_agent * (request.agents - 1)
    origin = request.origin or Origin("", 0)
    deadline = deadline_of(config.deadlines, config.deadline, origin)
    room = request.sampling.times_the_room
    sampling = replace(sampling_of(config), max_tokens=longest, times_the_room=room)
    return replace(request, sampling=sampling, deadline=deadline)


def grounded(request: Request) -> Request:
    """Return a request whose schema names what exists in its turn."""
    return replace(request, answer=request.answer.ground()) if request.answer is not None else request


def _as_recorded(recorded: Replay, request: Request) -> Request:
    """Return a request with the sampling, and with the schema of its turn or the common one, that were recorded."""
    return recorded.as_recorded(grounded(request)) or recorded.as_recorded(request) or request


class _ConfiguredModel:
    """The outermost wrapper: the configuration decides how answers are drawn, and the record says who asked.

    A prompt that the model's context has no room for ends the episode (`ContextExceeded`).

    Args:
        model: what answers.
        participant: who asks.
        sampling: how answers are drawn, those for one agent.
        more: tokens that the answer may have for each further agent.
        deadline: returns the seconds of one attempt by who asks and how; None for the provider's own.
        prepare: makes the request that is sent of the one that is asked; None sends it as it is.
    """

    def __init__(
        self,
        model: Model,
        participant: str,
        sampling: Sampling,
        more: int = 0,
        *,
        deadline: Callable[[Origin], float | None] = lambda _: None,
        prepare: Callable[[Request], Request] | None = None,
    ) -> None:
        self._model = model
        self._participant = participant
        self._sampling = sampling
        self._more = more
        self._deadline = deadline
        self._prepare = prepare

    async def complete(self, request: Request) -> Reply:
        origin = request.origin or Origin(self._participant, 0)
        _log.debug("%s asks in step %d: %d messages", self._participant, origin.t, len(request.messages))
        longest = self._sampling.max_tokens + self._more * (request.agents - 1)
        sampling = replace(self._sampling, max_tokens=longest)
        request = replace(request, sampling=sampling, origin=origin, deadline=self._deadline(origin))
        if self._prepare is not None:
            request = self._prepare(request)
        try:
            reply = await self._model.complete(request)
        except ContextOverflow as error:
            raise ContextExceeded(f"{self._participant}: {error}") from error
        _log.debug(
            "%s answers %s: %d tokens read, %d written, %.2f s, %d requests, %d repairs%s",
            reply.model, self._participant, reply.usage.prompt, reply.usage.completion, reply.seconds, reply.attempts,
            reply.repairs, ", from the cache" if reply.cache_hit else "",
        )  # fmt: skip
        return reply
