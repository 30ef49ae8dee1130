"""Batches of the Gemini API: requests and answers stand in the job."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from quorum.more_providers.serving.app import as_json, read_body
from quorum.more_providers.serving.formats import BadBody
from tests.loopback.batches.answers import BOUNDS, route
from tests.loopback.batches.served import Batches, Fate, Result, ServedBatch
from tests.loopback.gemini import GeminiFormat

_MOST = 50_000
_ROOT = "/v1beta/batches"
_CODES = {400: 3, 429: 8, 500: 13}


class GeminiBatches:
    """The routes of batches.

    Args:
        batches: of the server.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._wire = GeminiFormat()

    def routes(self) -> list[Route]:
        """Return them."""
        return [
            route("POST", "/v1beta/models/{model}:batchGenerateContent", self._wire, self._create),
            route("GET", _ROOT, self._wire, self._list),
            route("POST", f"{_ROOT}/{{id}}:cancel", self._wire, self._cancel),
            route("GET", f"{_ROOT}/{{id}}", self._wire, self._get),
        ]

    async def _create(self, http: HttpRequest) -> Response:
        asked = (await read_body(http, *BOUNDS)).get("batch") or {}
        rows = asked.get("inputConfig", {}).get("requests", {}).get("requests")
        if not isinstance(rows, list) or not asked.get("displayName"):
            raise BadBody("batch: its requests and its displayName are needed")
        model = http.path_params["model"]
        named = [(row["metadata"]["key"], {**row["request"], "model": model}) for row in rows]
        batch = self._batches.begin(named, self._wire, _MOST)
        batch.metadata = {"displayName": asked["displayName"]}
        return as_json(_shown(batch))

    async def _get(self, http: HttpRequest) -> Response:
        return as_json(_shown(self._batches.find(http.path_params["id"])))

    async def _cancel(self, http: HttpRequest) -> Response:
        self._batches.find(http.path_params["id"]).cancel()
        return as_json({})

    async def _list(self, http: HttpRequest) -> Response:
        size = int(http.query_params.get("pageSize", 20))
        page, more = self._batches.page(http.query_params.get("pageToken") or None, size)
        return as_json(
            {"operations": [_shown(batch) for batch in page], **({"nextPageToken": page[-1].id} if more else {})}
        )


def _shown(batch: ServedBatch) -> dict[str, Any]:
    rows = [_row(name, found) for name, found in batch.results.items()] if batch.ended else []
    return {
        "name": f"batches/{batch.id}",
        "metadata": {
            **batch.metadata,
            "state": _state(batch),
            "createTime": datetime.fromtimestamp(batch.created, UTC).isoformat(),
            **({"output": {"inlinedResponses": {"inlinedResponses": rows}}} if rows else {}),
        },
    }


def _state(batch: ServedBatch) -> str:
    if batch.refused:
        return "BATCH_STATE_FAILED"
    if not batch.ended:
        return "BATCH_STATE_RUNNING"
    if batch.cancelled:
        return "BATCH_STATE_CANCELLED"
    return "BATCH_STATE_EXPIRED" if batch.fates[Fate.EXPIRED] else "BATCH_STATE_SUCCEEDED"


def _row(name: str, result: Result) -> Mapping[str, Any]:
    row: dict[str, Any] = {"metadata": {"key": name}}
    if result.fate is Fate.ANSWERED:
        return {**row, "response": result.body}
    if result.fate is Fate.FAILED:
        return {**row, "error": {"code": _CODES[result.status], "message": result.body["error"]["message"]}}
    return row
