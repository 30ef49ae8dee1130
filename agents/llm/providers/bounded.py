"""The bounds of one exchange over HTTP: when it has to begin, how long its answer may be, and where it may lead.

The SDKs read a reply whole, whatever its length, unpack it whole, and follow redirects with the prompt in hand. So the
bounds stand below them, around the transport of their HTTP client.
"""

from __future__ import annotations

import asyncio
import os
import sys
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from quorum.agents.llm.errors import BadRequest, BrokenResponse, TimedOut
from quorum.agents.llm.providers.connecting import Connecting, follow_aiohttp, new_doors
from quorum.agents.llm.providers.loop_time import loop_timeout

_PACKING = "gzip"
_OF_THE_BODY = frozenset({"content-encoding", "content-length", "transfer-encoding"})
_USUAL_PORTS = {"http": 80, "https": 443}
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of one exchange.

    Attributes:
        connect: seconds within which there must be a connection.
        first_byte: seconds from the request to the first byte of its answer; None: as long as the whole may take.
        max_bytes: longest answer, as it arrives and unpacked.
    """

    connect: float = 10.0
    first_byte: float | None = None
    max_bytes: int = 8 * MIB


async def exchange(
    send: Callable[[Any], Awaitable[Any]], request: Any, bounds: Bounds, doors: asyncio.Semaphore | None = None
) -> Any:
    """Send a request by a transport of httpx, or of httpx2, and return its reply, read and unpacked within bounds.

    Args:
        send: of the transport.
        request: what it sends.
        bounds: of the exchange.
        doors: let a few connections open at once; None where the transport does not report that it connects: then its
            own timer counts, with the lag of the loop.

    Raises:
        quorum.agents.llm.errors.TimedOut: no connection or no first byte in time.
        quorum.agents.llm.errors.BrokenResponse: the reply is too long, or packed in a way that was not asked for.
        quorum.agents.llm.errors.BadRequest: the server redirects to another one.
    """
    request.headers["accept-encoding"] = _PACKING
    if (timeouts := request.extensions.get("timeout")) is not None:  # the SDKs of some providers have one for all
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
    try:
        _check_redirect(request.url, response)
        body = await _read(response, bounds.max_bytes)
    except BaseException:
        await response.aclose()
        raise
    headers = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_THE_BODY]
    return type(response)(
        response.status_code, headers=headers, content=body, request=request, extensions=response.extensions
    )


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
    """Read a body, and unpack it piece by piece, no further than to the bound."""
    packing = response.headers.get("content-encoding", "identity").strip().lower()
    if packing not in ("identity", _PACKING):
        raise BrokenResponse("a reply that is packed in a way that was not asked for")
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16) if packing == _PACKING else None
    parts: list[bytes] = []
    arrived = length = 0
    async for part in response.aiter_raw():
        arrived += len(part)
        try:
            unpacked = part if unpacker is None else unpacker.decompress(part, most - length + 1)
        except zlib.error:
            raise BrokenResponse("a reply that cannot be unpacked") from None
        length += len(unpacked)
        if max(arrived, length) > most:
            raise BrokenResponse(f"a reply of more than {most} bytes (llm.max_reply_bytes)")
        parts.append(unpacked)
    if unpacker is not None and not unpacker.eof:
        raise BrokenResponse("a reply that is not whole")
    return b"".join(parts)


def _check_redirect(asked: Any, response: Any) -> None:
    """Refuse to be sent to another server: the prompt, and some SDKs' keys, would go there, too."""
    if not response.has_redirect_location:
        return
    try:
        target = asked.join(response.headers["location"])
    except Exception as error:  # an address that no parser takes, by the error of either httpx
        raise BrokenResponse("a redirect to what is no address") from error
    if _place(target) != _place(asked) and not _is_upgrade(asked, target):
        raise BadRequest(
            f"the server redirects to {target.scheme}://{target.netloc.decode('ascii', 'replace')}, which is not asked:"
            " only base_url gets prompts"
        )


def _place(url: Any) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port or _USUAL_PORTS.get(url.scheme)


def _is_upgrade(asked: Any, target: Any) -> bool:
    """Return whether a redirect leads to the same host, from its usual port without TLS to that with TLS."""
    return (_place(asked), _place(target)) == (("http", asked.host, 80), ("https", asked.host, 443))


def bounded_client(client: type[Any], bounds: Bounds, **options: Any) -> Any:
    """Return an HTTP client of an SDK whose transports keep to bounds, also those through a proxy.

    Args:
        client: the SDK's client, of httpx or httpx2. `_init_transport` is where the SDKs put in their own transport.
        bounds: of every exchange.
        options: of the client.
    """

    class BoundedClient(client):  # type: ignore[misc] # by its name at run time
        def _init_transport(self, *arguments: Any, **named: Any) -> Any:
            return _BoundedTransport(super()._init_transport(*arguments, **named), bounds)

        def _init_proxy_transport(self, *arguments: Any, **named: Any) -> Any:
            return _BoundedTransport(super()._init_proxy_transport(*arguments, **named), bounds)

    library = next(kind.__module__ for kind in client.__mro__ if kind.__name__ == "AsyncClient").partition(".")[0]
    return BoundedClient(verify=trusted(library), **options)


def trusted(library: str) -> Any:
    """Return the certificates that httpx or httpx2 trusts; they are read once in a process."""
    return _trusted(library, os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _trusted(library: str, _file: str | None, _folder: str | None) -> Any:
    """Return what two variables decide: to read it takes 25 ms."""
    return sys.modules[library].create_ssl_context()
