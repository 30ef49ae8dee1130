"""Batches behind the server, in both formats: files, batches, results, expiry, failures, and slow completion.

A batch is answered by the same brain as a call of its own. It counts what it was asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import orjson
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from quorum.agents.llm.errors import LanguageModelError, RequestRefused
from quorum.agents.llm.protocol import Model
from quorum.agents.llm.server.bodies import BodyBounds, RefusedBody, read_body, read_bytes
from quorum.agents.llm.server.formats import AnthropicFormat, BadBody, Format, OpenAIFormat

ENDPOINT = "/v1/chat/completions"
_BOUNDS = BodyBounds(bytes=300_000_000, seconds=300.0)
_MOST_OF_OPENAI, _MOST_OF_ANTHROPIC = 50_000, 100_000
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DAY = 86400.0
_PAGE = 20
_WORDS_OF_EXPIRY = "This request could not be executed before the completion window expired."


class RowFault(StrEnum):
    """What becomes of one request of a batch in place of an answer."""

    EXPIRED = "expired"
    SERVER_ERROR = "server_error"  # 500
    RATE_LIMIT = "rate_limit"  # 429
    BAD_REQUEST = "bad_request"  # 400
    LOST = "lost"  # no result has its name


RowFaults = Callable[[int], RowFault | None]
"""Faults by number of the request, counted over all batches."""

_ERRORS = {
    RowFault.SERVER_ERROR: (500, "api_error", "Something broke."),
    RowFault.RATE_LIMIT: (429, "rate_limit_error", "Too many requests."),
    RowFault.BAD_REQUEST: (400, "invalid_request_error", "The messages are not well formed."),
}


@dataclass
class ServedBatch:
    """A batch of the server.

    Attributes:
        id: of it.
        names: of its requests, in order.
        bodies: of its requests.
        metadata: that came with it.
        file: OpenAI's file of its requests.
        created: seconds since the epoch.
        results: by name: status and body; the status 0 stands for expired, -1 for cancelled.
        ended: whether it has.
        cancelled: whether it was asked to end.
        refused: why it was refused as a whole; empty where it was not.
        stop: set when it is cancelled.
    """

    id: str
    names: Sequence[str]
    bodies: Sequence[Mapping[str, Any]]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    created: float = field(default_factory=time.time)
    results: dict[str, tuple[int, dict[str, Any]]] = field(default_factory=dict)
    ended: bool = False
    cancelled: bool = False
    refused: str = ""
    stop: asyncio.Event = field(default_factory=asyncio.Event)


class Batches:
    """The batches of one server, and a count of what they were asked.

    Args:
        seconds: that a batch takes, at least.
        faults: what becomes of requests, by their number.
        refusals: reasons why the first batches are refused as a whole, in order; empty for one that is taken.
    """

    def __init__(self, seconds: float = 0.0, faults: RowFaults = lambda _: None, refusals: Sequence[str] = ()) -> None:
        self.seconds = seconds
        """That a batch takes, at least."""
        self._faults = faults
        self._refusals = refusals
        self._files: dict[str, bytes] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._numbered = 0
        self.made: dict[str, ServedBatch] = {}
        """All batches that were created, in order, by id."""
        self.asked: Counter[str] = Counter()
        """How often each body was asked, by its digest."""

    @property
    def rows(self) -> int:
        """Requests of all batches."""
        return sum(len(batch.names) for batch in self.made.values())

    def routes(self, brain: Model, models: Sequence[str]) -> list[Route]:
        """Return the routes of both formats.

        Args:
            brain: what answers.
            models: names of models that are known.
        """
        self._brain, self._models = brain, models
        openai, anthropic = OpenAIFormat(), AnthropicFormat()
        root = "/v1/messages/batches"
        return [
            _route("/v1/files", openai, self._upload, "POST"),
            _route("/v1/files/{id}/content", openai, self._content, "GET"),
            _route("/v1/batches", openai, self._create_of_file, "POST"),
            _route("/v1/batches", openai, self._list_openai, "GET"),
            _route("/v1/batches/{id}", openai, self._get_openai, "GET"),
            _route("/v1/batches/{id}/cancel", openai, self._cancel_openai, "POST"),
            _route(root, anthropic, self._create, "POST"),
            _route(root, anthropic, self._list_anthropic, "GET"),
            _route(f"{root}/{{id}}", anthropic, self._get_anthropic, "GET"),
            _route(f"{root}/{{id}}/cancel", anthropic, self._cancel_anthropic, "POST"),
            _route(f"{root}/{{id}}/results", anthropic, self._results, "GET"),
        ]

    async def _upload(self, http: HttpRequest) -> Response:
        parts = _parts(http.headers.get("content-type", ""), await read_bytes(http, _BOUNDS))
        if parts.get("purpose") != b"batch" or "file" not in parts:
            raise BadBody("purpose, file: a file for the purpose 'batch' is needed")
        file = f"file-{len(self._files)}"
        self._files[file] = parts["file"]
        body = {"id": file, "object": "file", "bytes": len(parts["file"]), "created_at": int(time.time())}
        return _json({**body, "filename": f"{file}.jsonl", "purpose": "batch", "status": "processed"})

    async def _content(self, http: HttpRequest) -> Response:
        content = self._files.get(http.path_params["id"])
        if content is None:
            raise _Unknown("No such File object")
        return Response(content, media_type="application/octet-stream")

    async def _create_of_file(self, http: HttpRequest) -> Response:
        body = await read_body(http, _BOUNDS)
        if body.get("endpoint") != ENDPOINT or body.get("completion_window") != "24h":
            raise BadBody(f"endpoint, completion_window: {ENDPOINT} and 24h are known here")
        content = self._files.get(str(body.get("input_file_id")))
        if content is None:
            raise BadBody("input_file_id: there is no such file")
        rows = [orjson.loads(line) for line in content.splitlines() if line.strip()]
        if any(row.get("method") != "POST" or row.get("url") != ENDPOINT for row in rows):
            raise BadBody("method, url: every line must be of the endpoint")
        requests = [(row.get("custom_id"), row.get("body")) for row in rows]
        batch = self._begin(requests, OpenAIFormat(), _MOST_OF_OPENAI)
        batch.metadata, batch.file = body.get("metadata") or {}, str(body["input_file_id"])
        return _json(self._openai(batch))

    async def _create(self, http: HttpRequest) -> Response:
        body = await read_body(http, _BOUNDS)
        requests = body.get("requests")
        if not isinstance(requests, list) or not all(isinstance(row, Mapping) for row in requests):
            raise BadBody("requests: a list of requests is needed")
        rows = [(row.get("custom_id"), row.get("params")) for row in requests]
        return _json(self._anthropic(self._begin(rows, AnthropicFormat(), _MOST_OF_ANTHROPIC), http))

    def _begin(self, rows: Sequence[tuple[Any, Any]], wire: Format, most: int) -> ServedBatch:
        names = [name for name, _ in rows]
        if not 0 < len(rows) <= most:
            raise BadBody(f"a batch has 1 to {most} requests")
        if len(set(names)) < len(names) or not all(isinstance(n, str) and _NAME.fullmatch(n) for n in names):
            raise BadBody("custom_id: unique names of 1 to 64 letters, digits, _ and - are needed")
        if not all(isinstance(body, Mapping) for _, body in rows):
            raise BadBody("every request needs a body")
        number = len(self.made)
        batch = ServedBatch(f"batch_{number}", names, [body for _, body in rows])
        batch.refused = self._refusals[number] if number < len(self._refusals) else ""
        self.made[batch.id] = batch
        if not batch.refused:
            self.asked.update(_digest(body) for body in batch.bodies)
            first, self._numbered = self._numbered, self._numbered + len(rows)
            task = asyncio.get_running_loop().create_task(self._work(batch, wire, first))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return batch

    async def _work(self, batch: ServedBatch, wire: Format, first: int) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.seconds):
                await batch.stop.wait()
        for number, (name, body) in enumerate(zip(batch.names, batch.bodies, strict=True), first):
            fault = self._faults(number)
            if fault is RowFault.LOST:
                continue
            if batch.cancelled or fault is RowFault.EXPIRED:
                batch.results[name] = (-1 if batch.cancelled else 0, {})
            elif fault is not None:
                status, kind, text = _ERRORS[fault]
                batch.results[name] = (status, wire.error(kind, text))
            else:
                batch.results[name] = await self._answer(wire, body, number)
            await asyncio.sleep(0)
        batch.ended = True

    async def _answer(self, wire: Format, body: Mapping[str, Any], number: int) -> tuple[int, dict[str, Any]]:
        """Answer a request as the server would answer a call of its own."""
        try:
            asked = wire.read(body)
        except BadBody as error:
            return 400, wire.error("invalid_request_error", str(error))
        if asked.model not in self._models:
            return 404, wire.error("not_found_error", f"model: {asked.model} is not known")
        try:
            reply = await self._brain.complete(asked.request)
        except RequestRefused as error:
            return 400, wire.error("invalid_request_error", str(error))
        except LanguageModelError as error:
            return 500, wire.error("api_error", f"{type(error).__name__}: {error}")
        return 200, wire.write(reply, asked, number)

    def _batch(self, http: HttpRequest) -> ServedBatch:
        batch = self.made.get(http.path_params["id"])
        if batch is None:
            raise _Unknown("No such Batch object")
        return batch

    def _page(self, http: HttpRequest, after: str) -> tuple[list[ServedBatch], bool]:
        """Return a page of batches, the newest first, and whether there are more."""
        found = list(self.made.values())[::-1]
        if cursor := http.query_params.get(after):
            found = found[[batch.id for batch in found].index(cursor) + 1 :]
        limit = int(http.query_params.get("limit", _PAGE))
        return found[:limit], len(found) > limit

    async def _get_openai(self, http: HttpRequest) -> Response:
        return _json(self._openai(self._batch(http)))

    async def _cancel_openai(self, http: HttpRequest) -> Response:
        batch = self._batch(http)
        batch.cancelled = True
        batch.stop.set()
        return _json(self._openai(batch))

    async def _list_openai(self, http: HttpRequest) -> Response:
        page, more = self._page(http, "after")
        return _json({"object": "list", "data": [self._openai(batch) for batch in page], "has_more": more})

    def _openai(self, batch: ServedBatch) -> dict[str, Any]:
        status = "in_progress"
        if batch.refused:
            status = "failed"
        elif batch.ended:
            expired = any(code == 0 for code, _ in batch.results.values())
            status = "cancelled" if batch.cancelled else "expired" if expired else "completed"
        elif batch.cancelled:
            status = "cancelling"
        answered = sum(code == 200 for code, _ in batch.results.values())
        errors = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": batch.refused}]}
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": ENDPOINT,
            "input_file_id": batch.file,
            "completion_window": "24h",
            "status": status,
            "created_at": int(batch.created),
            "metadata": batch.metadata,
            "errors": errors if batch.refused else None,
            "output_file_id": self._file_of(batch, good=True),
            "error_file_id": self._file_of(batch, good=False),
            "request_counts": {
                "total": len(batch.names),
                "completed": answered,
                "failed": len(batch.results) - answered,
            },
        }

    def _file_of(self, batch: ServedBatch, *, good: bool) -> str | None:
        """Return the file of a batch's answers, or of its errors, once it has ended; None where it would be empty."""
        rows = {name: found for name, found in batch.results.items() if (found[0] == 200) is good}
        if not batch.ended or not rows:
            return None
        file = f"{batch.id}-{'output' if good else 'error'}"
        # the reverse: answers come in any order
        lines = [_line_of_openai(name, *found) for name, found in reversed(rows.items())]
        self._files.setdefault(file, b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines))
        return file

    async def _get_anthropic(self, http: HttpRequest) -> Response:
        return _json(self._anthropic(self._batch(http), http))

    async def _cancel_anthropic(self, http: HttpRequest) -> Response:
        batch = self._batch(http)
        batch.cancelled = True
        batch.stop.set()
        return _json(self._anthropic(batch, http))

    async def _list_anthropic(self, http: HttpRequest) -> Response:
        page, more = self._page(http, "after_id")
        ends = {"first_id": page[0].id if page else None, "last_id": page[-1].id if page else None}
        return _json({"data": [self._anthropic(batch, http) for batch in page], "has_more": more, **ends})

    def _anthropic(self, batch: ServedBatch, http: HttpRequest) -> dict[str, Any]:
        status = "ended" if batch.ended else "canceling" if batch.cancelled else "in_progress"
        fates = Counter(_result_of_anthropic(*found)["type"] for found in batch.results.values())
        # The counts of what has met its fate stay 0 until the whole batch has ended.
        done = fates if batch.ended else Counter[str]()
        counts = {kind: done[kind] for kind in ("succeeded", "errored", "canceled", "expired")}
        root = str(http.base_url).rstrip("/")
        return {
            "id": batch.id,
            "type": "message_batch",
            "processing_status": status,
            "request_counts": {"processing": len(batch.names) - sum(counts.values()), **counts},
            "created_at": _moment(batch.created),
            "expires_at": _moment(batch.created + _DAY),
            "ended_at": _moment(time.time()) if batch.ended else None,
            "archived_at": None,
            "cancel_initiated_at": _moment(batch.created) if batch.cancelled else None,
            "results_url": f"{root}/v1/messages/batches/{batch.id}/results" if batch.ended else None,
        }

    async def _results(self, http: HttpRequest) -> Response:
        batch = self._batch(http)
        if not batch.ended:
            raise _Unknown("the batch has no results yet")
        rows = [
            {"custom_id": name, "result": _result_of_anthropic(*found)}
            for name, found in reversed(batch.results.items())
        ]
        content = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        return Response(content, media_type="application/x-jsonl")


