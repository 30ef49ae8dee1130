"""The wrapper that no key passes, whichever provider it stands around."""

from __future__ import annotations

from maeil.contracts import check_awaitable, check_type
from quorum.agents.llm.errors import LanguageModelError
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.redaction import Redaction


class Redacting:
    """The lowest wrapper: no text of a reply or an error holds a key.

    The door of our own providers (`quorum.agents.llm.providers.bounded`) lets no key in. This wrapper finds a key that
    a reply has in several parts, and stands around providers that have no such door.

    Args:
        model: a provider, or its batches.
        redact: knows the key.
    """

    def __init__(self, model: Model, redact: Redaction) -> None:
        self._model = model
        self._redact = redact

    async def complete(self, request: Request) -> Reply:
        """Answer a request.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: no answer came.
            maeil.errors.ContractError: the provider returned something else.
        """
        complete = self._model.complete
        try:
            reply = await check_awaitable(complete(request), complete)
        except LanguageModelError as error:
            error.args = self._redact.everywhere(error.args)
            raise
        check_type(reply, Reply, complete, "a quorum.agents.llm.protocol.Reply")
        redacted: Reply = self._redact.everywhere(reply)
        return redacted
