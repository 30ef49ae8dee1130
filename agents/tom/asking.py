"""How a model is asked in a role: typed answers, asked for again when they are not what the role says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from maeil.calls import Call
from maeil.errors import InvalidThought
from maeil.mind import View
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.records import answered, invalid
from quorum.agents.prompting.requests import RequestCounter
from quorum.agents.tom.answers import FORMS
from quorum.agents.tom.prompts import TomPrompts
from quorum.agents.tom.settings import TomRole

T = TypeVar("T")


class RoleAsker:
    """Asks the model of one agent in the roles.

    Args:
        model: what answers.
        prompts: writes the prompts.
        repairs: times that an answer of the wrong types is asked for again.
        in_words: whether the words of the prompt give a model the form, where the provider cannot.
    """

    def __init__(self, model: Model, prompts: TomPrompts, repairs: int, *, in_words: bool) -> None:
        self._model = model
        self._prompts = prompts
        self._repairs = repairs
        self._in_words = in_words
        self._requests = RequestCounter()

    async def ask(
        self,
        role: TomRole,
        view: View,
        others: Mapping[str, object],
        read: Callable[[object], T],
        calls: list[Call],
    ) -> T | None:
        """Return what an answer says; None where there is no valid one after all repairs.

        Args:
            role: who is to answer.
            view: the turn before which it is asked.
            others: what is shown of each of the others, by name.
            read: reads an answer, or raises `InvalidThought`.
            calls: where each call is added.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: the model cannot be asked at all.
            maeil.errors.EpisodeStop: a budget is used up, or the provider does not answer.
        """
        form = replace(FORMS[role], in_words=self._in_words)
        asked = replace(view, problems=())
        for repair in range(self._repairs + 1):
            messages = self._prompts.write(role, asked, others)
            request = self._requests.request(messages, form, view, role=role, refused=bool(repair))
            try:
                reply = await self._model.complete(request)
            except AnswerInvalid as error:
                calls.append(_of_role(invalid(error), role))
                return None
            try:
                found = read(reply.value)
            except InvalidThought as error:
                calls.append(_of_role(answered(reply, repairs=min(repair, 1), parse_failure=True), role))
                asked = replace(asked, problems=(*asked.problems, *error.reasons))
                continue
            calls.append(_of_role(answered(reply, repairs=min(repair, 1)), role))
            return found
        return None


def _of_role(call: Call, role: TomRole) -> Call:
    return replace(call, record={**call.record, "role": role.value})