class _Unknown(Exception):
    """There is no such thing."""


def _route(path: str, wire: Format, handle: Callable[[HttpRequest], Awaitable[Response]], method: str) -> Route:
    async def answer(http: HttpRequest) -> Response:
        try:
            return await handle(http)
        except ClientDisconnect:
            return Response()
        except RefusedBody as error:  # what is left of it would be taken for the next request
            return _json(wire.error("invalid_request_error", str(error)), error.status, {"connection": "close"})
        except _Unknown as error:
            return _json(wire.error("not_found_error", str(error)), 404)
        except ValueError as error:
            return _json(wire.error("invalid_request_error", str(error)), 400)

    return Route(path, answer, methods=[method])


def _line_of_openai(name: str, status: int, body: Mapping[str, Any]) -> dict[str, Any]:
    if status > 0:
        response = {"status_code": status, "request_id": f"req_{name}", "body": body}
        return {"id": f"batch_req_{name}", "custom_id": name, "response": response, "error": None}
    code = "batch_cancelled" if status < 0 else "batch_expired"
    error = {"code": code, "message": _WORDS_OF_EXPIRY}
    return {"id": f"batch_req_{name}", "custom_id": name, "response": None, "error": error}


def _result_of_anthropic(status: int, body: Mapping[str, Any]) -> dict[str, Any]:
    if status == 200:
        usage = {**body["usage"], "service_tier": "batch"}
        return {"type": "succeeded", "message": {**body, "usage": usage}}
    if status > 0:
        return {"type": "errored", "error": body}
    return {"type": "canceled" if status < 0 else "expired"}


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def _parts(kind: str, content: bytes) -> dict[str, bytes]:
    """Return the parts of a form by name.

    Raises:
        BadBody: it is none.
    """
    found = re.search(r'multipart/form-data;.*boundary="?([^";]+)"?', kind)
    if found is None:
        raise BadBody("content-type: multipart/form-data is needed")
    parts = {}
    for part in content.split(b"--" + found[1].encode())[1:-1]:
        head, separator, body = part.partition(b"\r\n\r\n")
        name = re.search(rb'name="([^"]+)"', head)
        if not separator or name is None:
            raise BadBody("a part of the form has no name")
        parts[name[1].decode("utf-8", "replace")] = body.removesuffix(b"\r\n")
    return parts


def _json(body: Mapping[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(orjson.dumps(body), status, headers, media_type="application/json")
