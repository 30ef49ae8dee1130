"""How a route of batches answers: JSON, lines of JSON, and its errors in the words of the format."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any

import orjson
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from quorum.more_providers.serving.app import as_json, refused
from quorum.more_providers.serving.formats import BadBody, Format
from tests.loopback.batches.served import NotThere

BOUNDS = 300_000_000, 300.0
"""Bytes and seconds of what is uploaded."""
PAGE = 20
"""Batches of a page of their list, where a client asks for no number."""


def route(method: str, path: str, wire: Format, handle: Callable[[HttpRequest], Awaitable[Response]]) -> Route:
    """Return a route whose errors are those of the format."""

    async def answer(http: HttpRequest) -> Response:
        try:
            return await handle(http)
        except ClientDisconnect:
            return Response()
        except BadBody as error:
            return refused(wire, error)
        except NotThere as error:
            return as_json(wire.error("not_found_error", str(error)), 404)
        except ValueError as error:
            return as_json(wire.error("invalid_request_error", str(error)), 400)

    return Route(path, answer, methods=[method])


def as_lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return JSON Lines."""
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)


def limit_of(http: HttpRequest) -> int:
    """Return how many batches a client wants on a page."""
    return int(http.query_params.get("limit", PAGE))
