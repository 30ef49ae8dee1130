"""The zero-shot mind: one request a turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from maeil.calls import Call
from maeil.errors import InvalidThought
from maeil.extensions.predictions import Prediction
from maeil.mind import Act, Thought, View
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.records import answered, invalid
from quorum.agents.naive.answers import AnswerTypes, may_talk
from quorum.agents.naive.embedding import with_embeddings
from quorum.agents.naive.prompts import PromptWriter
from quorum.agents.prompting.requests import RequestCounter


class NaiveMind:
    """The mind of one participant (the zero-shot agents of CUBE and EmCoop): it asks its model, and does what it says.

    Each turn is one request: messages, a plan, or whether to resume or replace the plan, as one typed answer. A turn
    that leaves nothing to answer (talk, and nobody to talk to) is no request. An answer that does not have the types of
    the turn is asked for again, with the reasons in the prompt, at most `repairs` times; then the thought is a failure,
    never a made-up plan. What the state of the world does not allow is the loop's to refuse; it comes back as the
    problems of the next view.

    Args:
        model: what it thinks with.
        prompts: writes its prompts.
        answers: the types of its answers.
        repairs: times that an answer of the wrong types is asked for again.
        embeds: whether it gives embeddings with what it offers and needs.

    Raises (from `think`):
        quorum.agents.llm.errors.LanguageModelError: the model cannot be asked at all.
        maeil.errors.EpisodeStop: a budget is used up, or the provider does not answer.
    """

    def __init__(
        self,
        model: Model,
        prompts: PromptWriter,
        answers: AnswerTypes,
        repairs: int,
        *,
        embeds: bool = False,
    ) -> None:
        self._model = model
        self._prompts = prompts
        self._answers = answers
        self._repairs = repairs
        self._embeds = embeds
        self._requests = RequestCounter()

    async def think(self, view: View) -> Thought:
        """Ask the model, and read its answer."""
        return await self.answer(view)

    async def answer(self, view: View, expected: Sequence[Prediction] = ()) -> Thought:
        """Ask the model, with what is expected of others in the prompt, and read its answer."""
        if Act.PLAN not in view.turn.acts and not view.turn.asks and not may_talk(view.turn):
            return Thought()
        calls: list[Call] = []
        reasons: tuple[str, ...] = ()
        for repair in range(self._repairs + 1):
            turn = replace(view, problems=(*view.problems, *reasons))
            request = self._requests.request(self._prompts.write(turn, expected), self._prompts.wanted(turn), turn)
            try:
                reply = await self._model.complete(request)
            except AnswerInvalid as error:
                return Thought(failure=_no_answer(error.reasons), calls=(*calls, invalid(error)))
            try:
                thought = self._answers.read(reply.value, view)
            except InvalidThought as error:
                reasons = error.reasons
                calls.append(answered(reply, repairs=min(repair, 1), parse_failure=True))
                continue
            thought = replace(thought, calls=(*calls, answered(reply, repairs=min(repair, 1))))
            return await with_embeddings(thought, view, self._model, self._requests) if self._embeds else thought
        return Thought(failure=_no_answer(reasons), calls=tuple(calls))


def _no_answer(reasons: tuple[str, ...]) -> str:
    return f"no valid answer: {'; '.join(reasons)}"
