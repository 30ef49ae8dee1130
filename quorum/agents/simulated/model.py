"""A model without a network: rules answer instead of a language model, with faults at configured rates."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import FunctionType
from typing import Any

import numpy as np
import orjson

from maeil.mind import Thought
from quorum.agents.answer_parts import Asked, all_parts
from quorum.agents.llm.embeddings import reply_with, wants_embeddings
from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.limits import estimate_prompt
from quorum.agents.llm.protocol import ChatMessage, Finish, Reply, Request, Usage
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.naive.answers import write
from quorum.agents.prompting.instances import minimal_instance
from quorum.agents.simulated import NAME, SimulatedSettings, inject_errors
from quorum.agents.simulated.fitting import fit
from quorum.agents.simulated.reading import (
    find_actions,
    find_blocks,
    read_text_blocks,
    read_view,
    resolve_choices,
)
from quorum.agents.simulated.uninformed import UninformedSpeaker
from quorum.agents.skills import Chooser, Speaker, skills_of
from quorum_base.names import unfold_names
from quorum_base.ngrams import BUCKETS, count_ngrams
from quorum_base.registry import Registry

UNINFORMED = "simulated (uninformed)"
"""Name of the model in a world without rules, or if only a picture shows the state."""

_SHOWN = frozenset({"observation", "state"})
"""The blocks that show the world; a role prompt has one of them."""

EMBEDDING_LENGTH = 64
"""Dimensions of an embedding."""
CHARACTERS_PER_TOKEN = 4


class SimulatedModel(ProvidedModel):
    """Answers the requests of all minds in this project that use a model, with the rules of the world's speaker.

    In a world without a speaker it answers with valid but uninformed plans, and its name is `UNINFORMED`. The same
    applies if only a picture shows the observation, because it does not read pictures.

    It reads the blocks of the prompt and the names of the actions, keeps no state between requests, and answers in the
    requested format, so it also works behind a server. It samples at the request's temperature; without one it only
    follows the rules. A draw depends on the seed, the data in the blocks (`data_of`), the number of messages after them
    (wrong answers, each with a request to fix it), the sampling seed and the sample number. It does not depend on
    order, concurrency or any sentence of the prompt, so a better prompt moves no figure. A request without a turn gets
    the smallest answer that matches its schema.

    Tokens are characters / 4, rounded up, and pictures count by the rules of `quorum.agents.llm.pictures`; the cost is
    tokens times the configured price.

    Args:
        settings: rates, prices, latency.
        name: model name in its replies, in worlds it knows.
    """

    def __init__(self, settings: SimulatedSettings, name: str = NAME) -> None:
        self._name = name
        self.settings = settings
        """Rates, prices, latency."""

    def think(self, asked: Asked) -> Thought:
        """Decide what to do and say in a turn, as the prompt's methods require; subclasses may support more methods."""
        found = (part.thinks(asked) for part in all_parts())
        thought = next((thought for thought in found if thought is not None), None)
        return asked.speaker.answer(asked.view, asked.chooser) if thought is None else thought

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            BadRequest: there are no rules for the prompt's vocabulary, or its blocks cannot be read.
        """
        begin = time.perf_counter()
        if wants_embeddings(request):
            return self._embed(request)
        blocks, later = find_blocks(request)
        if blocks:
            text, finish, name = self._speak(request, blocks, later)
        else:
            text, finish, name = _without_world(request), Finish.STOP, self._name
        if self.settings.latency:
            await asyncio.sleep(self.settings.latency)
        usage = Usage(math.ceil(estimate_prompt(request)), _tokens(text))
        if usage.completion > request.sampling.max_tokens:
            text, finish = text[: request.sampling.max_tokens * CHARACTERS_PER_TOKEN], Finish.LENGTH
            usage = Usage(usage.prompt, _tokens(text))
        usd = (
            usage.prompt * self.settings.usd_per_million_prompt
            + usage.completion * self.settings.usd_per_million_completion
        ) / 1e6
        seconds = time.perf_counter() - begin
        wanted = (("effort", request.sampling.effort), ("thinking_tokens", request.sampling.thinking_tokens))
        not_sent = tuple(key for key, value in wanted if value is not None)  # rules do not think
        return Reply(text, finish, usage, usd, seconds, name, not_sent=not_sent, simulated=True)

    def _embed(self, request: Request) -> Reply:
        """Embed the texts of a request; reading costs as usual, and no tokens are written."""
        usage = Usage(math.ceil(estimate_prompt(request)), 0)
        usd = usage.prompt * self.settings.usd_per_million_prompt / 1e6
        vectors = [embed(message.content) for message in request.messages]
        return reply_with(vectors, request, usage, self._name, usd=usd, simulated=True)

    def _speak(
        self, request: Request, blocks: Mapping[str, str], later: Sequence[ChatMessage]
    ) -> tuple[str, Finish, str]:
        """Return the answer to a turn, why it ends, and the model name for it."""
        settings = self.settings
        chance, choice, fault = (
            np.random.Generator(np.random.PCG64(seed))
            for seed in _seeds(settings.seed, blocks, later, name_draw(request))
        )
        refuses, malforms, invalidates, adds = (
            chance.random(4) < (settings.refusal, settings.malformed, settings.invalid, settings.prose)
        ).tolist()
        schema = request.answer.schema if request.answer is not None else {}
        with _reading():
            turn = orjson.loads(blocks["turn"])
        if isinstance(turn, dict) and str(turn.get("role", "")).startswith("reader_"):
            return _read(blocks), Finish.STOP, self._name
        speaker: Speaker[Any] = UninformedSpeaker(schema)
        name = UNINFORMED
        if any(message.pictures for message in request.messages) and not _SHOWN & blocks.keys():
            blocks = {**blocks, "observation": "null"}
        else:
            known = _speaker(turn, blocks, find_actions(request))
            speaker, name = (known, self._name) if known is not None else (speaker, name)
        with _reading():
            blocks, notation = read_text_blocks(blocks)
            turn = orjson.loads(blocks["turn"])
        if refuses:
            return inject_errors.REFUSAL, Finish.REFUSAL, name
        chooser = Chooser(choice, settings.poor, request.sampling.temperature or 0.0)
        value = fit(self._answer(turn, blocks, speaker, chooser), schema, schema.get("$defs", {}))
        if notation is not None:
            resolve_choices(value, blocks)
        elif settings.wasted:
            inject_errors.waste(value, schema, settings.wasted, fault)
        if invalidates:
            wrong = inject_errors.NOT_THERE if fault.random() < 0.5 else inject_errors.WRONG_TYPES
            value = inject_errors.change(value, wrong, fault) or value
        text = orjson.dumps(value).decode() if notation is None else notation.write_answer(value, turn["you"])
        if malforms:
            return inject_errors.break_json(text, fault), Finish.STOP, name
        return (inject_errors.wrap(text, fault) if adds else text), Finish.STOP, name

    def _answer(
        self, turn: Mapping[str, Any], blocks: Mapping[str, str], speaker: Speaker[Any], chooser: Chooser
    ) -> dict[str, Any]:
        """Answer a turn or a role prompt by the rules of the world, and answer the methods' questions."""
        with _reading():
            if (role := turn.get("role", "")) in players.names():
                return players.get(role)(blocks, speaker, chooser)
            view = read_view(blocks, speaker.read_observation(blocks["observation"]), speaker.vocabulary)
            asked = Asked(view, blocks, turn, speaker, not isinstance(speaker, UninformedSpeaker), chooser)
        thought = self.think(asked) if view.turn.acts else Thought()
        parts = [part for part in all_parts() if part.asked(turn)]
        said = {part.name: part.says(asked) for part in parts}
        return write(replace(thought, answers=said), view, parts)


