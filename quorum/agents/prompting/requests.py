"""The requests that minds make to language models."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from maeil.calls import Call
from maeil.errors import InvalidThought
from maeil.mind import Act, View
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, Model, Origin, Request, Sampling
from quorum.agents.llm.records import answered, invalid
from quorum.agents.prompting.schemas import compact

T = TypeVar("T")

UNSET = Sampling(temperature=None, max_tokens=4096)
"""Sampling parameters of a mind's request: empty. The model's wrappers insert the configured values."""


TURNS = ("plan", "talk", "acknowledge", "interrupted", "refused")
"""Kinds of turns: plan, speak, acknowledge, decide about a plan that a message has interrupted, and answer again after
a refusal. A turn may have several kinds."""


def turn_of(view: View, *, refused: bool = False) -> tuple[str, ...]:
    """Return the kinds of a turn.

    Args:
        view: the turn.
        refused: whether an earlier answer was refused without the loop knowing.
    """
    plans = Act.PLAN in view.turn.acts
    is_of = {
        "plan": plans and view.plan is None,
        "talk": Act.SPEAK in view.turn.acts or bool(view.turn.asks),
        "acknowledge": Act.ACKNOWLEDGE in view.turn.acts,
        "interrupted": plans and view.plan is not None,
        "refused": refused or bool(view.problems),
    }
    return tuple(sort for sort in TURNS if is_of[sort])


class RequestCounter:
    """Makes requests; a repeated prompt becomes a new sample."""

    def __init__(self) -> None:
        self._asked: Counter[bytes] = Counter()

    def request(
        self,
        messages: tuple[ChatMessage, ...],
        wanted: AnswerFormat | None,
        view: View,
        *,
        agents: int = 1,
        role: str = "",
        refused: bool = False,
    ) -> Request:
        """Return a request.

        Args:
            messages: the prompt.
            wanted: schema of the answer; None for text.
            view: the turn.
            agents: maximum number of agents that the answer plans for.
            role: the participant's role; empty: the role of the turn.
            refused: whether an earlier answer was refused without the loop knowing.
        """
        parts = [[m.role.value, m.content, *(picture.hash for picture in m.pictures)] for m in messages]
        joined = "\0".join(text for part in parts for text in part)
        digest = hashlib.sha256(joined.encode()).digest()
        self._asked[digest] += 1
        origin = Origin(view.name, view.t, role or view.turn.role, turn_of(view, refused=refused))
        answer = wanted.changed(compact) if wanted is not None else None
        return Request(messages, answer, UNSET, self._asked[digest] - 1, agents, origin)


@dataclass
class Asker:
    """Asks one participant's model for typed answers, and again with the reasons after malformed ones.

    Attributes:
        model: the model.
        repairs: maximum number of repeated requests.
    """

    model: Model
    repairs: int
    requests: RequestCounter = field(default_factory=RequestCounter)

    async def ask(
        self,
        write: Callable[[tuple[str, ...]], tuple[ChatMessage, ...]],
        wanted: AnswerFormat,
        read: Callable[[object], T],
        view: View,
        *,
        role: str = "",
    ) -> tuple[T | None, tuple[str, ...], tuple[Call, ...]]:
        """Return the answer as read, all calls, and the reasons if there is no valid answer after all repairs.

        Args:
            write: writes the prompt, given the problems of the last answer.
            wanted: schema of the answer.
            read: reads an answer, or raises `InvalidThought`.
            view: the turn.
            role: the participant's role, for the records; empty: the role of the turn.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: the model cannot be used at all.
            maeil.errors.EpisodeStop: a budget is exhausted, or the provider does not answer.
        """
        notes = {"role": str(role)} if role else {}
        calls: tuple[Call, ...] = ()
        reasons: tuple[str, ...] = ()
        for repair in range(self.repairs + 1):
            request = self.requests.request(write(reasons), wanted, view, role=role, refused=bool(repair))
            try:
                reply = await self.model.complete(request)
            except AnswerInvalid as error:
                return None, error.reasons, (*calls, invalid(error).noted(**notes))
            try:
                found = read(reply.value)
            except InvalidThought as error:
                reasons = error.reasons
                calls += (answered(reply, repairs=min(repair, 1), parse_failure=True).noted(**notes),)
            else:
                return found, (), (*calls, answered(reply, repairs=min(repair, 1)).noted(**notes))
        return None, reasons, calls
