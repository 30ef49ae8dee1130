"""A model without a network: rules answer in a language model's place, with faults at set rates."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Annotated, Any

import numpy as np
import orjson
from pydantic import BaseModel, ConfigDict, Field

from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.protocol import ChatMessage, Finish, ProvidedModel, Reply, Request, Usage
from quorum.agents.naive.answers import write
from quorum.agents.simulated import baselines, inject_errors
from quorum.agents.simulated.llamac import ROLES, play
from quorum.agents.simulated.minimal_instance import minimal_instance
from quorum.agents.simulated.reading import find_blocks, read_view

Rate = Annotated[float, Field(ge=0, le=1)]
Money = Annotated[float, Field(ge=0)]

NAME = "simulated"
"""What it calls itself; everything that is made of its answers says so."""

WORLDS = ("cube", "crafter", "transport", "squeeze")
"""Worlds that it has rules for."""

CHARACTERS_PER_TOKEN = 4


class SimulatedSettings(BaseModel):
    """How a simulated model behaves. The rates are independent draws of each request."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int
    """Of all its draws."""
    malformed: Rate
    """Probability that an answer is no valid JSON."""
    invalid: Rate
    """Probability that a plan is invalid: half of them name something that is not there, half have a wrong argument."""
    poor: Rate
    """Probability that a choice is made at random instead of by the rules."""
    refusal: Rate
    """Probability that it refuses to answer."""
    prose: Rate
    """Probability that there is prose or a code fence around the JSON."""
    usd_per_million_prompt: Money
    """Price of a million tokens read."""
    usd_per_million_completion: Money
    """Price of a million tokens written."""
    latency: Annotated[float, Field(ge=0)]
    """Seconds that each answer takes."""


class SimulatedModel(ProvidedModel):
    """Answers the requests of all minds of this project that ask a model, by the rules of a world's rule-based minds.

    It reads the blocks of the prompt and nothing else, keeps nothing from request to request, and answers in the format
    that is asked for; so it works behind a server too. An answer depends on the seed, on the blocks, on what follows
    them (a request to mend a wrong answer), and on the number of the sample: neither on order nor on concurrency, nor
    on the words around the blocks. A request that shows no turn gets the smallest answer that fits its schema.

    Tokens are characters / 4, rounded up; money is tokens times the price of the settings.

    Args:
        settings: rates, prices, latency.
    """

    def __init__(self, settings: SimulatedSettings) -> None:
        self._settings = settings

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            BadRequest: there are no rules for the world or the vocabulary of the prompt, or its blocks cannot be read.
        """
        begin = time.perf_counter()
        text, finish = self._speak(request)
        if self._settings.latency:
            await asyncio.sleep(self._settings.latency)
        usage = Usage(_tokens(*(message.content for message in request.messages)), _tokens(text))
        if usage.completion > request.sampling.max_tokens:
            text, finish = text[: request.sampling.max_tokens * CHARACTERS_PER_TOKEN], Finish.LENGTH
            usage = Usage(usage.prompt, _tokens(text))
        usd = (
            usage.prompt * self._settings.usd_per_million_prompt
            + usage.completion * self._settings.usd_per_million_completion
        ) / 1e6
        return Reply(text, finish, usage, usd, time.perf_counter() - begin, NAME, simulated=True)

    def _speak(self, request: Request) -> tuple[str, Finish]:
        blocks, later = find_blocks(request)
        if not blocks:
            return _without_world(request), Finish.STOP
        settings = self._settings
        chance, choice, fault = (
            np.random.Generator(np.random.PCG64(seed)) for seed in _seeds(settings.seed, blocks, later, request.sample)
        )
        refuses, malforms, invalidates, adds = (
            chance.random(4) < (settings.refusal, settings.malformed, settings.invalid, settings.prose)
        ).tolist()
        if refuses:
            return inject_errors.REFUSAL, Finish.REFUSAL
        value = _answer(blocks, settings.poor, choice)
        if request.answer is not None and (most := _most_actions(request.answer.schema)) is not None:
            for plan in inject_errors.plans_of(value):
                del plan["actions"][most:]
        if invalidates:
            change = inject_errors.refuse_state if fault.random() < 0.5 else inject_errors.refuse_types
            value = change(value, fault) or value
        text = orjson.dumps(value).decode()
        if malforms:
            return inject_errors.break_json(text, fault), Finish.STOP
        return (inject_errors.wrap(text, fault) if adds else text), Finish.STOP


def _answer(blocks: Mapping[str, str], poor: float, rng: np.random.Generator) -> dict[str, Any]:
    """Answer a turn, or in a role of LLaMAC or of the baselines, by the rules of the world."""
    try:
        turn = orjson.loads(blocks["turn"])
        world, vocabulary = turn["world"], frozenset(turn["vocabulary"])
        if world not in WORLDS:
            raise BadRequest(
                f"llm=simulated has no rules for the world '{world}'; it has rules for: {', '.join(WORLDS)}"
            )
        speaker: Any = import_module(f"quorum.agents.skills.{world}.speaker")  # only the world in use is loaded
        if turn["role"] in ROLES:
            return play(blocks, speaker, poor, rng)
        if turn["role"] in baselines.ROLES:
            return baselines.play(blocks, speaker, poor, rng)
        view = read_view(blocks, speaker.read_observation(blocks["observation"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadRequest(f"llm=simulated cannot read the prompt: {type(error).__name__}: {error}") from error
    return write(speaker.answer(view, vocabulary, poor, rng), view)


def _most_actions(schema: object) -> int | None:
    """Find how many actions a plan of the wanted form may have; None where the schema does not say."""
    match schema:
        case {"actions": {"maxItems": int(found)}}:
            return found
        case dict():
            parts = list(schema.values())
        case list():
            parts = schema
        case _:
            return None
    return next((most for part in parts if (most := _most_actions(part)) is not None), None)


def _without_world(request: Request) -> str:
    if request.answer is None:
        return "This is a simulated model."
    try:
        return orjson.dumps(minimal_instance(request.answer.schema)).decode()
    except (ValueError, KeyError) as error:
        raise BadRequest(
            f"llm=simulated: the prompt has no block 'turn', and its schema cannot be filled: {error}"
        ) from error


def _seeds(seed: int, blocks: Mapping[str, str], later: Sequence[ChatMessage], sample: int) -> tuple[int, ...]:
    """Give the seeds of the draws of one request: which faults, which choices, how the faults look."""
    parts = [str(seed), str(sample), *(f"{name} {blocks[name]}" for name in sorted(blocks))]
    parts += [f"{message.role.value} {message.content}" for message in later]
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return tuple(int.from_bytes(digest[start : start + 8], "little") for start in (0, 8, 16))


def _tokens(*texts: str) -> int:
    return -(-sum(map(len, texts)) // CHARACTERS_PER_TOKEN)
