"""OpenAI's batches: a file of requests, a batch of the file, a file of answers and one of errors.

developers.openai.com/api/docs/guides/batch, and the types of openai 3.52, 2026-11-16.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from quorum.agents.llm.batches.service import CLOCK_SLACK, BatchRefused, BatchRow, Fate, RowResult

ENDPOINT = "/v1/chat/completions"
MARK = "quorum_batch"
"""Key of the metadata that holds the mark of a batch."""
_ENDED = frozenset({"completed", "expired", "cancelled"})
_FATES = {"batch_expired": Fate.EXPIRED, "batch_cancelled": Fate.CANCELLED}
_BUSY = ("token_limit_exceeded", "rate_limit", "enqueued")
"""How a refusal says that too much is under way: a limit of tokens that wait, for each model."""


class OpenAIBatches:
    """OpenAI's batches. Fulfils `quorum.agents.llm.batches.service.BatchService`.

    Args:
        client: of the SDK.
        completion: the SDK's type of a chat completion.
    """

    most_requests = 50_000
    most_bytes = 200_000_000

    def __init__(self, client: Any, completion: Any) -> None:
        self._client = client
        self._completion = completion

    def size(self, row: BatchRow) -> int:
        """Return how many bytes a request takes in a batch."""
        return len(_line(row))

    async def create(self, mark: str, rows: Sequence[BatchRow]) -> str:
        """Create a batch that can be found by its mark; return its id."""
        content = b"".join(_line(row) for row in rows)
        file = await self._client.files.create(file=(f"{mark}.jsonl", content), purpose="batch")
        batch = await self._client.batches.create(
            input_file_id=file.id, endpoint=ENDPOINT, completion_window="24h", metadata={MARK: mark}
        )
        return str(batch.id)

    async def find(self, mark: str, number: int, since: float, pause: float) -> str | None:  # noqa: ARG002 (of the protocol)
        """Find the batch of a mark, by its metadata; None where there is none."""
        async for batch in self._client.batches.list(limit=100):  # the newest first
            if batch.created_at < since - CLOCK_SLACK:
                return None
            if (batch.metadata or {}).get(MARK) == mark:
                return str(batch.id)
        return None

    async def ended(self, batch: str) -> bool | BatchRefused:
        """Tell whether a batch has ended, or that it was refused."""
        found = await self._client.batches.retrieve(batch)
        if found.status != "failed":
            return found.status in _ENDED
        errors = (found.errors.data if found.errors is not None else None) or []
        told = "; ".join(f"{error.message or ''} ({error.code or 'no code'})" for error in errors[:3])
        return BatchRefused(told or "no reason given", busy=any(word in told.lower() for word in _BUSY))

    async def results(self, batch: str) -> Sequence[RowResult]:
        """Return what came back of a batch that has ended: the rows of both of its files."""
        found = await self._client.batches.retrieve(batch)
        rows: list[RowResult] = []
        for file in (found.output_file_id, found.error_file_id):
            if file is not None:
                content = await self._client.files.content(file)
                rows.extend(_read(content.content))
        return rows

    def response(self, body: Mapping[str, Any]) -> Any:
        """Return a response as the SDK would."""
        return self._completion.construct(**body)

    async def cancel(self, batch: str) -> None:
        """Have a batch end soon."""
        await self._client.batches.cancel(batch)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _line(row: BatchRow) -> bytes:
    content = {"custom_id": row.name, "method": "POST", "url": ENDPOINT, "body": row.body}
    return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)


def _read(content: bytes) -> Iterator[RowResult]:
    for line in content.splitlines():
        if line.strip():
            row = orjson.loads(line)
            yield _result(row["custom_id"], row.get("response"), row.get("error"))


def _result(name: str, response: Mapping[str, Any] | None, error: Mapping[str, Any] | None) -> RowResult:
    if response is None:
        code = str((error or {}).get("code") or "")
        # An error without a response is one of the batch, not of the request: it is worth another try.
        return RowResult(name, _FATES.get(code, Fate.FAILED), {"error": error}, status=500)
    status = response["status_code"]
    return RowResult(name, Fate.ANSWERED if status == 200 else Fate.FAILED, response["body"], status)