def _speaker(turn: Mapping[str, Any], blocks: Mapping[str, str], vocabulary: frozenset[str]) -> Speaker[Any] | None:
    """Return the speaker of a prompt's world; None if it has none."""
    with _reading():
        skills, team = skills_of(turn["world"]), unfold_names(turn.get("team", ()))
        facts = orjson.loads(blocks.get("facts", "{}"))
    if not skills.has("speaker"):
        return None
    try:
        speaker = skills.speaker()
        speaker = speaker.for_vocabulary(vocabulary or frozenset(speaker.vocabulary.names))
        return speaker.for_facts(facts, team)
    except ValueError as error:
        lacking = f"llm=simulated has no rules for this vocabulary of the world '{skills.world}'"
        raise BadRequest(f"{lacking}: {error}") from error


players: Registry[Callable[..., dict[str, Any]]] = Registry(
    "simulated role", "simulated roles", "llm", "quorum.simulated", lambda: FunctionType
)
"""Functions that answer role prompts, by role: `(blocks, speaker, chooser)`."""


def _read(blocks: Mapping[str, str]) -> str:
    """Answer a reader's question about a run; fault rates apply to decisions only, not to readers."""
    from quorum.agents.simulated import reader

    with _reading():
        return orjson.dumps(reader.answer(blocks)).decode()


