"""The transport layer of every HTTP exchange: it limits time and size, and filters headers and keys.

The SDKs read and unpack a reply whole, whatever its length, and follow redirects with the prompt. They send credentials
from the environment to any address they are given. So this layer wraps the transport of their HTTP client: it sends a
service's credentials to that service only, and removes keys from replies. It also turns an error sent as a success into
an error, for all SDKs alike, because Google's SDK drops fields that its types do not know.
"""

from __future__ import annotations

import asyncio
import os
import sys
import zlib
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import orjson

from quorum.agents.llm.errors import BadRequest, BrokenResponse, TimedOut
from quorum.agents.llm.providers.connecting import find_proxy, load_certificates
from quorum.agents.llm.providers.failures import error_status
from quorum.agents.llm.providers.loop_time import loop_timeout
from quorum.agents.llm.providers.opening import Connecting, follow_aiohttp, new_doors
from quorum.agents.llm.redaction import Redaction

_PACKING = "gzip"
_OF_THE_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_USUAL_PORTS = {"http": 80, "https": 443}
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits and filters of one exchange.

    Attributes:
        connect: time limit for the connection, in seconds.
        first_byte: seconds from the request to the first byte of the answer; None: the limit of the whole call.
        max_bytes: maximum size of an answer, both as received and unpacked.
        redact: removes keys from what arrives.
        headers: names of configured headers, in lower case; these are always sent.
    """

    connect: float = 10.0
    first_byte: float | None = None
    max_bytes: int = 8 * MIB
    redact: Redaction = field(default_factory=lambda: Redaction(()))
    headers: frozenset[str] = frozenset()


@dataclass(slots=True)
class Received:
    """The raw response of one try, kept because an SDK may fail to read it.

    Attributes:
        body: body of the reply; empty until there is one.
    """

    body: bytes = b""


RECEIVED: ContextVar[Received | None] = ContextVar("received", default=None)
"""The response of the current try; a context variable, because HTTP clients are shared between tries."""


def note_received(body: bytes) -> None:
    """Keep the response body for the accounting of the current try."""
    if (received := RECEIVED.get()) is not None:
        received.body = body


async def exchange(
    send: Callable[[Any], Awaitable[Any]], request: Any, bounds: Bounds, doors: asyncio.Semaphore | None = None
) -> Any:
    """Send a request through an httpx or httpx2 transport; return its reply, read and unpacked within bounds.

    Args:
        send: send method of the transport.
        request: the request.
        bounds: limits of the exchange.
        doors: limits how many connections open at once; None if the transport does not report connections: then its
            own timer applies, including lag of the loop.

    Raises:
        quorum.agents.llm.errors.TimedOut: no connection or no first byte in time.
        quorum.agents.llm.errors.BrokenResponse: the reply is too long, or has an encoding that was not requested.
        quorum.agents.llm.errors.BadRequest: the server redirects to another server.
    """
    request.headers["accept-encoding"] = _PACKING
    for name, value in _of_other_services(request.url.host):
        if name not in bounds.headers and request.headers.get(name) == value:
            del request.headers[name]
    if (timeouts := request.extensions.get("timeout")) is not None:  # some SDKs have a single time-out
        usual = min(bounds.connect, timeouts.get("connect") or bounds.connect)
        timeouts["connect"] = usual if doors is None else None
    try:
        async with Connecting(doors, bounds.connect) as connecting, loop_timeout(bounds.first_byte) as first_byte:
            request.extensions["trace"] = connecting.follow
            response = await send(request)
    except TimeoutError:
        if connecting.expired:
            raise TimedOut(f"no connection within {bounds.connect:g} s (llm.connect_timeout)") from None
        if not first_byte.expired():
            raise
        raise TimedOut(f"no first byte within {bounds.first_byte:g} s (llm.first_byte_timeout)") from None
    redact = bounds.redact
    try:
        _check_redirect(request.url, response)
        body = await _read(response, bounds.max_bytes)
    except BaseException:
        await response.aclose()
        raise
    body = redact.in_bytes(body)
    note_received(body)
    headers = [(name, redact(value)) for name, value in response.headers.multi_items() if name not in _OF_THE_BODY]
    status = _status(body) if response.status_code == 200 else response.status_code
    # Without extensions: they hold the server's own reason phrase, and some SDKs quote it.
    return type(response)(status, headers=headers, content=body, request=request)


_ANSWERS = frozenset({"choices", "content", "candidates", "output", "data", "name", "custom_id"})
"""Keys of a body with an answer in any format, or of a row or state of a batch. OpenRouter and gateways send 200 and an
error if it occurs after they have started to answer: openrouter.ai/docs/api-reference/errors."""
_STATES = frozenset({"response", "batch", "file"})
"""OpenAI objects with a field for an error."""


def _status(body: bytes) -> int:
    """Return the status of a successful response: that of the error it carries instead of an answer."""
    if b'"error"' not in body:
        return 200
    try:
        found = orjson.loads(body)
    except ValueError:
        return 200
    found = found[0] if isinstance(found, list) and len(found) == 1 else found
    if not isinstance(found, dict) or not found.get("error") or found.get("object") in _STATES:
        return 200
    if any(found.get(name) for name in _ANSWERS):
        return 200
    return error_status(found)


_OPENAI, _ANTHROPIC = "api.openai.com", "api.anthropic.com"
_IDENTIFIERS = {
    "OPENAI_ORG_ID": ("openai-organization", _OPENAI),
    "OPENAI_ORGANIZATION": ("openai-organization", _OPENAI),
    "OPENAI_PROJECT_ID": ("openai-project", _OPENAI),
}
"""Environment variables that the SDKs send, the header they use, and the only host they belong to."""
_CUSTOM_HEADERS = {"OPENAI_CUSTOM_HEADERS": _OPENAI, "ANTHROPIC_CUSTOM_HEADERS": _ANTHROPIC}
"""Environment variables with additional headers for the SDKs, as lines `NAME: VALUE`, and their only host."""


def _of_other_services(host: str) -> Iterator[tuple[str, str]]:
    """Yield the environment's headers for other services' hosts: lower-case names, and values."""
    for variable, (name, meant) in _IDENTIFIERS.items():
        if (value := os.environ.get(variable)) and not _is_at(host, meant):
            yield name, value
    for variable, meant in _CUSTOM_HEADERS.items():
        if (lines := os.environ.get(variable)) and not _is_at(host, meant):
            parts = (line.partition(":") for line in lines.split("\n"))
            yield from ((name.strip().lower(), value.strip()) for name, _, value in parts)


def _is_at(host: str, service: str) -> bool:
    return host == service or host.endswith(f".{service}")


class _BoundedTransport:
    def __init__(self, transport: Any, bounds: Bounds) -> None:
        self._transport = transport
        self._bounds = bounds
        self._doors = new_doors()
        if hasattr(transport, "get_client"):
            follow_aiohttp(transport)

    async def handle_async_request(self, request: Any) -> Any:
        return await exchange(self._transport.handle_async_request, request, self._bounds, self._doors)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def __aenter__(self) -> _BoundedTransport:
        await self._transport.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._transport.__aexit__(*error)


async def _read(response: Any, most: int) -> bytes:
    """Read a body and unpack it piece by piece, up to the limit."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", _PACKING):
        raise BrokenResponse("a reply with a compression that Quorum did not request")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing == _PACKING else None
    parts: list[bytes] = []
    arrived = length = 0
    async for part in response.aiter_raw():
        arrived += len(part)
        try:
            unpacked = part if unpacker is None else unpacker.decompress(part, most - length + 1)
        except zlib.error:
            raise BrokenResponse("a reply that cannot be decompressed") from None
        length += len(unpacked)
        if max(arrived, length) > most:
            raise BrokenResponse(f"a reply of more than {most} bytes (llm.max_reply_bytes)")
        parts.append(unpacked)
    if unpacker is not None and not unpacker.eof:
        raise BrokenResponse("an incomplete reply")
    return b"".join(parts)


