"""Serve the pages of a library on 127.0.0.1, read-only, to a browser that has the token of the address."""

from __future__ import annotations

import contextlib
import re
import secrets
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quorum.process.http import HOST, Connections, listen, server_config
from quorum.view.viewer.episode import Episode
from quorum.view.viewer.library import Library
from quorum.view.viewer.page import STATIC, served_page, static_file
from quorum.view.viewer.pages import Json, MadePages, Pages
from quorum.view.viewer.runs import sweep_table
from quorum_base.user_errors import UserError

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Allow only our own scripts, styles and addresses: content of a trace cannot become any of them."""
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
    """Refuses requests that do not come from the opened page, and sets the headers of all answers.

    A foreign name in the Host header indicates DNS rebinding: a web page that tries to read data on this machine. The
    token is part of the path, so that other users of the machine cannot read the data either.

    Args:
        app: answers accepted requests; it sees the path without the token.
        token: the first part of every path.
        hosts: allowed values of the Host header.
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
            return PlainTextResponse("This address works only on this machine.\n", 403)
        token, slash, _ = scope["path"].removeprefix("/").partition("/")
        if not secrets.compare_digest(token.encode(), self._token) or not slash:
            return PlainTextResponse("The address lacks the token that `quorum view` printed.\n", 403)
        if scope["method"] not in {"GET", "HEAD"}:
            return PlainTextResponse("This page is read-only.\n", 405, {"allow": "GET, HEAD"})
        return None


_NUMBER = re.compile("[0-9]{1,18}")
_LONGEST_SEARCH = 200
"""Maximum characters of a search."""


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Served:
    """The routes of a library. No answer is a coroutine, so each is made in a thread."""

    library: Library

    def app(self) -> Starlette:
        """Return the application without its access control."""
        run, library = "/api/run/{name}", self.library
        answers: dict[str, Callable[[Request], Response]] = {
            "/": self._front,
            "/run/{name}": self._episode_page,
            "/pair/{one}/{other}": self._pair_page,
            "/static/{name}": self._static,
            f"{run}/picture/{{digest}}": self._picture,
        }
        data: dict[str, Callable[[Request], Any]] = {
            "/api/pair": self._pair,
            "/api/pair/{one}/{other}": self._pair_of,
            "/api/sweep": self._sweep,
            f"{run}/episode": lambda request: _present(library.episode(request.path_params["name"])).overview,
            f"{run}/family": lambda request: _present(library.family(request.path_params["name"])),
            f"{run}/progress": lambda request: library.progress(request.path_params["name"]),
            f"{run}/page/{{t}}": partial(self._page, lambda episode: episode.pages),
            f"{run}/film/{{t}}": partial(self._page, lambda episode: episode.film),
            f"{run}/ways/{{t}}": partial(self._page, lambda episode: episode.ways),
            f"{run}/call/{{number}}": self._call,
            f"{run}/search": self._search,
        }
        answers |= {path: partial(_json, found) for path, found in data.items()}
        return Starlette(routes=[Route(path, answer, methods=["GET"]) for path, answer in answers.items()])

    def _front(self, _: Request) -> Response:
        single, pair = self.library.single, self.library.pair
        if pair is not None:
            return HTMLResponse(served_page("pair", " | ".join(pair["runs"])))
        return HTMLResponse(served_page("sweep", "Quorum") if single is None else served_page("episode", single))

    def _episode_page(self, request: Request) -> Response:
        name = request.path_params["name"]
        _present(self.library.folder(name))
        return HTMLResponse(served_page("episode", name, up="../"))

    def _pair_page(self, request: Request) -> Response:
        names = [request.path_params[side] for side in ("one", "other")]
        for name in names:
            _present(self.library.folder(name))
        way = "/".join(quote(name, safe="") for name in names)
        return HTMLResponse(served_page("pair", way, " | ".join(names), up="../../"))

    def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        media_type = _present(STATIC.get(name), "There is no such file.")
        return Response(static_file(name), media_type=media_type)

    def _pair(self, _: Request) -> Json:
        return _present(self.library.pair, "This page needs two open runs.")

    def _pair_of(self, request: Request) -> Json:
        try:
            return _present(self.library.side_of(request.path_params["one"], request.path_params["other"]))
        except UserError as error:
            raise HTTPException(409, error.message) from error

    def _sweep(self, _: Request) -> Json:
        if self.library.named:
            raise HTTPException(404, "No sweep was opened.")
        return sweep_table(self.library.root)

    def _page(self, kind: Callable[[Episode], Pages | MadePages], request: Request) -> msgspec.Raw:
        t, episode = _number(request.path_params["t"]), self._last_read(request)
        return msgspec.Raw(kind(episode).data(episode.pages.holding(t)))

    def _call(self, request: Request) -> Json:
        number = _number(request.path_params["number"])
        try:
            return self._last_read(request).calls.call(number)
        except (IndexError, ValueError):
            raise HTTPException(404, "There is no such call.") from None

    def _picture(self, request: Request) -> Response:
        try:
            png = self._last_read(request).calls.picture(request.path_params["digest"])
        except ValueError:
            raise HTTPException(404, "There is no such picture.") from None
        return Response(png, media_type="image/png")

    def _search(self, request: Request) -> list[int]:
        words = request.query_params.get("q", "")[:_LONGEST_SEARCH]
        return self._last_read(request).calls.matching(words) if words else []

    def _last_read(self, request: Request) -> Episode:
        """Return the run as it was last read: the page has loaded that version and continues with it."""
        return _present(self.library.last_read(request.path_params["name"]))


def _present(found: T | None, otherwise: str = "There is no such run.") -> T:
    """Return a value that is not None.

    Raises:
        HTTPException: it is None.
    """
    if found is None:
        raise HTTPException(404, otherwise)
    return found


def _number(text: str) -> int:
    """Read a number in an address, with at most 18 digits: Python refuses numbers with thousands of digits.

    Raises:
        HTTPException: it is not such a number.
    """
    if not _NUMBER.fullmatch(text):
        raise HTTPException(404, "There is no such page.")
    return int(text)


def _json(found: Callable[[Request], Any], request: Request) -> Response:
    return Response(msgspec.json.encode(found(request)), media_type="application/json")


def application(library: Library, token: str, port: int) -> ASGIApp:
    """Return the application that answers holders of the token on this port."""
    return AccessControl(Served(library).app(), token, {f"{HOST}:{port}", f"localhost:{port}"})


def serve(library: Library, port: int, ready: Callable[[str], None]) -> None:
    """Serve until the process is interrupted.

    Args:
        library: the runs to serve.
        port: 0 for any free one.
        ready: called with the address of the page once the port is bound.

    Raises:
        OSError: the port is taken.
    """
    token = secrets.token_urlsafe(24)
    with contextlib.closing(listen(port)) as listener:
        taken = listener.getsockname()[1]
        app = application(library, token, taken)
        with contextlib.suppress(KeyboardInterrupt):
            listener.listen(128)  # requests that arrive before the server answers wait for it
            Thread(target=library.prepare, daemon=True).start()  # the page may be ready when the browser requests it
            ready(f"http://{HOST}:{taken}/{token}/")
            uvicorn.Server(server_config(app, Connections())).run(sockets=[listener])