@contextmanager
def _reading() -> Iterator[None]:
    """Refuse an unreadable prompt."""
    try:
        yield
    except (ValueError, KeyError, TypeError, StopIteration) as error:
        raise BadRequest(f"llm=simulated cannot read the prompt: {type(error).__name__}: {error}") from error


def _without_world(request: Request) -> str:
    if request.answer is None:
        return "This is a simulated model."
    try:
        return orjson.dumps(minimal_instance(request.answer.schema)).decode()
    except (ValueError, TypeError) as error:
        raise BadRequest(
            f"llm=simulated: the prompt has no block 'turn', and no answer can be made from its schema: {error}"
        ) from error


def name_draw(request: Request) -> str:
    """Return the name of a draw for a prompt: its sample, the seed sent, and whether it repeats an empty answer."""
    seed, again = request.sampling.seed, request.sampling.room_factor
    parts = [str(request.sample)]
    parts += [f"seed {seed}"] if seed is not None else []
    parts += [f"with {again} times the room"] if again is not None else []
    return " ".join(parts)


def _seeds(seed: int, blocks: Mapping[str, str], later: Sequence[ChatMessage], sample: str) -> tuple[int, ...]:
    """Return the seeds of the draws of one request: which faults, which choices, how the faults look."""
    parts = [str(seed), sample, *data_of(blocks), *(message.role.value for message in later)]
    digest = hashlib.sha256("\0".join(parts).encode()).digest()
    return tuple(int.from_bytes(digest[start : start + 8], "little") for start in (0, 8, 16))


def data_of(blocks: Mapping[str, str]) -> list[str]:
    """Return the data of a prompt's blocks in a canonical form, without its sentences.

    There is an entry for each block, ascending by name. A block that is not JSON contributes its name alone.
    """
    return [f"{name} {_without_sentences(blocks[name])}" for name in sorted(blocks)]


_SENTENCE = re.compile(r"[a-z]{2,},? [a-z]")
"""What sentences contain and names, cells and rows of a map do not."""


def _without_sentences(text: str) -> str:
    try:
        value = orjson.loads(text)
    except ValueError:
        return ""
    return orjson.dumps(_plain_data(value), option=orjson.OPT_SORT_KEYS).decode()


def _plain_data(value: Any) -> Any:
    match value:
        case str():
            return None if _SENTENCE.search(value) else value
        case list():
            return [_plain_data(entry) for entry in value]
        case dict():
            return {key: _plain_data(entry) for key, entry in value.items()}
    return value


def _tokens(*texts: str) -> int:
    return -(-sum(map(len, texts)) // CHARACTERS_PER_TOKEN)


def embed(text: str) -> list[float]:
    """Return an embedding from character n-grams, without meaning: of length 1, or 0 for an empty text."""
    found = count_ngrams(text).reshape(EMBEDDING_LENGTH, BUCKETS // EMBEDDING_LENGTH).sum(axis=1)
    length = float(np.sqrt((found * found).sum()))
    return (found / max(length, 1.0)).tolist()  # type: ignore[no-any-return]
