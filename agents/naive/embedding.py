"""Embeddings of what a mind offers and needs, asked for in the thought that says it."""

from __future__ import annotations

from dataclasses import replace

from maeil.extensions.describe.describing import DESCRIBE
from maeil.extensions.describe.descriptors import EMBEDDING, Descriptor
from maeil.mind import Thought, View
from quorum.agents.llm.embeddings import EMBEDDINGS, texts_to_embed
from quorum.agents.llm.errors import AnswerInvalid
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.records import answered, invalid
from quorum.agents.prompting.requests import RequestCounter


async def with_embeddings(thought: Thought, view: View, model: Model, requests: RequestCounter) -> Thought:
    """Return a thought whose descriptor has its embeddings, by one more call; one without words is not asked about.

    Args:
        thought: what was thought, with its calls.
        view: the turn.
        model: what is asked, in the role `embedding`.
        requests: counts what was asked.

    Raises:
        quorum.agents.llm.errors.LanguageModelError: the model cannot be asked at all.
        maeil.errors.EpisodeStop: a budget is used up, or the provider does not answer.
    """
    descriptor = thought.answers.get(DESCRIBE)
    if descriptor is None or not (words := [side for side in _words(descriptor) if side]):
        return thought
    request = requests.request(texts_to_embed(words), EMBEDDINGS, view, role=EMBEDDING)
    try:
        reply = await model.complete(request)
    except AnswerInvalid as error:
        return Thought(failure="no embedding: " + "; ".join(error.reasons), calls=(*thought.calls, invalid(error)))
    found = iter(map(tuple, reply.value["embeddings"]))
    offered, needed = (next(found) if side else () for side in _words(descriptor))
    whole = replace(descriptor, offered=offered, needed=needed)
    return replace(thought, answers={**thought.answers, DESCRIBE: whole}, calls=(*thought.calls, answered(reply)))


def _words(descriptor: Descriptor) -> tuple[str, str]:
    return descriptor.offers.words, descriptor.needs.words
