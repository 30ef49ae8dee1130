"""The wrapper that removes keys from replies and errors of any provider."""

from __future__ import annotations

from maeil.contracts import check_awaitable, check_type
from quorum.agents.llm.errors import LanguageModelError
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.redaction import Redaction


class Redacting:
    """The innermost wrapper: replies and errors that pass it hold no key.

    The HTTP layer of our own providers (`quorum.agents.llm.providers.bounded`) already removes keys. This wrapper also
    finds keys that a reply splits into parts, and covers providers without that layer.

    Args:
        model: a provider, or its batches.
        redact: removes the key.
    """

    def __init__(self, model: Model, redact: Redaction) -> None:
        self._model = model
        self._redact = redact

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: there is no answer.
            maeil.errors.ContractError: the provider returned something other than a reply.
        """
        complete = self._model.complete
        try:
            reply = await check_awaitable(complete(request), complete)
        except LanguageModelError as error:
            error.args = self._redact(error.args)
            raise
        check_type(reply, Reply, complete, "a quorum.agents.llm.protocol.Reply")
        return self._redact(reply)
