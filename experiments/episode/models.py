"""The language models of one episode: its budget, its recording, the waits between its tries.

What its models share with those of other episodes is the pool's.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from maeil.user_errors import UserError
from quorum.agents.llm.fallback import Fallback
from quorum.agents.llm.prices import Price
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.providers.services import provider_name
from quorum.agents.llm.replay import Replay
from quorum.agents.llm.retry import RetryRules
from quorum.agents.llm.stack import Caching, build_stack, reached
from quorum.experiments.configuration.providers import replay
from quorum.experiments.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.experiments.configuration.schema import Configuration
from quorum.experiments.episode.by_role import ByRole, deadline_of
from quorum.experiments.episode.call_books import CallBooks
from quorum.experiments.episode.configured_model import (
    ConfiguredModel,
    as_recorded,
    drawn_for,
    first_sample,
    grounded,
    sampling_of,
)
from quorum.experiments.episode.model_pool import Client, ModelPool, as_user_errors, default_cache

FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0
"""Seconds: the first wait of our own choice between two tries, and the longest."""


@dataclass(frozen=True, slots=True)
class _Way:
    """How a model is reached in an episode: its client, the waits between tries, the cache; and its price."""

    client: Client
    rng: random.Random
    retry: RetryRules
    caching: Caching | None
    price: Price | None


class EpisodeModels:
    """Gives each participant of an episode, by name, the language model that it thinks with.

    Args:
        configuration: of the episode.
        pool: what is shared with other episodes.
        books: what its calls are entered in.
        cell: name of the cell that is played, by which batches know its requests.
        recorded: answers in the place of all models, on the budget of the episode; None: they answer themselves.
        sample: which of several draws of one episode its answers are for; each has answers of its own.
    """

    def __init__(
        self,
        configuration: Configuration,
        pool: ModelPool,
        books: CallBooks,
        cell: str = "",
        recorded: Replay | None = None,
        *,
        sample: int = 0,
    ) -> None:
        self._sample = sample
        self._cell = cell
        self._configuration = configuration
        self._pool = pool
        self._books = books
        self._spending = books.spending if recorded is not None else None
        self._recorded = recorded
        self.given: dict[str, Model] = {}
        """The models that were asked for, by participant."""

    def __call__(self, participant: str) -> Model:
        """Return the model of a participant.

        Raises:
            UserError: there is none: no key, a package is missing, nothing was recorded.
        """
        if participant not in self.given:
            config = self._configuration.llm_of(participant)
            if self._recorded is not None:
                self.given[participant] = self._replayed(self._recorded, participant)
            elif isinstance(config, replay.ReplayConfig):
                self._recorded = replay.build(config, None)
                self.given[participant] = self._replayed(self._recorded, participant)
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
        seeds = self._configuration.seeds.child("models").child(participant)
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
                spending=self._books.spending,
                price=way.price,
                priced=config.priced,
                fallbacks=fallbacks,
                max_repairs=self._configuration.max_repairs,
                sink=self._books.enter,
                keep=self._books.keep,
                under_way=self._pool.under_way,
            )
        return ConfiguredModel(
            stack,
            participant,
            sampling_of(config, self._sample),
            config.max_tokens_per_agent,
            sample=first_sample(self._configuration.episode, self._sample),
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
        return Fallback(
            name, model, partial(drawn_for, config, draw=self._sample), config.priced or way.price is not None
        )

    def _replayed(self, recorded: Replay, participant: str) -> Model:
        stack = build_stack(
            recorded,
            name="replay",
            rng=random.Random(),
            spending=self._spending,
            priced=True,
            max_repairs=self._configuration.max_repairs,
            widens=recorded.knows,
            sink=self._books.enter if self._spending is None else self._books.enter_recorded,
            keep=self._books.keep,
        )
        sampling = recorded.sampling_of(participant)
        prepare = partial(as_recorded, recorded)
        sample = first_sample(self._configuration.episode, self._sample)
        return ConfiguredModel(stack, participant, sampling, sample=sample, prepare=prepare)
