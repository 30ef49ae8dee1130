"""How the configuration has a request drawn: sampling, room, deadline, form; and who asked."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from maeil.seeds import Seeds
from quorum.agents.llm.errors import ContextExceeded, ContextOverflow
from quorum.agents.llm.protocol import Model, Origin, Reply, Request, Sampling
from quorum.agents.llm.replay import Replay
from quorum.experiments.configuration.providers.config import ProviderConfig
from quorum.experiments.episode.by_role import deadline_of

_log = logging.getLogger(__name__)
_SAMPLES = 1000
"""Between the numbers of the samples of one prompt in two episodes of a line."""
_DRAWS = 10**9
"""Between those in two draws of one episode."""
_SEEDS = 2**31
"""Seeds of samples that every provider takes."""


def first_sample(episode: int, draw: int) -> int:
    """Return the number of the first sample of a prompt.

    Args:
        episode: number in a line of episodes: a prompt of a later one is another sample of it.
        draw: of an episode that is drawn more than once (`quorum.experiments.episode.draws.sample_number`).
    """
    return episode * _SAMPLES + draw * _DRAWS


def sampling_of(config: ProviderConfig, draw: int = 0) -> Sampling:
    """Return how answers are drawn; where the provider is told a seed, by another one in each draw."""
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
    )


def drawn_for(config: ProviderConfig, request: Request, draw: int = 0) -> Request:
    """Return a request as the values of a fallback have it drawn; its form stays that of the chosen model."""
    longest = config.max_tokens + config.max_tokens_per_agent * (request.agents - 1)
    origin = request.origin or Origin("", 0)
    deadline = deadline_of(config.deadlines, config.deadline, origin)
    room = request.sampling.times_the_room
    sampling = replace(sampling_of(config, draw), max_tokens=longest, times_the_room=room)
    return replace(request, sampling=sampling, deadline=deadline)


def grounded(request: Request) -> Request:
    """Return a request whose schema names what exists in its turn."""
    return replace(request, answer=request.answer.ground()) if request.answer is not None else request


def as_recorded(recorded: Replay, request: Request) -> Request:
    """Return a request with the sampling, and with the schema of its turn or the common one, that were recorded."""
    return recorded.as_recorded(grounded(request)) or recorded.as_recorded(request) or request


class ConfiguredModel:
    """The outermost wrapper: the configuration decides how answers are drawn, and the record says who asked.

    A prompt that the model's context has no room for ends the episode (`ContextExceeded`).

    Args:
        model: what answers.
        participant: who asks.
        sampling: how answers are drawn, those for one agent.
        more: tokens that the answer may have for each further agent.
        sample: number of the first sample of a prompt.
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
        sample: int = 0,
        deadline: Callable[[Origin], float | None] = lambda _: None,
        prepare: Callable[[Request], Request] | None = None,
    ) -> None:
        self._model = model
        self._participant = participant
        self._sampling = sampling
        self._more = more
        self._first_sample = sample
        self._deadline = deadline
        self._prepare = prepare

    async def complete(self, request: Request) -> Reply:
        """Ask, as the configuration says.

        Raises:
            ContextExceeded: the prompt and its answer do not fit into the model's context.
            LanguageModelError: there is no answer.
        """
        origin = request.origin or Origin(self._participant, 0)
        _log.debug("%s asks in step %d: %d messages", self._participant, origin.t, len(request.messages))
        longest = self._sampling.max_tokens + self._more * (request.agents - 1)
        sampling = replace(self._sampling, max_tokens=longest)
        request = replace(
            request,
            sampling=sampling,
            sample=self._first_sample + request.sample,
            origin=origin,
            deadline=self._deadline(origin),
        )
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
