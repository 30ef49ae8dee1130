"""How a mind calls a language model: the requests that it makes."""

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
"""What a mind asks of the sampling: nothing. The stack of a model puts the configured values in its place."""


TURNS = ("plan", "talk", "acknowledge", "interrupted", "refused")
"""The sorts of turns: to plan, to say something, to acknowledge, to decide about a plan that a message has interrupted,
and to answer again because what was said before was refused. A turn may be of several."""


def turn_of(view: View, *, refused: bool = False) -> tuple[str, ...]:
    """Return what sort of turn a view is of.

    Args:
        view: the turn.
        refused: whether an earlier answer was refused though the loop does not know it.
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
    """Makes requests; a prompt that was asked before becomes a new sample of it."""

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
        """Return the request for an answer.

        Args:
            messages: the prompt.
            wanted: the form of the answer; None for a text.
            view: the turn in which it is asked.
            agents: for how many agents the answer has a plan, at most.
            role: the role in which it is asked; empty: that of the turn.
            refused: whether an earlier answer was refused though the loop does not know it.
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
    """Asks the model of one participant for typed answers, again with the reasons while they have other types.

    Attributes:
        model: what answers.
        repairs: times that it is asked again.
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
        """Return what an answer says, and all calls; None where there is no valid one after all repairs, and why.

        Args:
            write: writes the prompt, given what was wrong with the answer before.
            wanted: the form of the answer.
            read: reads an answer, or raises `InvalidThought`.
            view: the turn in which it is asked.
            role: the role in which it is asked, for the records; empty: that of the turn.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: the model cannot be asked at all.
            maeil.errors.EpisodeStop: a budget is used up, or the provider does not answer.
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
