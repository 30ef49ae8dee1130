"""The shared base of providers: the deadline, the ways to request a schema, and error translation."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import PurePosixPath, PureWindowsPath
from types import MappingProxyType
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

import orjson

from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.errors import (
    BadRequest,
    BrokenResponse,
    ConnectionLost,
    ContentFiltered,
    ContextOverflow,
    LanguageModelError,
    TimedOut,
    Unreachable,
)
from quorum.agents.llm.limits import estimate_prompt
from quorum.agents.llm.paid import carried, charge, paid_with, together
from quorum.agents.llm.prices import read_tier
from quorum.agents.llm.protocol import (
    Finish,
    MaxTokensKey,
    Reply,
    Request,
    Structured,
    ThinkingFormat,
    Usage,
)
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.llm.providers.bounded import RECEIVED, Bounds, Received, bounded_client, trusted
from quorum.agents.llm.providers.connecting import find_fault
from quorum.agents.llm.providers.content import PromptCaching, with_extra
from quorum.agents.llm.providers.failures import (
    Key,
    connection_failure,
    error_status,
    error_text,
    is_timeout,
    is_transport_failure,
    longest_answer,
    own_failure,
    readable,
    status_failure,
)
from quorum.agents.llm.providers.loop_time import loop_timeout
from quorum.agents.llm.providers.refusals import Offer, Reduction, Refusals, left_out
from quorum.agents.llm.providers.thinking import find_family, reconcile, room_for_thinking
from quorum.agents.llm.providers.thoughts import part_thoughts
from quorum.agents.llm.providers.usage import body_of, charged, counted_usage
from quorum.agents.llm.providers.waits import retry_after
from quorum_base.user_errors import mask_passwords

Send = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Sends a request body to a provider and returns the response in its SDK's form."""

SIMULATED = "simulated"
"""Name under which servers offer the simulated model; marks its replies as simulated."""


_USUAL_DIALECTS = (ThinkingFormat.AUTO, ThinkingFormat.OPENAI)


