"""All providers that litellm supports. An extra: its import takes seconds, and it keeps the openai SDK below 3."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial
from inspect import signature
from typing import Any, ClassVar

from quorum.agents.llm.errors import BadRequest, BrokenResponse, LanguageModelError, TimedOut
from quorum.agents.llm.protocol import Reply, Request, ThinkingFormat, Usage
from quorum.agents.llm.providers.anthropic import message_usage
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.bounded import Bounds, exchange
from quorum.agents.llm.providers.chat import chat_arguments, chat_usage, read_chat
from quorum.agents.llm.providers.failures import connection_failure, is_transport_failure
from quorum.agents.llm.providers.refusals import Offer
from quorum.agents.llm.providers.usage import amount, part_of
from quorum.more_providers.gemini import gemini_usage

_MISSING_PACKAGE = re.compile(r"No module named '([\w.]+)'")
_LOST = "OpenAIException - Connection error"
_CLOUDS = ("bedrock", "sagemaker", "vertex_ai")
"""Prefixes of providers that use signatures or short-lived tokens, which are useless elsewhere."""

INSTALL = "pip install 'quorum-harness[litellm]'"


@dataclass(slots=True)
class _Exchange:
    """The exchange of one call: its limits, and its failure, which litellm would report in its own words."""

    bounds: Bounds
    failure: LanguageModelError | None = None


_EXCHANGE: ContextVar[_Exchange | None] = ContextVar("exchange", default=None)
"""The exchange of the current call; litellm's transports are shared by the whole process."""


class LiteLLMModel(Provider):
    """A model behind litellm, named with litellm's provider prefix, e.g. `gemini/gemini-2.5-flash`.

    Without a key variable and an address, litellm looks up the provider's own. The server reports the cost of an
    answer; otherwise it comes from litellm's local price map.

    Raises:
        ImportError: litellm is not installed; the message says how to install it.
        ValueError: the environment sets another address for the provider.
    """

    name: ClassVar[str] = "litellm"
    usual_key: ClassVar[str | None] = None

    def _import(self) -> Any:
        """Import litellm without network lookups of prices or header files."""
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        os.environ["LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"] = "True"
        try:
            import litellm  # noqa: PLC0415 (an extra)
        except ImportError as error:
            raise ImportError(f"litellm is not installed: {INSTALL}") from error
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        _bound_transport()
        return litellm

    def _connect(self, base_url: str | None) -> str:
        provider = self.model.partition("/")[0].upper()
        for variable in (f"{provider}_API_BASE", f"{provider}_BASE_URL"):
            if base_url is None and os.environ.get(variable):
                raise ValueError(
                    f"litellm would send prompts to the address in {variable}, which no record would show: "
                    "write it as llm.base_url=ADDRESS, or unset the variable"
                )
        self._address = base_url
        self._own = {*signature(self._sdk.acompletion).parameters, *self._sdk.types.utils.all_litellm_params}
        return base_url or ""

    def _body(self, request: Request, offer: Offer) -> dict[str, Any]:
        if own := self._own & (request.sampling.extra_body or {}).keys():
            raise BadRequest(f"llm.extra_body: litellm reserves {', '.join(sorted(own))}")
        longest = {offer.max_tokens_key.value: offer.longest}
        return {"model": self.model, **longest, **chat_arguments(request, offer, self._thinking)}

    async def _send(self, body: Mapping[str, Any], deadline: float) -> Any:
        exchanged = _Exchange(self._bounds)
        _EXCHANGE.set(exchanged)
        try:
            return await self._sdk.acompletion(
                api_base=self._address,
                api_key=self._key_for_address(),
                timeout=self._timeout(deadline),
                extra_headers=self._headers or None,
                num_retries=0,
                max_retries=0,
                **body,
            )
        except Exception:
            if exchanged.failure is not None:
                raise exchanged.failure from None
            raise

    def _key_for_address(self) -> str | None:
        """Return the key; None if litellm should find the provider's own, which no other address may get."""
        finds_it = self._address is None or self.model.startswith(_CLOUDS)
        return None if self._key.variable is None and finds_it else self._key.reveal()

    def _read(self, response: Any, request: Request) -> Reply:
        self._check_choice(response)
        reply = read_chat(response, request, self.model)
        if reply.usd is not None:
            return reply
        return replace(reply, usd=amount(part_of(response, "_hidden_params", "response_cost")))

    def _usage(self, usage: Any, request: Request, text: str, thinking: str) -> Usage:
        """Read the usage in the format of the service behind litellm."""
        formats = {"promptTokenCount": gemini_usage, "input_tokens": message_usage}
        read = next((read for name, read in formats.items() if part_of(usage, name) is not None), chat_usage)
        return read(usage, request, text, thinking)

    def _dialect(self, chosen: ThinkingFormat) -> ThinkingFormat:
        return ThinkingFormat.LITELLM if chosen is ThinkingFormat.AUTO else chosen

    def _timeout(self, deadline: float) -> Any:
        return self._sdk.httpx.Timeout(None, connect=min(self._bounds.connect, deadline))

    def translate(self, error: Exception) -> LanguageModelError | None:
        """Return our error for one of litellm's; None if it is a bug rather than a failed call."""
        if isinstance(error, LanguageModelError):
            return error
        if isinstance(error, self._sdk.Timeout):
            return TimedOut("litellm's own time-out is over")
        missing = _MISSING_PACKAGE.search(str(error))  # litellm reports it as a lost connection
        if missing:
            return BadRequest(f"litellm needs a package for tools that is not installed: pip install {missing[1]}")
        if isinstance(error, self._sdk.APIConnectionError) or _LOST in str(error):
            return connection_failure(error)
        status = getattr(error, "status_code", None)
        if isinstance(status, int):
            headers = getattr(error, "litellm_response_headers", None)
            if headers is None:
                headers = getattr(getattr(error, "response", None), "headers", None)
            return self._translate_status(status, getattr(error, "body", None), str(error), headers)
        if isinstance(error, ValueError):
            return BrokenResponse(f"a success without a readable answer ({type(error).__name__})")
        return connection_failure(error) if is_transport_failure(error) else None

    async def close(self) -> None:
        """Close the connections, which litellm keeps for the whole process."""
        await self._sdk.close_litellm_async_clients()


@cache
def _bound_transport() -> None:
    """Limit litellm's default transport, once per process: litellm accepts no HTTP client for all its providers.

    Replies by other transports (`DISABLE_AIOHTTP_TRANSPORT`, a provider's own SDK) are not limited.
    """
    from litellm.llms.custom_httpx.aiohttp_transport import LiteLLMAiohttpTransport  # noqa: PLC0415 (an extra)

    send = LiteLLMAiohttpTransport.handle_async_request

    async def handle_async_request(self: Any, request: Any) -> Any:
        made = _EXCHANGE.get()
        if made is None:
            return await send(self, request)
        try:
            return await exchange(partial(send, self), request, made.bounds)
        except LanguageModelError as error:
            made.failure = error
            raise

    LiteLLMAiohttpTransport.handle_async_request = handle_async_request
