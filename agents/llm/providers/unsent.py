"""The body of a request as a provider would send it, without sending it: to look at, and to reckon with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from quorum.agents.llm.protocol import Request
from quorum.agents.llm.providers.base import Provider


class _Built(Exception):
    """A request was built, and is not to be sent."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        super().__init__("built")
        self.body = body


async def unsent(provider: Provider, request: Request) -> Mapping[str, Any]:
    """Return the body of a request; nothing is sent.

    Raises:
        quorum.agents.llm.errors.BadRequest: the provider's SDK cannot build it.
    """
    try:
        await provider.answer(request, _keep, None)
    except _Built as built:
        return built.body
    raise AssertionError("a request was answered that was not sent")


async def _keep(body: Mapping[str, Any]) -> Any:
    raise _Built(body)