class Provider(ProvidedModel):
    """A model behind an SDK. It tries once: retries, repairs and limits are separate wrappers.

    The provider leaves out what a service refuses twice (a sampling field, the name of the output limit, a JSON schema
    under `AUTO`); `Reply.form`, `not_sent` and `reduced` record how each answer was requested. See `refusals`. If the
    prompt fits the model's context but the longest answer does not, the answer gets the remaining tokens.

    Args:
        model: the provider's name of the model.
        base_url: address of the server; None for the provider's own, whatever the SDK's environment variable says.
        key_variable: environment variable of the key; None for servers without keys; empty for `usual_key`.
        structured: how to request the schema of an answer.
        deadline: time limit in seconds for a whole call, including everything it does.
        bounds: limits of each exchange within a call.
        max_tokens_key: name of the output token limit, for formats with two names.
        prompt_cache: whether to mark prompt prefixes for the provider's cache, if it has one.
        thinking_format: name of the thinking switch, for formats with several dialects.
        keep_thinking: whether to keep the text of thoughts, if the server returns it.
        service_tier: the provider's name of a service tier; None for its default. A refused tier is never left out,
            because the price would differ from the requested one.
        headers: additional headers of every request; they must not hold a key.

    Raises:
        AuthenticationFailed: the variable holds no key.
        ValueError: `base_url` holds a password.
    """

    name: ClassVar[str]
    _client: Any
    _own_address: ClassVar[str | None] = None
    """The provider's own address; None if its SDK knows several."""
    _client_name: ClassVar[str] = ""
    """Name of the SDK's client class; empty if it has none."""
    _never_taken: ClassVar[tuple[str, ...]] = ()
    """Sampling parameters that the SDK itself does not accept."""
    embeds: ClassVar[bool] = False
    """Whether it supports embeddings (`quorum.agents.llm.embeddings`)."""
    _http_library: ClassVar[str] = "httpx2"
    """HTTP library that the SDK connects with."""
    usual_key: ClassVar[str | None]
    """Environment variable that usually holds the key; None if the SDK finds the key itself."""

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
        prompt_cache: bool = True,
        thinking_format: ThinkingFormat = ThinkingFormat.AUTO,
        keep_thinking: bool = True,
        service_tier: str | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.model = model
        self._key = Key(self.usual_key if key_variable == "" else key_variable)
        self._structured = structured
        self._deadline = deadline
        self._bounds = replace(bounds, redact=self._key.redaction(), headers=frozenset(map(str.lower, headers)))
        self._answered = False
        """Whether the server has ever answered: a server that has answered before may come back."""
        self._service_tier = service_tier
        self._headers = dict(headers)
        self._sdk: Any = self._import()
        self.base_url = self._connect(check_address(base_url) or self._own_address)
        self._refusals = Refusals(
            structured,
            self._usual_max_tokens_key() if max_tokens_key is MaxTokensKey.AUTO else max_tokens_key,
            rename=max_tokens_key is MaxTokensKey.AUTO,
            prompt_cache=self._usual_prompt_caching() if prompt_cache else PromptCaching.NONE,
        )
        self._refusals.never(*self._never_taken)
        self._keep_thinking = keep_thinking
        self._thinking = self._dialect(thinking_format)
        self._family = find_family(self._table(), model)

    @property
    def identity(self) -> dict[str, str]:
        """The settings of this provider that reach the model: part of every cache key."""
        return {
            "provider": self.name,
            "base_url": self.base_url,
            "model": self.model,
            "structured": self._structured.value,
            **({"headers": orjson.dumps(self._headers, option=orjson.OPT_SORT_KEYS).decode()} if self._headers else {}),
            **({} if self._thinking in _USUAL_DIALECTS else {"thinking_format": self._thinking.value}),
            **({} if self._keep_thinking else {"text_of_thinking": "drop"}),
        }

    @abstractmethod
    def _import(self) -> Any:
        """Import the SDK; deferred until needed because it is slow."""

    def _connect(self, base_url: str | None) -> str:
        """Create the client and return the address it uses."""
        self._client = self._make_client(base_url, self._bounds)
        return str(self._client.base_url)

    def _make_client(self, base_url: str | None, bounds: Bounds) -> Any:
        return getattr(self._sdk, self._client_name)(
            api_key=self._key.reveal(),
            base_url=base_url,
            # Passed explicitly: otherwise the SDK takes a key from `..._CUSTOM_HEADERS` in the environment.
            default_headers={**self._headers, "Authorization": f"Bearer {self._key.reveal()}"},
            max_retries=0,
            timeout=self._timeout(self._deadline),
            # aiohttp: a third of the CPU of the usual client at 256 calls at once
            http_client=bounded_client(self._sdk.DefaultAioHttpClient, bounds, base_url),
        )

    @abstractmethod
    def _body(self, request: Request, offer: Offer) -> dict[str, Any]:
        """Return the request body in the provider's format, without the tier and extra fields."""

    @abstractmethod
    async def _send(self, body: Mapping[str, Any], deadline: float) -> Any:
        """Send a body once through the SDK; return the response. Raises the SDK's own errors."""

    @abstractmethod
    def _read(self, response: Any, request: Request) -> Reply:
        """Read a response. Raises `BrokenResponse`; any other Python error counts as one, because responses vary."""

    @abstractmethod
    def _usage(self, usage: Any, request: Request, text: str, thinking: str) -> Usage:
        """Read the usage of a response, as JSON or an SDK object. Raises `BrokenResponse`."""

    def client_for_files(self, max_bytes: int) -> tuple[Any, Any]:
        """Return another SDK client, for files longer than any reply, and the SDK.

        Args:
            max_bytes: maximum size of a file.
        """
        bounds = replace(self._bounds, first_byte=None, max_bytes=max_bytes)
        return self._make_client(self.base_url, bounds), self._sdk

    def failure(self, status: int, body: Mapping[str, Any] | None) -> LanguageModelError:
        """Return our error for a failed request of a batch."""
        return self._translate_status(status, body, f"HTTP {status}", None)

    def _dialect(self, chosen: ThinkingFormat) -> ThinkingFormat:
        """Return the dialect of the thinking switch here, and record what it cannot express."""
        return chosen

    def _table(self) -> str:
        """Return the provider whose `families` include the models served here."""
        return self.name

    def _usual_max_tokens_key(self) -> MaxTokensKey:
        """Return the name of the output token limit here, as far as known before the first request."""
        return MaxTokensKey.MAX_TOKENS

    def _usual_prompt_caching(self) -> PromptCaching:
        """Return the prompt cache settings supported here: none unless the server is known to have such a cache."""
        return PromptCaching.NONE

    def _timeout(self, deadline: float) -> Any:
        """Return the time-outs of the SDK's HTTP client: connection only, as ours exclude lag of the event loop."""
        return self._sdk.Timeout(None, connect=min(self._bounds.connect, deadline))

    async def complete(self, request: Request) -> Reply:
        """Answer a request within its deadline, or the provider's.

        Raises:
            quorum.agents.llm.errors.RequestRefused: the provider refuses.
            quorum.agents.llm.errors.Transient: this attempt failed.
        """
        deadline = self._deadline if request.deadline is None else request.deadline
        return await self.answer(request, partial(self._send, deadline=deadline), deadline)

    async def answer(self, request: Request, send: Send, deadline: float | None) -> Reply:
        """Answer a request with a custom sender instead of a single call.

        Args:
            request: the request.
            send: sends a body to the provider and returns the response as the SDK would.
            deadline: time limit in seconds for the whole answer; None for no limit.

        Raises:
            quorum.agents.llm.errors.RequestRefused: the provider refuses.
            quorum.agents.llm.errors.Transient: this attempt failed.
        """
        if wants_embeddings(request) and not self.embeds:
            raise BadRequest(
                f"{self.name} offers no embeddings here: to use any server with OpenAI's /embeddings, set "
                "llm.roles.embedding.name=openai, with its base_url and model"
            )
        paid: list[Reply | None] = []
        with carried(paid):
            reply = await self._insist(request, send, deadline, paid)
            return together([*paid, reply])

    async def _insist(self, request: Request, send: Send, deadline: float | None, paid: list[Reply | None]) -> Reply:
        """Send a request until the service accepts it, reduced if necessary; add the cost of failed tries to `paid`."""
        begin = time.perf_counter()
        attempts = 0
        most: int | None = None
        reduction = Reduction(self._refusals)
        refusal: LanguageModelError | None = None
        failure: LanguageModelError
        try:
            async with loop_timeout(deadline) as scope:
                while True:
                    offer = self._offer(request, reduction.left_out, most)
                    attempts += 1
                    reply = await self._attempt(request, offer, send)
                    if isinstance(reply, Reply):
                        self._refusals.take(offer, reduction.left_out)
                        break
                    paid.append(paid_with(reply))
                    if (bound := _longest(request, offer, reply)) is not None:
                        most = bound
                        continue
                    refusal = refusal or reply
                    if not reduction.refused(reply, offer):
                        last = charge(refusal if isinstance(reply, BadRequest) else reply)  # `paid` has it
                        reply = self._outcome(last, request, billed=paid[-1] is not None)
                        break
            return replace(
                reply,
                thinking=reply.thinking if self._keep_thinking else "",
                carried=reply.carried if request.carry and self._keep_thinking else (),
                model=without_folders(reply.model),
                simulated=reply.model.rpartition("/")[2] == SIMULATED,
                seconds=time.perf_counter() - begin,
                attempts=attempts,
                not_sent=left_out(request.sampling, offer.sampling),
                form="" if offer.structured is None else offer.structured.value,
                reduced=offer.reduced,
            )
        except TimeoutError:
            if not scope.expired():
                raise
            failure = TimedOut(f"no complete answer within {deadline:g} s")
        except ConnectionLost as lost:
            failure = lost if self._answered else await self.reach() or lost
        raise failure  # outside the handler: the SDK's message may hold a key and must not stay as the context

    def _outcome(self, failure: LanguageModelError, request: Request, *, billed: bool) -> Reply:
        """Return a failure as a reply, if it is one: a text refused by a filter is a refused answer on every API.

        Azure charges for such a prompt (learn.microsoft.com, "Plan to manage costs for Azure OpenAI"), so its tokens
        are estimated if the service has not billed them.

        Raises:
            LanguageModelError: the failure is not a reply.
        """
        if not isinstance(failure, ContentFiltered) or wants_embeddings(request):
            raise failure
        usage = Usage(0 if billed else ceil(estimate_prompt(request)), 0, estimated=not billed)
        return Reply(str(failure), Finish.REFUSAL, usage, None, 0.0, self.model)

    async def reach(self) -> Unreachable | None:
        """Connect to the server and hang up, at no cost; return the reason for a failure, or None."""
        if not self.base_url:
            return None
        certificates = trusted(self._http_library) if self.base_url.startswith("https:") else None
        return await asyncio.to_thread(find_fault, self.base_url, self._bounds.connect, certificates)

    def _offer(self, request: Request, suspected: frozenset[str], most: int | None) -> Offer:
        """Return what to send: the request, without what the server refuses, plus the allowance for thoughts.

        Args:
            request: the request.
            suspected: parts to leave out this time only.
            most: maximum tokens of an answer, as reported by the server.
        """
        wanted, family = request.sampling, self._family
        offer = self._refusals.offer(wanted, form=request.answer is not None, suspected=suspected)
        offer = reconcile(offer, family, auto=self._structured is Structured.AUTO)
        longest = wanted.max_tokens + room_for_thinking(wanted, offer.sampling, family)
        longest *= wanted.room_factor or 1
        bounds = (longest, *([] if family is None else [family.longest]), *([] if most is None else [most]))
        return replace(offer, longest=min(bounds))

    async def _attempt(self, request: Request, offer: Offer, send: Send) -> Reply | LanguageModelError:
        """Try once; a failure carries the cost of the try."""
        received = Received()
        token = RECEIVED.set(received)
        try:
            body = self._body(request, offer)
            if self._service_tier is not None and not wants_embeddings(request):
                body["service_tier"] = self._service_tier
            response = await send(with_extra(body, request.sampling.extra_body))
            self._answered = True
            if isinstance(response, str):
                raise BrokenResponse("a successful response with text instead of JSON (HTML of a proxy?)")
            return self._understood(response, request)
        except Exception as error:  # `translate` handles SDK failures; anything else is raised again
            failure = self.translate(error)
            if failure is None:
                raise
            self._answered |= not isinstance(failure, ConnectionLost | TimedOut)
            return charge(failure, self._bill(body_of(received.body), request))
        finally:
            RECEIVED.reset(token)

    def _understood(self, response: Any, request: Request) -> Reply:
        """Read a response, which may have any shape."""
        try:
            return part_thoughts(self._read(response, request))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise BrokenResponse(f"a successful response in another format ({type(error).__name__})") from None

    def _bill(self, body: Mapping[str, Any], request: Request) -> Reply | None:
        """Return the cost of an unusable reply; None if it has no token counts.

        Impossible counts are replaced by estimates, as missing ones are.
        """
        usage = body.get("usage") or body.get("usageMetadata")
        if not isinstance(usage, Mapping):
            return None
        try:
            counted, usd = self._usage(usage, request, "", ""), charged(usage)
        except BrokenResponse:
            counted, usd = counted_usage(None, None, None, None, request=request, text=""), None
        tier = read_tier(body.get("service_tier") or usage.get("service_tier"))
        simulated = self.model.rpartition("/")[2] == SIMULATED
        return Reply("", Finish.STOP, counted, usd, 0.0, self.model, unusable=1, tier=tier, simulated=simulated)

    def _check_choice(self, response: Any) -> None:
        """Raise the error that OpenRouter puts into a choice if a provider fails after it has started to answer.

        Source: openrouter.ai/docs/api-reference/errors.
        """
        choice = next(iter(getattr(response, "choices", None) or ()), None)
        if error := getattr(choice, "error", None):
            raise self._translate_status(error_status(error), error, "an error instead of an answer", None)

    def translate(self, error: Exception) -> LanguageModelError | None:
        """Return our error for one of the SDK or its HTTP client; None for bugs, which are not failures of a call."""
        found = own_failure(error) or self._failure_of_sdk(error)
        if found is None and isinstance(error, RecursionError | ValueError):
            return BrokenResponse(f"a successful response without a readable answer ({type(error).__name__})")
        return connection_failure(error) if found is None and is_transport_failure(error) else found

    def _failure_of_sdk(self, error: Exception) -> LanguageModelError | None:
        """Return our error for an SDK error class (the official SDKs share the names); None for others."""
        sdk = self._sdk
        if isinstance(error, sdk.APITimeoutError) and is_timeout(error):
            return TimedOut("the SDK's own time-out has expired")
        if isinstance(error, sdk.APIConnectionError):
            return connection_failure(error)
        if isinstance(error, sdk.APIStatusError):
            return self._translate_status(
                error.status_code, getattr(error, "body", None), str(error), error.response.headers
            )
        if isinstance(error, sdk.APIResponseValidationError):
            return BrokenResponse("a successful response that does not match the SDK's types")
        return None

    def _translate_status(
        self, status: int, body: Any, message: str, headers: Mapping[str, str] | None
    ) -> LanguageModelError:
        text, code = error_text(body, message)
        text = readable(mask_passwords(text))
        return status_failure(
            status, text, code=code, wait=retry_after(headers, text), model=self.model, variable=self._key.variable
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _longest(request: Request, offer: Offer, failure: LanguageModelError) -> int | None:
    """Return the longest answer that fits after a refusal; None if a shorter one would not help.

    If the server does not report it, drop the allowance for thoughts: the prompt and the answer may fit without it.
    """
    usual = request.sampling.max_tokens
    bound = None
    if isinstance(failure, ContextOverflow):
        bound = usual if failure.room is None else failure.room
    elif isinstance(failure, BadRequest) and offer.longest > usual:
        bound = longest_answer(str(failure))
    return bound if bound is not None and 0 < bound < offer.longest else None


def check_address(base_url: str | None) -> str | None:
    """Refuse an address that contains a secret: addresses appear in configurations, caches and records.

    Raises:
        ValueError: it contains a user name or a password.
    """
    if base_url is not None and "@" in urlsplit(base_url).netloc:
        raise ValueError("base_url contains a user name or a password; keys come only from environment variables")
    return base_url


def without_folders(model: str) -> str:
    """Return the name of a model; for a path on the server's disk, only its last part.

    llama.cpp and vLLM report the path they were started with unless they were given a name. Local paths must not appear
    in records.
    """
    for path in (PurePosixPath(model), PureWindowsPath(model)):
        if path.is_absolute() or (path.suffix == ".gguf" and path.name != model):
            return path.name or model
    return model
