"""Conversation mode: a participant's turns form one conversation instead of separate prompts."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from maeil.component import ComponentConfig, Usual
from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Model, Reply, Request


class AskingConfig(ComponentConfig):
    """Parameters shared by all minds based on language models."""

    memory: Annotated[Literal["none", "conversation"], Usual("none")]
    """What a model sees of earlier turns: nothing, or the prompts and answers themselves (`Conversation`)."""


@dataclass
class _History:
    """The history of one role: the messages of each turn with the answer to them."""

    exchanges: list[tuple[ChatMessage, ...]] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Conversation:
    """A model that sees its earlier prompts and answers in the same role.

    Earlier exchanges are inserted between the system messages (only those of the new turn) and the request's own
    messages. Prompts are kept whole, with their pictures, and answers as they were written, with the provider's
    reasoning items. So a conversation only grows at its end, and providers can cache the rest.

    An exchange is kept if it ended in an answer that matches the schema, even if a mind or the loop then refuses it:
    the next prompt says why. Malformed answers repaired within a call, and calls without an answer, are not kept.
    Requests for embeddings are not part of a conversation.

    Calls in one role run one after another. If a model is given out twice, each has its own conversation.

    Args:
        model: the model.
        most: maximum number of earlier exchanges. Beyond it, the older half is dropped at once, because each change
            at the start invalidates the providers' caches.
    """

    def __init__(self, model: Model, most: int) -> None:
        self._model = model
        self._most = most
        self._histories: defaultdict[str, _History] = defaultdict(_History)

    async def complete(self, request: Request) -> Reply:
        """Answer a request as the next turn of the conversation in its role."""
        if wants_embeddings(request):
            return await self._model.complete(request)
        history = self._histories["" if request.origin is None else request.origin.role]
        system = [message for message in request.messages if message.role is ChatRole.SYSTEM]
        own = [_marked(message) for message in request.messages if message.role is not ChatRole.SYSTEM]
        async with history.lock:
            earlier = history.exchanges
            if len(earlier) > self._most:
                del earlier[: len(earlier) - (self._most + 1) // 2]
            said = (message for exchange in earlier for message in exchange)
            reply = await self._model.complete(replace(request, messages=(*system, *said, *own), carry=True))
            earlier.append((*own, ChatMessage(ChatRole.ASSISTANT, reply.text, carried=reply.carried)))
        return reply


def _marked(message: ChatMessage) -> ChatMessage:
    """Return a message marked at its end only, because later prompts repeat it whole."""
    return replace(message, marks=(len(message.content),))


def without_carried(request: Request) -> Request:
    """Return a request without reasoning items, for a model other than the one they belong to."""
    messages = tuple(replace(message, carried=()) for message in request.messages)
    return replace(request, messages=messages, carry=False)
