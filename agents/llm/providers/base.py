"""What all providers share: the total deadline, the choice of how an answer's form is asked for, and the errors."""

from __future__ import annotations

import asyncio
import re
import time
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

import orjson

from quorum.agents.llm.errors import BadRequest, BrokenResponse, LanguageModelError, TimedOut
from quorum.agents.llm.protocol import AnswerFormat, ChatMessage, ChatRole, Reply, Request
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.llm.providers.failures import (
    connection_failure,
    error_text,
    is_timeout,
    is_transport_failure,
    readable,
    retry_after,
    status_failure,
)
from quorum.agents.llm.providers.key import Key


class Structured(StrEnum):
    """How the form of an answer is asked for.

    `AUTO` begins with `SCHEMA` and remembers what the server refuses.
    """

    AUTO = "auto"
    SCHEMA = "schema"
    TOOLS = "tools"
    PROMPT = "prompt"


SIMULATED = "simulated"
"""Name under which servers offer the simulated model: what comes from it says so."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What of a request is sent, given what the server is known to refuse.

    Attributes:
        structured: how the form is asked for; None for free text.
        temperature: None is not sent.
        seed: None is not sent.
    """

    structured: Structured | None
    temperature: float | None
    seed: int | None


_FALLBACKS = (Structured.SCHEMA, Structured.TOOLS, Structured.PROMPT)
_NAMED_IN_REFUSAL = {
    Structured.SCHEMA: re.compile(
        r"response_format|json_schema|output_config|output_format|structured.?output|invalid schema", re.IGNORECASE
    ),
    Structured.TOOLS: re.compile(r"\btools?\b|tool_choice|function.?call", re.IGNORECASE),
}
_NOT_TAKEN = re.compile(
    r"unsupported|not support|deprecated|unknown|unrecogni[sz]ed|unexpected|not permitted|not allowed|extra",
    re.IGNORECASE,
)


class Provider(ProvidedModel):
    """A model behind an SDK. It tries once: retries, repairs and limits are wrappers of their own.

    A parameter that a server refuses by name (temperature, seed, a JSON schema under `AUTO`) is left out from then on;
    for sampling parameters `Reply.not_sent` says so.

    Args:
        model: name of the model, as the provider knows it.
        base_url: address of the server; None for the provider's own (or what the SDK's own variable names).
        key_variable: environment variable that holds the key; None for a server that needs none; empty for `usual_key`.
        structured: how the form of an answer is asked for.
        deadline: seconds within which a call must be whole, counted over everything it takes.

    Raises:
        AuthenticationFailed: the variable holds no key.
        ValueError: `base_url` holds a password.
    """

    name: ClassVar[str]
    _client: Any
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
    ) -> None:
        self.model = model
        self._key = Key(self.usual_key if key_variable == "" else key_variable)
        self._structured = structured
        self._deadline = deadline
        self._refused: set[str] = set()
        self._sdk: Any = self._import()
        self.base_url = self._connect(check_address(base_url))

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
    async def _ask(self, request: Request, offer: Offer) -> Reply:
        """Ask once through the SDK. Raises the SDK's own errors, or `BrokenResponse`."""

    async def complete(self, request: Request) -> Reply:
        """Answer a request within the deadline.

        Raises:
            quorum.agents.llm.errors.Refused: the provider refuses.
            quorum.agents.llm.errors.Transient: this attempt failed.
        """
        begin = time.perf_counter()
        attempts = 0
        failure: LanguageModelError
        try:
            async with asyncio.timeout(self._deadline) as scope:
                while True:
                    offer = self._offer(request)
                    attempts += 1
                    reply = await self._attempt(request, offer)
                    if isinstance(reply, Reply):
                        break
                    if not (isinstance(reply, BadRequest) and self._learn(str(reply), offer)):
                        raise reply
            return replace(
                reply,
                text=self._key.redact_own(reply.text),
                simulated=reply.model.rpartition("/")[2] == SIMULATED,
                seconds=time.perf_counter() - begin,
                attempts=attempts,
                not_sent=_not_sent(request, offer),
            )
        except TimeoutError:
            if not scope.expired():
                raise
            failure = TimedOut(f"no whole answer within {self._deadline:g} s")
        raise failure  # outside of the handler: what the SDK says may hold a key, and must not hang on as a context

    async def _attempt(self, request: Request, offer: Offer) -> Reply | LanguageModelError:
        try:
            return await self._ask(request, offer)
        except Exception as error:  # every failure of an SDK ends here; what is none goes on
            failure = self._translate(error)
            if failure is None:
                raise
            return failure

    def _offer(self, request: Request) -> Offer:
        structured: Structured | None = None
        if request.answer is not None:
            structured = self._structured
            if structured is Structured.AUTO:
                structured = next(mode for mode in _FALLBACKS if mode not in self._refused)
        sampling = request.sampling
        return Offer(
            structured,
            None if "temperature" in self._refused else sampling.temperature,
            None if "seed" in self._refused else sampling.seed,
        )

    def _learn(self, refusal: str, offer: Offer) -> bool:
        """Remember what a server refuses; tell whether asking again without it makes sense."""
        found: str | None = None
        if self._structured is Structured.AUTO and offer.structured is not None:
            sign = _NAMED_IN_REFUSAL.get(offer.structured)
            found = offer.structured if sign is not None and sign.search(refusal) else None
        if found is None and _NOT_TAKEN.search(refusal):
            sent = {"temperature": offer.temperature, "seed": offer.seed}
            found = next((name for name, value in sent.items() if value is not None and name in refusal), None)
        if found is None:
            return False
        self._refused.add(found)
        return True

    def _translate(self, error: Exception) -> LanguageModelError | None:
        """Return our error for one of the SDK; None for what is no failure of a call but a bug.

        The official SDKs name their errors alike.
        """
        sdk = self._sdk
        if isinstance(error, LanguageModelError):
            return error
        if isinstance(error, sdk.APITimeoutError) and is_timeout(error):
            return TimedOut("the SDK's own time-out is over")
        if isinstance(error, sdk.APIConnectionError):
            return connection_failure(error)
        if isinstance(error, sdk.APIStatusError):
            return self._translate_status(
                error.status_code, getattr(error, "body", None), str(error), error.response.headers
            )
        if isinstance(error, ValueError | sdk.APIResponseValidationError):
            return BrokenResponse(f"a success without a readable answer ({type(error).__name__})")
        return connection_failure(error) if is_transport_failure(error) else None

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


def _not_sent(request: Request, offer: Offer) -> tuple[str, ...]:
    sampling = request.sampling
    pairs = (("temperature", sampling.temperature, offer.temperature), ("seed", sampling.seed, offer.seed))
    return tuple(name for name, wanted, sent in pairs if wanted is not None and sent is None)


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
