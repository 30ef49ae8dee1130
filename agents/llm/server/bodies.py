"""The body of a request, read within bounds: it is JSON, an object, neither endless nor slow."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson
from starlette.requests import Request as HttpRequest

from quorum.agents.llm.server.formats import BadBody

MIB = 2**20


@dataclass(frozen=True, slots=True)
class BodyBounds:
    """The bounds of a body.

    Attributes:
        bytes: of it, at most.
        seconds: that it may take to arrive.
    """

    bytes: int = 16 * MIB
    seconds: float = 30.0


class RefusedBody(Exception):
    """A body that is not read to its end.

    Attributes:
        status: of the response.
    """

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


async def read_body(http: HttpRequest, bounds: BodyBounds) -> Mapping[str, Any]:
    """Read the body of a request.

    Browsers send another site's words as JSON only if the server allows it, which this one does not.

    Raises:
        RefusedBody: it says that it is no JSON, it is too long, or it takes too long.
        BadBody: it is no JSON, or no object.
        starlette.requests.ClientDisconnect: the client has gone.
    """
    if http.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise RefusedBody(415, "content-type: application/json is needed")
    try:
        body = orjson.loads(await read_bytes(http, bounds))
    except ValueError as error:
        raise BadBody(f"the body is no JSON: {error}") from None
    if not isinstance(body, dict):
        raise BadBody("the body is no JSON object")
    return body


async def read_bytes(http: HttpRequest, bounds: BodyBounds) -> bytes:
    """Read the body of a request, whatever it is.

    Raises:
        RefusedBody: it is too long, or takes too long.
        starlette.requests.ClientDisconnect: the client has gone.
    """
    content = bytearray()
    try:
        async with asyncio.timeout(bounds.seconds):
            async for part in http.stream():
                content += part
                if len(content) > bounds.bytes:
                    raise RefusedBody(413, f"the body has more than {bounds.bytes} bytes")
    except TimeoutError:
        raise RefusedBody(408, f"the body took more than {bounds.seconds:g} s") from None
    return bytes(content)
