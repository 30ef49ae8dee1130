"""Batches in Anthropic's format: requests stand in the body, results are lines of a response."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route

from quorum.more_providers.serving.app import as_json, read_body
from quorum.more_providers.serving.formats import BadBody
from tests.loopback.batches.answers import BOUNDS, as_lines, limit_of, route
from tests.loopback.batches.served import Batches, Fate, NotThere, Result, ServedBatch
from tests.loopback.formats import AnthropicFormat

_ROOT = "/v1/messages/batches"
_MOST = 100_000
_DAY = 86400.0
_FATES = {
    Fate.ANSWERED: "succeeded",
    Fate.FAILED: "errored",
    Fate.CANCELLED: "canceled",
    Fate.EXPIRED: "expired",
}


class AnthropicBatches:
    """The routes of batches.

    Args:
        batches: of the server.
    """

    def __init__(self, batches: Batches) -> None:
        self._batches = batches
        self._wire = AnthropicFormat()

    def routes(self) -> list[Route]:
        """Return them."""
        return [
            route("POST", _ROOT, self._wire, self._create),
            route("GET", _ROOT, self._wire, self._list),
            route("GET", f"{_ROOT}/{{id}}", self._wire, self._get),
            route("POST", f"{_ROOT}/{{id}}/cancel", self._wire, self._cancel),
            route("GET", f"{_ROOT}/{{id}}/results", self._wire, self._results),
        ]

    async def _create(self, http: HttpRequest) -> Response:
        body = await read_body(http, *BOUNDS)
        requests = body.get("requests")
        if not isinstance(requests, list) or not all(isinstance(row, Mapping) for row in requests):
            raise BadBody("requests: a list of requests is needed")
        rows = [(row.get("custom_id"), row.get("params")) for row in requests]
        return as_json(_shown(self._batches.begin(rows, self._wire, _MOST), http))

    async def _get(self, http: HttpRequest) -> Response:
        return as_json(_shown(self._batches.find(http.path_params["id"]), http))

    async def _cancel(self, http: HttpRequest) -> Response:
        batch = self._batches.find(http.path_params["id"])
        batch.cancel()
        return as_json(_shown(batch, http))

    async def _list(self, http: HttpRequest) -> Response:
        page, more = self._batches.page(http.query_params.get("after_id"), limit_of(http))
        ends = {"first_id": page[0].id if page else None, "last_id": page[-1].id if page else None}
        return as_json({"data": [_shown(batch, http) for batch in page], "has_more": more, **ends})

    async def _results(self, http: HttpRequest) -> Response:
        batch = self._batches.find(http.path_params["id"])
        if not batch.ended:
            raise NotThere("the batch has no results yet")
        # the reverse: answers come in any order
        rows = ({"custom_id": name, "result": _result(found)} for name, found in reversed(batch.results.items()))
        return Response(as_lines(rows), media_type="application/x-jsonl")


def _shown(batch: ServedBatch, http: HttpRequest) -> dict[str, Any]:
    # The counts of what has met its fate stay 0 until the whole batch has ended.
    fates = batch.fates if batch.ended else Counter[Fate]()
    root = str(http.base_url).rstrip("/")
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if batch.ended else "canceling" if batch.cancelled else "in_progress",
        "request_counts": {
            "processing": len(batch.names) - fates.total(),
            **{word: fates[fate] for fate, word in _FATES.items()},
        },
        "created_at": _moment(batch.created),
        "expires_at": _moment(batch.created + _DAY),
        "ended_at": _moment(time.time()) if batch.ended else None,
        "archived_at": None,
        "cancel_initiated_at": _moment(batch.created) if batch.cancelled else None,
        "results_url": f"{root}{_ROOT}/{batch.id}/results" if batch.ended else None,
    }


def _result(result: Result) -> Mapping[str, Any]:
    kind = _FATES[result.fate]
    if result.fate is Fate.ANSWERED:
        usage = {**result.body["usage"], "service_tier": "batch"}
        return {"type": kind, "message": {**result.body, "usage": usage}}
    return {"type": kind, "error": result.body} if result.fate is Fate.FAILED else {"type": kind}


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
