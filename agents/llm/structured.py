"""Structured answers: parsed, checked by their schema, and asked for again with the reasons when they are wrong."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from quorum.agents.llm.booking import Booking, together
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.extraction import NoAnswer, extract
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Finish, Model, Rejected, Reply, Request
from quorum.agents.llm.records import describe_reply
from quorum.agents.llm.validation import Validator, validator_of

_LONGEST_QUOTED = 4000
_NOTHING = "(nothing)"


class Structuring:
    """A model whose answers are of the wanted form. Requests for free text pass through.

    The text is parsed as it stands, else searched for the one JSON object that fits (prose around it, code fences),
    and checked by the schema. What is wrong goes back to the model with the reasons, at most `max_repairs` times. Every
    answer is entered in the ledger of its thought when it comes.

    Args:
        model: the model.
        max_repairs: how often an answer may be asked for again.
    """

    def __init__(self, model: Model, max_repairs: int) -> None:
        self._model = model
        self._max_repairs = max_repairs

    async def complete(self, request: Request) -> Reply:
        """Answer a request; tokens, money, time and tries are those of all answers together.

        Raises:
            AnswerInvalid: no answer of the wanted form came.
            quorum.agents.llm.validation.UnsupportedSchema: the schema has a keyword that cannot be checked.
        """
        booking = Booking()
        if request.answer is None:
            return await booking.ask(self._model, request)
        validator = validator_of(request.answer.schema)
        rejected: list[Rejected] = []
        asked = request
        while True:
            reply = await booking.ask(self._model, asked)
            try:
                value = _value(reply, validator, request.sampling.max_tokens)
            except NoAnswer as error:
                rejected.append(Rejected(reply.text, error.reasons))
            else:
                return together(booking.replies, value, rejected)
            if len(rejected) > self._max_repairs:
                whole = together(booking.replies, None, rejected[:-1])
                failure = AnswerInvalid(rejected[-1].reasons, whole.usage.completion, describe_reply(whole))
                booking.fail(failure)
                raise failure
            asked = replace(request, messages=(*request.messages, *_ask_again(rejected[-1])))


def _value(reply: Reply, validator: Validator, max_tokens: int) -> Any:
    if reply.finish is Finish.LENGTH:
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
