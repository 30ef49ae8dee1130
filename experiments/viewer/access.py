"""Who is answered: a browser on this machine that knows the token, and that asks this address by its own name."""

from __future__ import annotations

import secrets
from collections.abc import Collection

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""No script, style or address but our own files: what stands in a trace cannot become any of them."""
_HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class AccessControl:
    """Refuses what does not come from the page that was opened, and sets the headers of all answers.

    A foreign name in the Host header is the sign of a rebound DNS name: a page of the network that would read
    what is on this machine. The token stands in the path, so that another user of the machine cannot read it either.

    Args:
        app: what answers the rest; it sees the path without the token.
        token: the first part of every path.
        hosts: what the Host header may be.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(host.encode() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
                message = {**message, "headers": [*message["headers"], *own]}
            await send(message)

        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send_with_headers)
            return
        _, _, path = scope["path"].removeprefix("/").partition("/")
        await self._app({**scope, "path": f"/{path}", "root_path": ""}, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        if [value for name, value in scope["headers"] if name == b"host"] not in [[host] for host in self._hosts]:
            return PlainTextResponse("This address is for this machine alone.\n", 403)
        token, slash, _ = scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self._token) or not slash:
            return PlainTextResponse("The address lacks the token that `quorum view` printed.\n", 403)
        if scope["method"] not in {"GET", "HEAD"}:
            return PlainTextResponse("This page is for reading only.\n", 405, {"allow": "GET, HEAD"})
        return None
