"""Structured answers: parsed, checked by their schema, and asked for again with the reasons when they are wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from quorum.agents.llm.booking import Booking
from quorum.agents.llm.errors import AnswerInvalid, EmptyAnswer
from quorum.agents.llm.extraction import NoAnswer, extract
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Model, Rejected, Reply, Request, Sampling
from quorum.agents.llm.records import describe_reply
from quorum.agents.llm.validation import Validator, validator_of

_LONGEST_QUOTED = 4000
_NOTHING = "(nothing)"
EMPTY = "the answer is empty"
"""Reason for which an answer without anything is asked for again."""
TIMES_THE_ROOM = 2


class Structuring:
    """A model whose answers are of the wanted form.

    The text is parsed as it stands, else searched for the one JSON object that fits (prose around it, code fences),
    and checked by the schema. What is wrong goes back to the model with the reasons, at most `max_repairs` times. Every
    answer is entered in the ledger of its thought when it comes. A free text is taken as it is.

    An answer that is empty (only thoughts, nothing, a refusal) has nothing to mend: the same is asked once more, with
    twice the room. If that comes back empty, too, the call has failed.

    Args:
        model: the model.
        max_repairs: how often an answer may be asked for again.
        widens: whether a request with more room may be sent; a replay knows those that were.
    """

    def __init__(self, model: Model, max_repairs: int, widens: Callable[[Request], bool] = lambda _: True) -> None:
        self._model = model
        self._max_repairs = max_repairs
        self._widens = widens

    async def complete(self, request: Request) -> Reply:
        """Answer a request; tokens, money, time and tries are those of all answers together.

        Raises:
            EmptyAnswer: no answer came, twice.
            AnswerInvalid: no answer of the wanted form came.
            quorum.agents.llm.validation.UnsupportedSchema: the schema has a keyword that cannot be checked.
        """
        booking = Booking()
        validator = None if request.answer is None else validator_of(request.answer.schema)
        rejected: list[Rejected] = []
        left = self._max_repairs
        widened = wider_now = False
        asked = request
        while True:
            reply = await booking.ask(self._model, asked, wider=wider_now)
            wider_now = False
            if is_empty(reply):
                if widened:
                    raise _failed(booking, rejected, reply.finish)
                if self._widens(wider := _with_more_room(asked)):
                    rejected.append(Rejected(reply.text, (f"{EMPTY} ({reply.finish})",)))
                    asked, request, widened = wider, _with_more_room(request), True
                    wider_now = True
                    continue
            if validator is None:
                return booking.whole(None, rejected)
            try:
                value = _value(reply, validator, request.sampling)
            except NoAnswer as error:
                rejected.append(Rejected(reply.text, error.reasons))
            else:
                return booking.whole(value, rejected)
            if not left:
                raise _failed(booking, rejected)
            left -= 1
            asked = replace(request, messages=(*request.messages, *_ask_again(rejected[-1])))


def is_empty(reply: Reply) -> bool:
    """Whether a reply holds no answer at all; the text of a refusal is none."""
    return reply.finish is Finish.REFUSAL or not reply.text.strip()


def _with_more_room(request: Request) -> Request:
    return replace(request, sampling=replace(request.sampling, times_the_room=TIMES_THE_ROOM))


def _failed(booking: Booking, rejected: Sequence[Rejected], empty: Finish | None = None) -> AnswerInvalid:
    """Book that a call has failed, and return the failure."""
    whole = booking.whole(None, rejected if empty is not None else rejected[:-1])
    failure: AnswerInvalid
    if empty is not None:
        failure = EmptyAnswer(empty.value, whole.usage.completion, describe_reply(whole))
    else:
        failure = AnswerInvalid(rejected[-1].reasons, whole.usage.completion, describe_reply(whole))
    booking.fail(failure)
    return failure


def _value(reply: Reply, validator: Validator, sampling: Sampling) -> Any:
    if reply.finish is Finish.LENGTH:
        max_tokens = sampling.max_tokens * (sampling.times_the_room or 1)
        raise NoAnswer(f"the answer was cut off: it may have {max_tokens} tokens at most; be shorter")
    if reply.finish is Finish.REFUSAL:
        raise NoAnswer("the answer is a refusal")
    return extract(reply.text, validator)


def _ask_again(answer: Rejected) -> tuple[ChatMessage, ChatMessage]:
    text = answer.text if len(answer.text) <= _LONGEST_QUOTED else answer.text[:_LONGEST_QUOTED] + " [...]"
    reasons = "\n".join(f"- {reason}" for reason in answer.reasons)
    return (
        ChatMessage(ChatRole.ASSISTANT, text.strip() or _NOTHING),
        ChatMessage(
            ChatRole.USER,
            f"This answer cannot be taken:\n{reasons}\nAnswer again, with one JSON object of the wanted form alone.",
        ),
    )
