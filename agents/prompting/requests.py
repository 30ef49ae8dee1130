"""How a mind calls a language model: the requests that it makes."""

from __future__ import annotations

import hashlib
from collections import Counter

from maeil.mind import View
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, Origin, Request, Sampling

UNSET = Sampling(temperature=None, max_tokens=4096)
"""What a mind asks of the sampling: nothing. The stack of a model puts the configured values in its place."""


class RequestCounter:
    """Makes requests; a prompt that was asked before is another sample of it."""

    def __init__(self) -> None:
        self._asked: Counter[bytes] = Counter()

    def request(
        self, messages: tuple[ChatMessage, ...], wanted: AnswerFormat | None, view: View, *, agents: int = 1
    ) -> Request:
        """Return the request for an answer.

        Args:
            messages: the prompt.
            wanted: the form of the answer; None for a text.
            view: the turn in which it is asked.
            agents: for how many agents the answer has a plan, at most.
        """
        joined = "\0".join(f"{message.role.value}\0{message.content}" for message in messages)
        digest = hashlib.sha256(joined.encode()).digest()
        self._asked[digest] += 1
        return Request(messages, wanted, UNSET, self._asked[digest] - 1, agents, Origin(view.name, view.t))
