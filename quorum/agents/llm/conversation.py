"""Conversation mode: the turns of a participant are one conversation, not each a prompt by itself."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from maeil.component import ComponentConfig, Usual
from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.protocol import ChatMessage, ChatRole, Model, Reply, Request


class AskingConfig(ComponentConfig):
    """Parameters of all minds that ask language models."""

    memory: Annotated[Literal["none", "conversation"], Usual("none")]
    """What a model is shown of earlier turns: nothing, or the prompts and answers themselves (`Conversation`)."""


@dataclass
class _History:
    """What was said in one role: the messages of each turn with the answer to them."""

    exchanges: list[tuple[ChatMessage, ...]] = field(default_factory=list)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class Conversation:
    """A model that is shown what it was asked before in the same role, and what it answered.

    A request is sent with the earlier exchanges between the messages of the system, which are those of the new turn
    alone, and its own messages. Prompts are kept whole, with their pictures, and answers as they were written, with the
    reasoning items of their provider: so a conversation only grows at its end, and providers have the rest cached.

    An exchange is kept when it ended in an answer of the wanted form. That goes for answers that a mind or the loop
    then refuses: the next prompt says why. Wrong answers that were asked for again within a call are not kept, nor are
    calls without an answer. Requests for embeddings are no part of a conversation.

    Two calls in one role are made one after the other. Whoever is given a model twice has two conversations.

    Args:
        model: answers.
        most: earlier exchanges that are sent, at most. When there are more, the older half is dropped at once: each
            time costs the beginning that providers have cached.
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
    """Return a message that comes again whole in later prompts, and only so."""
    return replace(message, marks=(len(message.content),))


def without_carried(request: Request) -> Request:
    """Return a request for another model than the one whose reasoning items it carries: they are not for it."""
    messages = tuple(replace(message, carried=()) for message in request.messages)
    return replace(request, messages=messages, carry=False)
