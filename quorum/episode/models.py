"""The language models of one episode: applies the configured sampling, recording, retries and budget."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from maeil.seeds import Seeds
from quorum.agents.llm.cache import Cached
from quorum.agents.llm.caps import capped
from quorum.agents.llm.errors import ContextExceeded, ContextOverflow
from quorum.agents.llm.limits import RetryRules
from quorum.agents.llm.prices import Price, provider_name
from quorum.agents.llm.protocol import Model, Origin, Reply, Request, Sampling
from quorum.agents.llm.replay import Replay
from quorum.agents.llm.stack import Fallback, build_stack, with_access
from quorum.configuration.providers import replay
from quorum.configuration.providers.config import ModelConfig, ProviderConfig
from quorum.configuration.schema import Configuration
from quorum.configuration.team_models import fallbacks_of
from quorum.episode.call_ledger import CallLedger
from quorum.episode.draws import request_draw
from quorum.episode.model_pool import ModelPool, as_user_errors


class ByRole:
    """A participant's model that sends the calls of some roles to other models.

    Args:
        model: answers in all other roles.
        special: models by role name.
    """

    def __init__(self, model: Model, special: Mapping[str, Model]) -> None:
        self._model = model
        self._special = special

    async def complete(self, request: Request) -> Reply:
        """Answer a request."""
        role = request.origin.role if request.origin is not None else ""
        return await self._special.get(role, self._model).complete(request)


def deadline_of(deadlines: Mapping[str, float], usual: float, origin: Origin) -> float | None:
    """Return the total seconds that one attempt may take: its role's limit, else the longest of its turn's kinds.

    Args:
        deadlines: limits for some roles and kinds of turn.
        usual: limit for all others.
        origin: participant, role and turn of the request.

    Returns:
        None if the default applies.
    """
    if origin.role in deadlines:
        return deadlines[origin.role]
    if deadlines.keys().isdisjoint(origin.turn):
        return None
    return max(deadlines.get(sort, usual) for sort in origin.turn)


_log = logging.getLogger(__name__)
_SAMPLES = 1000
"""Offset between the sample numbers of one prompt in two episodes of a line."""
_DRAWS = 10**9
"""Offset between sample numbers in two draws of one episode."""
_SEEDS = 2**31
"""Range of sampling seeds that every provider accepts."""


def first_sample(episode: int, draw: int) -> int:
    """Return the number of the first sample of a prompt.

    Args:
        episode: number in a line of episodes: the same prompt in a later episode is a new sample.
        draw: draw of an episode with several draws (`quorum.episode.draws.request_draw`).
    """
    return episode * _SAMPLES + draw * _DRAWS


def sampling_of(config: ProviderConfig, draw: int = 0) -> Sampling:
    """Return the sampling settings; if a seed is sent to the provider, each draw has its own."""
    seed = config.sampling_seed
    if seed is not None and draw:
        seed = Seeds(seed, f"draw/{draw}").integer() % _SEEDS
    return Sampling(
        config.temperature,
        config.max_tokens,
        seed,
        top_p=config.top_p,
        stop=config.stop,
        extra_body=config.extra_body or None,
        effort=config.effort,
        thinking_tokens=config.thinking_tokens,
        longest_text=config.longest_text,
        longest_list=config.longest_list,
    )


def drawn_for(config: ProviderConfig, request: Request, draw: int = 0) -> Request:
    """Return a request with the sampling settings of a fallback; its schema remains that of the chosen model."""
    longest = config.max_tokens + config.max_tokens_per_agent * (request.agents - 1)
    origin = request.origin or Origin("", 0)
    deadline = deadline_of(config.deadlines, config.deadline, origin)
    room = request.sampling.room_factor
    sampling = replace(sampling_of(config, draw), max_tokens=longest, room_factor=room)
    return replace(request, sampling=sampling, deadline=deadline)


def grounded(request: Request) -> Request:
    """Return a request whose schema names the objects that exist in its turn."""
    return replace(request, answer=request.answer.ground()) if request.answer is not None else request


def as_recorded(recorded: Replay, request: Request) -> Request:
    """Return a request with the recorded sampling and schema, which is that of its turn or the common one."""
    return recorded.as_recorded(grounded(request)) or recorded.as_recorded(request) or request


@dataclass(frozen=True, slots=True)
class ConfiguredModel:
    """The outermost wrapper: applies the configured sampling, and records who called.

    A prompt that does not fit the model's context ends the episode (`ContextExceeded`).

    Attributes:
        model: the wrapped model.
        participant: the caller.
        sampling: sampling settings for one agent.
        more: extra answer tokens for each further agent.
        sample: number of the first sample of a prompt.
        deadline: returns the time limit of one attempt in seconds by its origin; None for the provider's default.
        prepare: converts the request before it is sent; None sends it unchanged.
    """

    model: Model
    participant: str
    sampling: Sampling
    more: int = 0
    sample: int = 0
    deadline: Callable[[Origin], float | None] = lambda _: None
    prepare: Callable[[Request], Request] | None = None

    async def complete(self, request: Request) -> Reply:
        """Send a request as configured.

        Raises:
            ContextExceeded: the prompt and its answer do not fit the model's context.
            LanguageModelError: there is no answer.
        """
        origin = request.origin or Origin(self.participant, 0)
        _log.debug("%s asks in step %d: %d messages", self.participant, origin.t, len(request.messages))
        longest = self.sampling.max_tokens + self.more * (request.agents - 1)
        sampling = replace(self.sampling, max_tokens=longest)
        request = replace(
            request,
            sampling=sampling,
            sample=self.sample + request.sample,
            origin=origin,
            deadline=self.deadline(origin),
        )
        if self.prepare is not None:
            request = self.prepare(request)
        request = capped(request)
        try:
            reply = await self.model.complete(request)
        except ContextOverflow as error:
            raise ContextExceeded(f"{self.participant}: {error}") from error
        _log.debug(
            "%s answers %s: %d tokens read, %d written, %.2f s, %d requests, %d repairs%s",
            reply.model, self.participant, reply.usage.prompt, reply.usage.completion, reply.seconds, reply.attempts,
            reply.repairs, ", from the cache" if reply.cache_hit else "",
        )  # fmt: skip
        return reply


FIRST_WAIT = 1.0
LONGEST_WAIT = 30.0
"""Seconds: the first wait that we choose between two tries, and the longest."""


@dataclass
class EpisodeModels:
    """Gives each participant of an episode its language model, by name.

    Attributes:
        configuration: configuration of the episode.
        pool: resources shared with other episodes.
        books: records of its calls.
        cell: name of the cell, by which batches identify its requests.
        recorded: recorded answers that replace all models, charged to the episode's budget; None: the models answer.
        sample: which of several draws of one branch its answers are for; each draw has its own answers.
    """

    configuration: Configuration
    pool: ModelPool
    books: CallLedger
    cell: str = ""
    recorded: Replay | None = None
    sample: int = 0
    given: dict[str, Model] = field(default_factory=dict)
    """The models that were requested, by participant."""

    def __post_init__(self) -> None:
        """Mark calls that were paid for elsewhere but still count toward the budget."""
        self._draw = request_draw(self.configuration.draw, self.sample)
        self._spending = self.books.spending if self.recorded is not None else None

    def __call__(self, participant: str) -> Model:
        """Return the model of a participant.

        Raises:
            UserError: it is not available: a key or a package is missing, or nothing was recorded.
        """
        if participant not in self.given:
            config = self.configuration.llm_of(participant)
            if self.recorded is not None:
                self.given[participant] = self._replayed(self.recorded, participant)
            elif isinstance(config, replay.ReplayConfig):
                self.recorded = replay.build(config, None)
                self.given[participant] = self._replayed(self.recorded, participant)
            else:
                self.given[participant] = self._of_roles(self._live(config, participant), participant)
        return self.given[participant]

    def _of_roles(self, model: Model, participant: str) -> Model:
        """Return a participant's model combined with the models of roles that have their own."""
        c = self.configuration
        special = {role: self._live(c.llm_of(participant, role), participant, role) for role in c.llm.special_roles}
        return ByRole(model, special) if special else model

    def _live(self, config: ModelConfig, participant: str, role: str = "") -> Model:
        if not isinstance(config, ProviderConfig):
            raise TypeError(f"llm={config.name}: the values of a provider must be a ProviderConfig")
        seeds = self.configuration.seeds.child("models").child(participant)
        seeds = seeds.child(role) if role else seeds
        others = fallbacks_of(config)
        model, price = self._reached(config, seeds, patient=self.pool.patient or bool(others))
        fallbacks = [self._fallback(other, seeds.child("fallback").child(index)) for index, other in enumerate(others)]
        with as_user_errors(config):
            stack = build_stack(
                model,
                name=config.label,
                max_repairs=self.configuration.max_repairs,
                spending=self.books.spending,
                allowance=self.books.allowance,
                price=price,
                priced=config.priced,
                fallbacks=fallbacks,
                given=self.books.given,
                sink=self.books.enter,
                keep=self.books.keep,
                under_way=self.pool.under_way,
            )
        return ConfiguredModel(
            stack,
            participant,
            sampling_of(config, self._draw),
            config.max_tokens_per_agent,
            sample=first_sample(self.configuration.episode, self._draw),
            deadline=partial(deadline_of, config.deadlines, config.deadline),
            prepare=grounded if config.grounded_schema else None,
        )

    def _reached(self, config: ProviderConfig, seeds: Seeds, *, patient: bool = True) -> tuple[Model, Price | None]:
        """Return a model with its limits, retries and cache, and its price."""
        client = self.pool.client(config)
        caching = None
        cache = self.pool.cache(config) if config.caches else None
        if cache is not None:
            caching = partial(Cached, cache=cache, identity=client.identity, sampled=config.cache is True)
        price = config.price or client.model.price
        model = with_access(
            self.pool.model(client, self.cell),
            rng=random.Random(seeds.integer()),
            retry=RetryRules(config.tries, config.rate_limited_tries, config.max_wait, FIRST_WAIT, LONGEST_WAIT),
            patient=patient,
            limits=self.pool.limits(client),
            caching=caching,
            price=price,
        )
        return model, price

    def _fallback(self, config: ProviderConfig, seeds: Seeds) -> Fallback:
        model, price = self._reached(config, seeds)
        name = f"{provider_name(config.name, config.label, config.address)}/{config.label}"
        return Fallback(name, model, partial(drawn_for, config, draw=self._draw), config.priced or price is not None)

    def _replayed(self, recorded: Replay, participant: str) -> Model:
        stack = build_stack(
            recorded,
            name="replay",
            spending=self._spending,
            priced=True,
            max_repairs=self.configuration.max_repairs,
            widens=recorded.knows,
            sink=self.books.enter if self._spending is None else self.books.enter_recorded,
            keep=self.books.keep,
        )
        sampling = recorded.sampling_of(participant)
        prepare = partial(as_recorded, recorded)
        sample = first_sample(self.configuration.episode, self._draw)
        return ConfiguredModel(stack, participant, sampling, sample=sample, prepare=prepare)