def _check_redirect(asked: Any, response: Any) -> None:
    """Refuse a redirect to another server, which would receive the prompt and, from some SDKs, the key."""
    if not response.has_redirect_location:
        return
    try:
        target = asked.join(response.headers["location"])
    except Exception as error:  # an address that no parser accepts; the error type differs between the httpx versions
        raise BrokenResponse("a redirect to an invalid address") from error
    if _place(target) != _place(asked) and not _is_upgrade(asked, target):
        raise BadRequest(
            f"the server redirects to {target.scheme}://{target.netloc.decode('ascii', 'replace')}:"
            " Quorum sends prompts only to llm.base_url"
        )


def _place(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or _USUAL_PORTS.get(url.scheme)


def _is_upgrade(asked: Any, target: Any) -> bool:
    """Return whether a redirect leads to the same host, from the default HTTP port to the default HTTPS port."""
    return (_place(asked), _place(target)) == (("http", asked.host, 80), ("https", asked.host, 443))


def bounded_client(client: type[Any], bounds: Bounds, address: str | None = None, **options: Any) -> Any:
    """Return an HTTP client for an SDK whose transports, including that through a proxy, enforce limits.

    Args:
        client: the SDK's client class, of httpx or httpx2. The SDKs install their transport in `_init_transport`.
        bounds: limits of every exchange.
        address: address of the server; None for the SDK's default.
        options: options of the client.

    Raises:
        Unreachable: the environment names an unusable proxy or unusable certificates.
    """

    class BoundedClient(client):  # type: ignore[misc] # by its name at run time
        def _init_transport(self, *arguments: Any, **named: Any) -> Any:
            return _BoundedTransport(super()._init_transport(*arguments, **named), bounds)

        def _init_proxy_transport(self, *arguments: Any, **named: Any) -> Any:
            return _BoundedTransport(super()._init_proxy_transport(*arguments, **named), bounds)

    library = next(kind.__module__ for kind in client.__mro__ if kind.__name__ == "AsyncClient").partition(".")[0]
    if address is not None:
        proxy = find_proxy(address)
        options |= {"proxy": None if proxy is None else proxy.url, "trust_env": False}
    return BoundedClient(verify=trusted(library), **options)


def trusted(library: str) -> Any:
    """Return the certificates that httpx or httpx2 trusts, read once per process.

    Raises:
        Unreachable: a variable names a file or folder without certificates.
    """
    return _trusted(library, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _trusted(library: str, _file: str | None, _folder: str | None) -> Any:
    """Return the certificates for two variables; cached because reading them takes 25 ms."""
    return load_certificates(sys.modules[library].create_ssl_context)
