"""Batches in OpenAI's format: requests and results are files."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import orjson
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from quorum.more_providers.serving.app import as_json, read_body, read_bytes
from quorum.more_providers.serving.formats import BadBody
from tests.loopback.batches.answers import BOUNDS, as_lines, limit_of, route
from tests.loopback.batches.forms import parts
from tests.loopback.batches.served import Batches, Fate, NotThere, Result, ServedBatch
from tests.loopback.formats import OpenAIFormat
from tests.loopback.responses import ResponsesFormat

_ENDPOINTS = {"/v1/chat/completions": OpenAIFormat(), "/v1/responses": ResponsesFormat()}
_WINDOW = "24h"
_MOST = 50_000
_ERRORS = {
    Fate.EXPIRED: ("batch_expired", "This request could not be executed before the completion window expired."),
    Fate.CANCELLED: ("batch_cancelled", "This request was not executed because the batch was cancelled."),
}


class OpenAIBatches:
    """The routes of files and batches.

    Args:
        batches: of the server.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._files: dict[str, bytes] = {}
        self._wire = OpenAIFormat()

    def routes(self) -> list[Route]:
        """Return them."""
        return [
            route("POST", "/v1/files", self._wire, self._upload),
            route("GET", "/v1/files/{id}/content", self._wire, self._content),
            route("POST", "/v1/batches", self._wire, self._create),
            route("GET", "/v1/batches", self._wire, self._list),
            route("GET", "/v1/batches/{id}", self._wire, self._get),
            route("POST", "/v1/batches/{id}/cancel", self._wire, self._cancel),
        ]

    async def _upload(self, http: HttpRequest) -> Response:
        form = parts(http.headers.get("content-type", ""), await read_bytes(http, *BOUNDS))
        if form.get("purpose") != b"batch" or "file" not in form:
            raise BadBody("purpose, file: a file for the purpose 'batch' is needed")
        file = f"file-{len(self._files)}"
        self._files[file] = form["file"]
        body = {"id": file, "object": "file", "bytes": len(form["file"]), "created_at": int(time.time())}
        return as_json({**body, "filename": f"{file}.jsonl", "purpose": "batch", "status": "processed"})

    async def _content(self, http: HttpRequest) -> Response:
        content = self._files.get(http.path_params["id"])
        if content is None:
            raise NotThere("No such File object")
        return Response(content, media_type="application/octet-stream")

    async def _create(self, http: HttpRequest) -> Response:
        body = await read_body(http, *BOUNDS)
        endpoint = str(body.get("endpoint"))
        if endpoint not in _ENDPOINTS or body.get("completion_window") != _WINDOW:
            raise BadBody(f"endpoint, completion_window: {', '.join(_ENDPOINTS)} and {_WINDOW} are known here")
        content = self._files.get(str(body.get("input_file_id")))
        if content is None:
            raise BadBody("input_file_id: there is no such file")
        rows = [orjson.loads(line) for line in content.splitlines() if line.strip()]
        if any(row.get("method") != "POST" or row.get("url") != endpoint for row in rows):
            raise BadBody("method, url: every line must be of the endpoint")
        named = [(row.get("custom_id"), row.get("body")) for row in rows]
        batch = self._batches.begin(named, _ENDPOINTS[endpoint], _MOST)
        batch.metadata, batch.file = body.get("metadata") or {}, str(body["input_file_id"])
        batch.endpoint = endpoint
        return as_json(self._shown(batch))

    async def _get(self, http: HttpRequest) -> Response:
        return as_json(self._shown(self._batches.find(http.path_params["id"])))

    async def _cancel(self, http: HttpRequest) -> Response:
        batch = self._batches.find(http.path_params["id"])
        batch.cancel()
        return as_json(self._shown(batch))

    async def _list(self, http: HttpRequest) -> Response:
        page, more = self._batches.page(http.query_params.get("after"), limit_of(http))
        return as_json({"object": "list", "data": [self._shown(batch) for batch in page], "has_more": more})

    def _shown(self, batch: ServedBatch) -> dict[str, Any]:
        answered = batch.fates[Fate.ANSWERED]
        errors = {"object": "list", "data": [{"code": "token_limit_exceeded", "message": batch.refused}]}
        return {
            "id": batch.id,
            "object": "batch",
            "endpoint": batch.endpoint,
            "input_file_id": batch.file,
            "completion_window": _WINDOW,
            "status": _status(batch),
            "created_at": int(batch.created),
            "metadata": batch.metadata,
            "errors": errors if batch.refused else None,
            "output_file_id": self._file_of(batch, "output", answered=True),
            "error_file_id": self._file_of(batch, "error", answered=False),
            "request_counts": {
                "total": len(batch.names),
                "completed": answered,
                "failed": len(batch.results) - answered,
            },
        }

    def _file_of(self, batch: ServedBatch, kind: str, *, answered: bool) -> str | None:
        """Return the file of a batch's answers, or of its errors, once it has ended; None where it would be empty."""
        rows = [(name, found) for name, found in batch.results.items() if (found.fate is Fate.ANSWERED) is answered]
        if not batch.ended or not rows:
            return None
        file = f"{batch.id}-{kind}"
        # the reverse: answers come in any order
        self._files.setdefault(file, as_lines(_line(name, found) for name, found in reversed(rows)))
        return file


def _status(batch: ServedBatch) -> str:
    if batch.refused:
        return "failed"
    if not batch.ended:
        return "cancelling" if batch.cancelled else "in_progress"
    if batch.cancelled:
        return "cancelled"
    return "expired" if batch.fates[Fate.EXPIRED] else "completed"


def _line(name: str, result: Result) -> Mapping[str, Any]:
    row: dict[str, Any] = {"id": f"batch_req_{name}", "custom_id": name, "response": None, "error": None}
    if result.fate in _ERRORS:
        code, message = _ERRORS[result.fate]
        return {**row, "error": {"code": code, "message": message}}
    return {**row, "response": {"status_code": result.status, "request_id": f"req_{name}", "body": result.body}}
