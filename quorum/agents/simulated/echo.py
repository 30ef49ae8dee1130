"""Answers copied from the example in the prompt, in which all agents choose the same names.

Where decoding is constrained, a model that only copies the worked example and inserts names that exist already acts
sensibly. Where all agents copy alike, their team even meets at the same block without a word. A model must exceed this
before its answers say anything about a mind or about cooperation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import orjson

from quorum.agents.llm.protocol import ChatRole, Request
from quorum.agents.prompting.blocks import BLOCK
from quorum.agents.prompting.instances import random_instance
from quorum.agents.simulated import ECHO
from quorum.agents.simulated.chance import LONGEST, RandomModel
from quorum.agents.simulated.copying import copied
from quorum.agents.simulated.model import name_draw
from quorum.agents.simulated.reading import find_blocks


class EchoModel(RandomModel):
    """Copies the worked example of the turn (`copied`), with names that the schema allows.

    The example is about another board, so a grounded schema allows none of its blocks and agents. In their place stands
    the first allowed name in an order of all names that the seed and the sample decide. Prompts do not change the
    order: agents that may choose the same names choose the same one, and keep to it while it is allowed. Everything
    else that it does and says is the example's, or drawn where it has no counterpart.
    """

    option, label = "echo", ECHO

    def read(self, request: Request) -> str:
        """Return the data of the turn: the example's own words are about another board."""
        return " ".join(find_blocks(request)[0].values())

    def answer(self, request: Request, schema: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Return the example, changed as little as the schema requires.

        Raises:
            ValueError: the prompt has no example, or no value matches the schema.
        """
        example = find_example(request)
        if example is None:
            raise ValueError("the prompt has no worked example, so choose prompts=default")
        definitions = schema.get("$defs", {})
        order = f"{self.seed}\0{name_draw(request)}\0"

        def place(name: object) -> bytes:
            return hashlib.sha256(order.encode() + orjson.dumps(name)).digest()

        def chosen(part: Mapping[str, Any]) -> Any:
            if part.get("enum"):
                return min(part["enum"], key=place)
            return random_instance(part, definitions, rng, max(LONGEST, request.agents))

        return copied(example, schema, definitions, chosen)


def find_example(request: Request) -> Mapping[str, Any] | None:
    """Return the last worked example of a prompt: a line of JSON, an object, outside the blocks; None without one.

    Examples of an earlier turn come before that of this turn, and what a model has answered is none.
    """
    texts = (message.content for message in reversed(request.messages) if message.role is not ChatRole.ASSISTANT)
    for text in texts:
        for line in reversed(BLOCK.sub("", text).splitlines()):
            if line.startswith("{"):
                with suppress(orjson.JSONDecodeError):
                    found: Mapping[str, Any] = orjson.loads(line)
                    return found
    return None
