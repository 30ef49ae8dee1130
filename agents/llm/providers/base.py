"""What all providers share: the total deadline, the choice of how an answer's form is asked for, and the errors."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

import orjson

from quorum.agents.llm.batches.service import BatchService
from quorum.agents.llm.errors import BadRequest, BrokenResponse, ContextOverflow, LanguageModelError, TimedOut
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Reply, Request
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.llm.providers.bounded import Bounds
from quorum.agents.llm.providers.failures import (
    connection_failure,
    error_text,
    is_connect_timeout,
    is_timeout,
    is_transport_failure,
    own_failure,
    readable,
    retry_after,
    status_failure,
)
from quorum.agents.llm.providers.key import Key
from quorum.agents.llm.providers.offer import MaxTokensKey, Offer, Structured, left_out
from quorum.agents.llm.providers.refusals import Refusals

Send = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Brings the body of a request to a provider and returns the response, as its SDK has it."""

SIMULATED = "simulated"
"""Name under which servers offer the simulated model: what comes from it says so."""


class Provider(ProvidedModel):
    """A model behind an SDK. It tries once: retries, repairs and limits are wrappers of their own.

    What a server refuses (a field of the sampling, the name of the longest answer, a JSON schema under `AUTO`) is left
    out from then on; for fields of the sampling `Reply.not_sent` says so. Where the prompt fits into the model's
    context and the longest answer behind it does not, the answer gets the room that there is.

    Args:
        model: name of the model, as the provider knows it.
        base_url: address of the server; None for the provider's own (or what the SDK's own variable names).
        key_variable: environment variable that holds the key; None for a server that needs none; empty for `usual_key`.
        structured: how the form of an answer is asked for.
        deadline: seconds within which a call must be whole, counted over everything it takes.
        bounds: of each exchange within it.
        max_tokens_key: what the longest answer is called, where a format has two names for it.
        service_tier: how soon the provider is to answer, in its own words; None for its usual tier. One that it
            refuses is never left out: the money would be another than the one that was asked for.

    Raises:
        AuthenticationFailed: the variable holds no key.
        ValueError: `base_url` holds a password.
    """

    name: ClassVar[str]
    _client: Any
    _never_taken: ClassVar[tuple[str, ...]] = ()
    """Sampling parameters that the SDK itself does not take."""
    usual_key: ClassVar[str | None]
    """The environment variable that usually holds the key; None where the SDK finds it by itself."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key_variable: str | None = "",
        structured: Structured = Structured.AUTO,
        deadline: float = 120.0,
        bounds: Bounds = Bounds(),  # noqa: B008 - it is frozen
        max_tokens_key: MaxTokensKey = MaxTokensKey.AUTO,
        service_tier: str | None = None,
    ) -> None:
        self.model = model
        self._key = Key(self.usual_key if key_variable == "" else key_variable)
        self._structured = structured
        self._deadline = deadline
        self._bounds = bounds
        self._service_tier = service_tier
        self._sdk: Any = self._import()
        self.base_url = self._connect(check_address(base_url))
        self._refusals = Refusals(
            structured,
            self._usual_max_tokens_key() if max_tokens_key is MaxTokensKey.AUTO else max_tokens_key,
            rename=max_tokens_key is MaxTokensKey.AUTO,
        )
        self._refusals.add(*self._never_taken)

    @property
    def identity(self) -> dict[str, str]:
        """What of this provider's settings reaches the model: a part of every cache key."""
        return {
            "provider": self.name,
            "base_url": self.base_url,
            "model": self.model,
            "structured": self._structured.value,
        }

    @abstractmethod
    def _import(self) -> Any:
        """Import the SDK, which takes long: only where it is used."""

    @abstractmethod
    def _connect(self, base_url: str | None) -> str:
        """Make ready to ask, and return the address that is asked."""

    @abstractmethod
    def _body(self, request: Request, offer: Offer) -> dict[str, Any]:
        """Return the body of the request, as the provider's format has it."""

    @abstractmethod
    async def _send(self, body: Mapping[str, Any]) -> Any:
        """Send a body once through the SDK; return the response. Raises the SDK's own errors."""

    @abstractmethod
    def _read(self, response: Any, request: Request) -> Reply:
        """Read a response. Raises `BrokenResponse`."""

    def batches(self) -> BatchService:
        """Return the provider's batches, over connections of their own.

        Raises:
            BadRequest: it has none.
        """
        raise BadRequest(f"{self.name} has no batches")

    def failure(self, status: int, body: Mapping[str, Any] | None) -> LanguageModelError:
        """Return what the failure of a batch's request means."""
        return self._translate_status(status, body, f"HTTP {status}", None)

    def redacted(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take the key out of a response that is written down."""
        text = orjson.dumps(body).decode()
        clean = self._key.redact_own(text)
        found: Mapping[str, Any] = body if clean == text else orjson.loads(clean)
        return found

    def _usual_max_tokens_key(self) -> MaxTokensKey:
        """Return what the longest answer is called here, as far as that is known before anything is asked."""
        return MaxTokensKey.MAX_TOKENS

    def _timeout(self) -> Any:
        """Return the time-outs of the SDK's HTTP client: seconds without a connection, and without a byte."""
        return self._sdk.Timeout(self._deadline, connect=min(self._bounds.connect, self._deadline))

    async def complete(self, request: Request) -> Reply:
        """Answer a request within the deadline.

        Raises:
            quorum.agents.llm.errors.Refused: the provider refuses.
            quorum.agents.llm.errors.Transient: this attempt failed.
        """
        return await self.answer(request, self._send, self._deadline)

    async def answer(self, request: Request, send: Send, deadline: float | None) -> Reply:
        """Answer a request by another way to the provider than a call of its own.

        Args:
            request: what is asked.
            send: brings a body to the provider, and returns the response as the SDK would.
            deadline: seconds within which there must be a whole answer; None for any time.

        Raises:
            quorum.agents.llm.errors.Refused: the provider refuses.
            quorum.agents.llm.errors.Transient: this attempt failed.
        """
        begin = time.perf_counter()
        attempts = 0
        suspected: frozenset[str] = frozenset()
        suspicions: Iterator[frozenset[str]] | None = None
        refusal: LanguageModelError | None = None
        failure: LanguageModelError
        try:
            async with asyncio.timeout(deadline) as scope:
                while True:
                    form = request.answer is not None
                    offer = self._refusals.offer(request.sampling, form=form, suspected=suspected)
                    attempts += 1
                    reply = await self._attempt(request, offer, send)
                    if isinstance(reply, Reply):
                        self._refusals.add(*suspected)
                        break
                    if (shorter := _with_room_left(request, reply)) is not None:
                        request = shorter
                        continue
                    if self._refusals.learn(reply, offer):
                        continue
                    if suspicions is None:
                        suspicions, refusal = self._refusals.suspicions(reply, offer), reply
                    suspect = next(suspicions, None) if isinstance(reply, BadRequest) else None
                    if suspect is None:
                        raise refusal if refusal is not None and isinstance(reply, BadRequest) else reply
                    suspected = suspect
            return replace(
                reply,
                text=self._key.redact_own(reply.text),
                simulated=reply.model.rpartition("/")[2] == SIMULATED,
                seconds=time.perf_counter() - begin,
                attempts=attempts,
                not_sent=left_out(request.sampling, offer.sampling),
            )
        except TimeoutError:
            if not scope.expired():
                raise
            failure = TimedOut(f"no whole answer within {deadline:g} s")
        raise failure  # outside of the handler: what the SDK says may hold a key, and must not hang on as a context

    async def _attempt(self, request: Request, offer: Offer, send: Send) -> Reply | LanguageModelError:
        try:
            return self._read(await send(self._body(request, offer)), request)
        except Exception as error:  # every failure of an SDK ends here; what is none goes on
            failure = self.translate(error)
            if failure is None:
                raise
            return failure

    def translate(self, error: Exception) -> LanguageModelError | None:
        """Return our error for one of the SDK; None for what is no failure of a call but a bug.

        The official SDKs name their errors alike.
        """
        sdk = self._sdk
        ours = own_failure(error)
        if ours is not None:
            return ours
        if isinstance(error, sdk.APITimeoutError) and is_timeout(error):
            return TimedOut(self._what_took_too_long(error))
        if isinstance(error, sdk.APIConnectionError):
            return connection_failure(error)
        if isinstance(error, sdk.APIStatusError):
            return self._translate_status(
                error.status_code, getattr(error, "body", None), str(error), error.response.headers
            )
        if isinstance(error, ValueError | sdk.APIResponseValidationError):
            return BrokenResponse(f"a success without a readable answer ({type(error).__name__})")
        return connection_failure(error) if is_transport_failure(error) else None

    def _what_took_too_long(self, error: Exception) -> str:
        if is_connect_timeout(error):
            return f"no connection within {self._bounds.connect:g} s (llm.connect_timeout)"
        return "the SDK's own time-out is over"

    def _translate_status(
        self, status: int, body: Any, message: str, headers: Mapping[str, str] | None
    ) -> LanguageModelError:
        text, code = error_text(body, message)
        text = readable(self._key.redact(text))
        return status_failure(
            status, text, code=code, wait=retry_after(headers), model=self.model, variable=self._key.variable
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _with_room_left(request: Request, failure: LanguageModelError) -> Request | None:
    """Return a request with the longest answer that the context has room for; None where that would be of no use."""
    room = failure.room if isinstance(failure, ContextOverflow) else None
    if room is None or not 0 < room < request.sampling.max_tokens:
        return None
    return replace(request, sampling=replace(request.sampling, max_tokens=room))


def check_address(base_url: str | None) -> str | None:
    """Refuse an address that carries a secret: addresses stand in configurations, caches and records.

    Raises:
        ValueError: it holds a user or a password.
    """
    if base_url is not None and "@" in urlsplit(base_url).netloc:
        raise ValueError("base_url holds a user or a password; keys come from environment variables only")
    return base_url


def schema_message(answer: AnswerFormat) -> ChatMessage:
    """Ask for a form by words, where the provider has no better way."""
    schema = orjson.dumps(answer.schema).decode()
    return ChatMessage(
        ChatRole.SYSTEM, f"Answer with one JSON object that fits this JSON schema, and with nothing else:\n{schema}"
    )


def printable_unicode(text: str) -> str:
    """Replace lone surrogates, which JSON can carry and UTF-8 cannot."""
    return text.encode("utf-8", "replace").decode("utf-8")
