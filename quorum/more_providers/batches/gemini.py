"""Gemini's batches: the job itself contains the requests and the answers.

ai.google.dev/gemini-api/docs/batch-api, and the types of google-genai 3.6, 2026-11-26.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from quorum.agents.llm.errors import BadRequest
from quorum.more_providers.batches.services import (
    CLOCK_SLACK,
    BatchRefused,
    BatchRow,
    BatchService,
    RowResult,
    RowStatus,
)
from quorum.more_providers.gemini import call_arguments

_NAME = "key"
"""The metadata key for a request's name, which is returned with its answer."""


class GeminiBatches(BatchService):
    """Gemini's batches. The mark is stored as the display name, by which a batch is found."""

    most_requests = 50_000
    most_bytes = 20_000_000
    _ENDED = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "CANCELLED", "EXPIRED"})
    _MISSING = {"EXPIRED": RowStatus.EXPIRED, "CANCELLED": RowStatus.CANCELLED}  # noqa: RUF012
    """Status of requests without a result, by the state of their batch; in all other states they failed."""
    _HTTP = {3: 400, 5: 404, 7: 403, 8: 429, 16: 401}  # noqa: RUF012
    """HTTP status for gRPC codes of request errors; other codes are server failures."""

    def line(self, row: BatchRow) -> bytes:
        """Return a request as it is written in a batch."""
        return orjson.dumps({"request": row.body, "metadata": {_NAME: row.name}}) + b","

    async def create(self, mark: str, rows: Sequence[BatchRow]) -> str:
        """Create a batch that can be found by its mark; return its name.

        Raises:
            BadRequest: a request has fields that this SDK cannot send in a batch.
        """
        requests = [{**call_arguments(self._sdk.types, row.body), "metadata": {_NAME: row.name}} for row in rows]
        for request in requests:
            if extra := request["config"].http_options.extra_body:
                raise BadRequest(f"llm.extra_body: batches of google-genai cannot send {', '.join(sorted(extra))}")
        batch = await self._batches.create(model=rows[0].body["model"], src=requests, config={"display_name": mark})
        return str(batch.name)

    @property
    def _batches(self) -> Any:
        return self._client.sdk.aio.batches

    async def find(self, mark: str, number: int, since: float, pause: float) -> str | None:  # noqa: ARG002 (of the base)
        """Find the batch with a mark by its display name; None if there is none."""
        async for batch in await self._batches.list(config={"page_size": 100}):  # newest first
            if batch.create_time.timestamp() < since - CLOCK_SLACK:
                return None
            if batch.display_name == mark:
                return str(batch.name)
        return None

    async def ended(self, batch: str) -> bool | BatchRefused:
        """Return whether a batch has ended; `BatchRefused` if it was refused."""
        found = await self._batches.get(name=batch)
        if _state(found) == "FAILED":
            return BatchRefused((found.error and found.error.message) or "no reason given", busy=False)
        return _state(found) in self._ENDED

    async def results(self, batch: str) -> Sequence[RowResult]:
        """Return the results of an ended batch."""
        found = await self._batches.get(name=batch)
        missing = self._MISSING.get(_state(found), RowStatus.FAILED)
        return [self._result(row, missing) for row in (found.dest and found.dest.inlined_responses) or ()]

    def _result(self, row: Any, missing: RowStatus) -> RowResult:
        name = row.metadata[_NAME]
        if row.response is not None:
            body = row.response.model_dump(mode="json", by_alias=True, exclude_none=True)
            return RowResult(name, RowStatus.ANSWERED, body)
        if row.error is None:
            return RowResult(name, missing, http_status=500)
        error = {"error": {"message": row.error.message or ""}}
        return RowResult(name, RowStatus.FAILED, error, self._HTTP.get(row.error.code, 500))

    def response(self, body: Mapping[str, Any]) -> Any:
        """Return a response as the SDK's own type."""
        return self._sdk.types.GenerateContentResponse.model_validate_json(orjson.dumps(body))

    async def cancel(self, batch: str) -> None:
        """Cancel a batch."""
        await self._batches.cancel(name=batch)


def _state(batch: Any) -> str:
    return str(batch.state.name.removeprefix("JOB_STATE_"))
