"""The zero-shot mind: one request per turn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from maeil.mind import Act, Thought, View
from quorum.agents.llm.embeddings import EMBEDDING, EMBEDDINGS, texts_to_embed
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import ChatMessage
from quorum.agents.llm.records import answered, invalid
from quorum.agents.naive.answers import may_talk
from quorum.agents.naive.prompts import PromptWriter
from quorum.agents.prompting.requests import Asker


@dataclass(eq=False)
class NaiveMind:
    """The mind of one participant (the zero-shot agents of CUBE and EmCoop): it asks its model and follows the answer.

    Each turn is one request with one typed answer: messages, a plan, or whether to resume or replace the plan. A turn
    that allows nothing (talk, but no one to talk to) makes no request. An answer with wrong types is requested again,
    with the reasons in the prompt, at most `repairs` times; then the thought is a failure, never an invented plan. The
    loop refuses what the state of the world does not allow and reports it as the problems of the next view.

    Attributes:
        asker: asks its model.
        prompts: writes its prompts, and has its answer types.
        embeds: whether it adds embeddings to its answers for methods.

    Raises (from `think`):
        quorum.agents.llm.errors.LanguageModelError: the model cannot be used at all.
        maeil.errors.EpisodeStop: a budget is exhausted, or the provider does not answer.
    """

    asker: Asker
    prompts: PromptWriter
    embeds: bool = False

    async def think(self, view: View) -> Thought:
        """Ask the model and read its answer."""
        if Act.PLAN not in view.turn.acts and not view.turn.asks and not may_talk(view.turn):
            return Thought()

        def write(reasons: tuple[str, ...]) -> tuple[ChatMessage, ...]:
            return self.prompts.write(replace(view, problems=(*view.problems, *reasons)))

        def read(value: object) -> Thought:
            return self.prompts.answers.read(value, view)

        thought, reasons, calls = await self.asker.ask(write, self.prompts.wanted(view), read, view)
        if thought is None:
            return Thought(failure=f"no valid answer: {'; '.join(reasons)}", calls=calls)
        thought = replace(thought, calls=calls)
        return await self._embedded(thought, view) if self.embeds else thought

    async def _embedded(self, thought: Thought, view: View) -> Thought:
        """Return a thought whose answers for methods have their embeddings; each one with texts needs one more call."""
        for part in self.prompts.answers.parts(view):
            said: Any = thought.answers.get(part.name)
            texts = part.texts(said) if said is not None else ()
            if not any(texts):
                continue
            request = self.asker.requests.request(
                texts_to_embed([text for text in texts if text]), EMBEDDINGS, view, role=EMBEDDING
            )
            try:
                reply = await self.asker.model.complete(request)
            except AnswerInvalid as error:
                reason = "no embedding: " + "; ".join(error.reasons)
                return Thought(failure=reason, calls=(*thought.calls, invalid(error)))
            found = iter(map(tuple, reply.value["embeddings"]))
            answer = part.embedded(said, [next(found) if text else () for text in texts])
            calls = (*thought.calls, answered(reply))
            thought = replace(thought, answers={**thought.answers, part.name: answer}, calls=calls)
        return thought
