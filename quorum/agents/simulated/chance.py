"""Answers drawn at random from their schema: what the schema alone is worth, which a model must exceed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from quorum.agents.llm.embeddings import reply_with, wants_embeddings
from quorum.agents.llm.errors import BadRequest
from quorum.agents.llm.protocol import ChatRole, Finish, Reply, Request, Usage
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.prompting.instances import random_instance, with_words
from quorum.agents.simulated import CHANCE
from quorum.agents.simulated.model import data_of, embed, name_draw
from quorum.agents.simulated.reading import find_blocks

LONGEST = 3
"""Maximum list entries: actions of a plan, messages. A joint plan may have as many as there are agents to plan for."""
_QUOTED = re.compile(r'"([^"\\\n]*)"')
_FREE = Usage(0, 0)


class RandomModel(ProvidedModel):
    """Draws each answer from its schema, uniformly at each choice (`random_instance`).

    It does not interpret the prompt. The data in the prompt, the seed and the sample number identify the draw, so equal
    requests get equal answers in any order, and other words around the data change no answer. Texts that must match a
    pattern are drawn from those that the prompt quotes. It reads and writes no tokens, so it is free and uses up no
    budget of tokens.

    Args:
        seed: seed of all its draws.
    """

    option, label = "random", CHANCE

    def __init__(self, seed: int) -> None:
        self.seed = seed

    async def complete(self, request: Request) -> Reply:
        """Make an answer.

        Raises:
            BadRequest: the request is for text instead of JSON, or no value matches the schema.
        """
        if wants_embeddings(request):
            vectors = [embed(message.content) for message in request.messages]
            return reply_with(vectors, request, _FREE, self.label, usd=0.0, simulated=True)
        if request.answer is None:
            raise BadRequest(f"llm={self.option} needs the schema of an answer, not free text: choose prompts=default")
        schema = with_words(request.answer.schema, set(_QUOTED.findall(self.read(request))))
        try:
            value = self.answer(request, schema, self._generator(request))
        except ValueError as error:
            name = request.answer.name
            raise BadRequest(f"llm={self.option} cannot draw from the schema {name!r}: {error}") from error
        return Reply(orjson.dumps(value).decode(), Finish.STOP, _FREE, 0.0, 0.0, self.label, simulated=True)

    def read(self, request: Request) -> str:
        """Return the text whose quoted words may be drawn."""
        return " ".join(message.content for message in request.messages if message.role is not ChatRole.SYSTEM)

    def answer(self, request: Request, schema: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Return an answer that matches the schema.

        Raises:
            ValueError: there is none.
        """
        return random_instance(schema, schema.get("$defs", {}), rng, max(LONGEST, request.agents))

    def _generator(self, request: Request) -> np.random.Generator:
        parts = [str(self.seed), name_draw(request)]
        blocks, later = find_blocks(request)
        parts += data_of(blocks) if blocks else [message.content for message in request.messages]
        parts += [message.role.value for message in later]
        parts += [picture.hash for message in request.messages for picture in message.pictures]
        digest = hashlib.sha256("\0".join(parts).encode()).digest()
        return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))
