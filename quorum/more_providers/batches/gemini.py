"""The batches of Gemini: requests stand in the job, and so do their answers.

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
from quorum.more_providers.gemini_calls import call_arguments

_NAME = "key"
"""Key of the metadata of a request that holds its name, and comes back with its answer."""


class GeminiBatches(BatchService):
    """Gemini's batches. One is found by its display name, which is the mark."""

    most_requests = 50_000
    most_bytes = 20_000_000
    _ENDED = frozenset({"SUCCEEDED", "PARTIALLY_SUCCEEDED", "CANCELLED", "EXPIRED"})
    _MISSING = {"EXPIRED": RowStatus.EXPIRED, "CANCELLED": RowStatus.CANCELLED}  # noqa: RUF012
    """How requests without a result have ended, by the state of their batch; none came to any in all others."""
    _HTTP = {3: 400, 5: 404, 7: 403, 8: 429, 16: 401}  # noqa: RUF012
    """HTTP status of the codes of gRPC that the error of a request may have; others are failures of the server."""

    def line(self, row: BatchRow) -> bytes:
        """Return a request as it is written in a batch."""
        return orjson.dumps({"request": row.body, "metadata": {_NAME: row.name}}) + b","

    async def create(self, mark: str, rows: Sequence[BatchRow]) -> str:
        """Create a batch that can be found by its mark; return its name.

        Raises:
            BadRequest: a request has fields that a batch of this SDK cannot have.
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
        """Find the batch of a mark, by its display name; None where there is none."""
        async for batch in await self._batches.list(config={"page_size": 100}):  # the newest first
            if batch.create_time.timestamp() < since - CLOCK_SLACK:
                return None
            if batch.display_name == mark:
                return str(batch.name)
        return None

    async def ended(self, batch: str) -> bool | BatchRefused:
        """Return whether a batch has ended, or that it was refused."""
        found = await self._batches.get(name=batch)
        if _state(found) == "FAILED":
            return BatchRefused((found.error and found.error.message) or "no reason given", busy=False)
        return _state(found) in self._ENDED

    async def results(self, batch: str) -> Sequence[RowResult]:
        """Return what came back for a batch that has ended."""
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
        """Return the response to a request as the SDK's own type."""
        return self._sdk.types.GenerateContentResponse.model_validate_json(orjson.dumps(body))

    async def cancel(self, batch: str) -> None:
        """Have a batch end soon."""
        await self._batches.cancel(name=batch)


def _state(batch: Any) -> str:
    return str(batch.state.name.removeprefix("JOB_STATE_"))
