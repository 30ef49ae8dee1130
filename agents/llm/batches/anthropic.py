"""Anthropic's batches of messages.

platform.claude.com/docs/en/build-with-claude/batch-processing, and the types of anthropic 2.11, 2026-11-19.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from quorum.agents.llm.batches.service import CLOCK_SLACK, BatchRefused, BatchRow, Fate, RowResult

PATH = "/v1/messages/batches"
_STATUSES = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""HTTP status of each type of error (platform.claude.com/docs/en/api/errors): a row has the type alone."""
_FATES = {"expired": Fate.EXPIRED, "canceled": Fate.CANCELLED}


class AnthropicBatches:
    """Anthropic's batches. Fulfils `quorum.agents.llm.batches.service.BatchService`.

    They carry no metadata, so a batch is found by the names of its requests, which only its results show.

    Args:
        client: of the SDK.
        sdk: the SDK.
    """

    most_requests = 100_000
    most_bytes = 256_000_000

    def __init__(self, client: Any, sdk: Any) -> None:
        self._client = client
        self._batch = sdk.types.messages.MessageBatch
        self._message = sdk.types.Message

    def size(self, row: BatchRow) -> int:
        """Return how many bytes a request takes in a batch."""
        return len(orjson.dumps(_request(row))) + 1

    async def create(self, mark: str, rows: Sequence[BatchRow]) -> str:  # noqa: ARG002 (it stands in the rows' names)
        """Create a batch that can be found by its mark; return its id."""
        # `post` and not `messages.batches.create`, which walks through every schema in Python before it is sent.
        body = {"requests": [_request(row) for row in rows]}
        batch = await self._client.post(PATH, cast_to=self._batch, body=body)
        return str(batch.id)

    async def find(self, mark: str, number: int, since: float, pause: float) -> str | None:
        """Find the batch of a mark among those of so many requests; waits for the end of those that have not ended."""
        strangers: set[str] = set()
        while True:
            pending = False
            async for batch in self._client.messages.batches.list(limit=100):  # the newest first
                if batch.created_at.timestamp() < since - CLOCK_SLACK:
                    break
                if batch.id in strangers or _requests(batch) != number:
                    continue
                if batch.processing_status != "ended":
                    pending = True
                    continue
                rows = await self.results(batch.id)
                if any(row.name.startswith(f"{mark}-") for row in rows[:1]):
                    return str(batch.id)
                strangers.add(batch.id)
            if not pending:
                return None
            await asyncio.sleep(pause)

    async def ended(self, batch: str) -> bool | BatchRefused:
        """Tell whether a batch has ended."""
        found = await self._client.messages.batches.retrieve(batch)
        return bool(found.processing_status == "ended")

    async def results(self, batch: str) -> Sequence[RowResult]:
        """Return what came back of a batch that has ended."""
        # Its own path, and not the address that the batch names: prompts' answers and the key stay on one server.
        content = await self._client.get(f"{PATH}/{batch}/results", cast_to=str)
        rows = (orjson.loads(line) for line in content.split("\n") if line.strip())
        return [_result(row["custom_id"], row["result"]) for row in rows]

    def response(self, body: Mapping[str, Any]) -> Any:
        """Return a response as the SDK would."""
        return self._message.construct(**body)

    async def cancel(self, batch: str) -> None:
        """Have a batch end soon."""
        await self._client.messages.batches.cancel(batch)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _request(row: BatchRow) -> dict[str, Any]:
    return {"custom_id": row.name, "params": row.body}


def _requests(batch: Any) -> int:
    counts = batch.request_counts
    return int(counts.processing + counts.succeeded + counts.errored + counts.canceled + counts.expired)


def _result(name: str, result: Mapping[str, Any]) -> RowResult:
    kind = result["type"]
    if kind == "succeeded":
        return RowResult(name, Fate.ANSWERED, result["message"])
    if kind in _FATES:
        return RowResult(name, _FATES[kind])
    error = result["error"]
    inner = error.get("error", error)
    return RowResult(name, Fate.FAILED, error, _STATUSES.get(inner.get("type"), 500))
