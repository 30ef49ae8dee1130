"""The batch services of OpenAI and Anthropic, and the types they share.

developers.openai.com/api/docs/guides/batch, and the types of openai 3.52, 2026-11-16;
platform.claude.com/docs/en/build-with-claude/batch-processing, and the types of anthropic 2.11, 2026-11-19.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, ClassVar

import orjson

MOST_BYTES = 2**30
"""Maximum size of a result file: batches hold up to 256 MB, and answers are mostly shorter than prompts."""
CLOCK_SLACK = 3600.0
"""Maximum difference between a provider's clock and ours, in seconds."""


class RowStatus(Enum):
    """How a batch request ended."""

    ANSWERED = auto()
    FAILED = auto()
    """The provider reported an error."""
    EXPIRED = auto()
    """The batch expired before reaching the request; it costs nothing."""
    CANCELLED = auto()
    """The batch was cancelled before reaching the request; it costs nothing."""


@dataclass(frozen=True, slots=True)
class BatchRow:
    """A request of a batch.

    Attributes:
        name: unique in the batch; begins with the batch's mark.
        body: the request body, as in a single call.
    """

    name: str
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RowResult:
    """The result of a request.

    Attributes:
        name: name of its row.
        status: how it ended.
        body: the response, or the body of the error; None if there is neither.
        http_status: HTTP status of a failure, as in a single call.
    """

    name: str
    status: RowStatus
    body: Mapping[str, Any] | None = None
    http_status: int = 200


@dataclass(frozen=True, slots=True)
class BatchRefused:
    """A batch that the provider accepted and then refused as a whole.

    Attributes:
        reason: the provider's reason.
        busy: whether the reason is a full queue, so that the batch may be accepted later.
    """

    reason: str
    busy: bool


class BatchService(ABC):
    """The batches of one provider. Failures are raised as the SDK's own errors.

    Args:
        client: the SDK's client.
        sdk: the SDK.
    """

    most_requests: ClassVar[int]
    """Maximum number of requests per batch."""
    most_bytes: ClassVar[int]
    """Maximum size of a batch."""

    def __init__(self, client: Any, sdk: Any) -> None:
        self._client = client
        self._sdk = sdk

    @abstractmethod
    def line(self, row: BatchRow) -> bytes:
        """Return a request as it is written in a batch."""

    @abstractmethod
    async def create(self, mark: str, rows: Sequence[BatchRow]) -> str:
        """Create a batch that can be found by its mark; return the provider's id."""

    @abstractmethod
    async def find(self, mark: str, number: int, since: float, pause: float) -> str | None:
        """Find the batch with a mark; None if there is none.

        Args:
            mark: the batch's mark.
            number: number of its requests.
            since: seconds since the epoch; the batch was not created earlier.
            pause: seconds between two checks, if batches can only be identified after they have ended.
        """

    @abstractmethod
    async def ended(self, batch: str) -> bool | BatchRefused:
        """Return whether all requests of a batch have ended; `BatchRefused` if it was refused."""

    @abstractmethod
    async def results(self, batch: str) -> Sequence[RowResult]:
        """Return the results of an ended batch, in any order."""

    @abstractmethod
    def response(self, body: Mapping[str, Any]) -> Any:
        """Return a response as the SDK's own type."""

    @abstractmethod
    async def cancel(self, batch: str) -> None:
        """Cancel a batch; answers completed by then are kept and charged."""

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


class OpenAIBatches(BatchService):
    """OpenAI's batches: a file of requests, a batch of the file, a file of answers and one of errors."""

    most_requests = 50_000
    most_bytes = 200_000_000
    _ENDPOINT: ClassVar[str] = "/v1/chat/completions"
    _MARK = "quorum_batch"
    """The metadata key for the mark of a batch."""
    _ENDED = frozenset({"completed", "expired", "cancelled"})
    _STATUSES = {"batch_expired": RowStatus.EXPIRED, "batch_cancelled": RowStatus.CANCELLED}  # noqa: RUF012
    _BUSY = ("token_limit_exceeded", "rate_limit", "enqueued")
    """Words in a refusal which show that too much is queued: there is a token limit per model."""

    def line(self, row: BatchRow) -> bytes:
        """Return a request as it is written in a batch."""
        content = {"custom_id": row.name, "method": "POST", "url": self._ENDPOINT, "body": row.body}
        return orjson.dumps(content, option=orjson.OPT_APPEND_NEWLINE)

    async def create(self, mark: str, rows: Sequence[BatchRow]) -> str:
        """Create a batch that can be found by its mark; return its id."""
        content = b"".join(self.line(row) for row in rows)
        file = await self._client.files.create(file=(f"{mark}.jsonl", content), purpose="batch")
        batch = await self._client.batches.create(
            input_file_id=file.id, endpoint=self._ENDPOINT, completion_window="24h", metadata={self._MARK: mark}
        )
        return str(batch.id)

    async def find(self, mark: str, number: int, since: float, pause: float) -> str | None:  # noqa: ARG002 (of the base)
        """Find the batch with a mark by its metadata; None if there is none."""
        async for batch in self._client.batches.list(limit=100):  # newest first
            if batch.created_at < since - CLOCK_SLACK:
                return None
            if (batch.metadata or {}).get(self._MARK) == mark:
                return str(batch.id)
        return None

    async def ended(self, batch: str) -> bool | BatchRefused:
        """Return whether a batch has ended; `BatchRefused` if it was refused."""
        found = await self._client.batches.retrieve(batch)
        if found.status != "failed":
            return found.status in self._ENDED
        errors = (found.errors.data if found.errors is not None else None) or []
        reason = "; ".join(f"{error.message or ''} ({error.code or 'no code'})" for error in errors[:3])
        return BatchRefused(reason or "no reason given", busy=any(word in reason.lower() for word in self._BUSY))

    async def results(self, batch: str) -> Sequence[RowResult]:
        """Return the results of an ended batch, from both of its files."""
        found = await self._client.batches.retrieve(batch)
        rows: list[RowResult] = []
        for file in (found.output_file_id, found.error_file_id):
            if file is not None:
                content = await self._client.files.content(file)
                rows.extend(self._result(row) for row in _rows(content.content))
        return rows

    def _result(self, row: Mapping[str, Any]) -> RowResult:
        name, response = row["custom_id"], row.get("response")
        if response is None:
            error = row.get("error")
            code = str((error or {}).get("code") or "")
            # An error without a response concerns the batch, not the request, so the request may be retried.
            return RowResult(name, self._STATUSES.get(code, RowStatus.FAILED), {"error": error}, http_status=500)
        status = response["status_code"]
        ended = RowStatus.ANSWERED if status == 200 else RowStatus.FAILED
        return RowResult(name, ended, response["body"], status)

    def response(self, body: Mapping[str, Any]) -> Any:
        """Return a response as the SDK's own type."""
        return self._sdk.types.chat.ChatCompletion.construct(**body)

    async def cancel(self, batch: str) -> None:
        """Cancel a batch."""
        await self._client.batches.cancel(batch)


class ResponsesBatches(OpenAIBatches):
    """OpenAI's batches for the Responses API."""

    _ENDPOINT: ClassVar[str] = "/v1/responses"

    def response(self, body: Mapping[str, Any]) -> Any:
        """Return a response as the SDK's own type."""
        return self._sdk.types.responses.Response.construct(**body)


class AnthropicBatches(BatchService):
    """Anthropic's message batches.

    They carry no metadata, so a batch is found by the names of its requests, which only its results show.
    """

    most_requests = 100_000
    most_bytes = 256_000_000
    _PATH = "/v1/messages/batches"
    _HTTP = {  # noqa: RUF012
        "invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
        "not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
        "timeout_error": 504, "overloaded_error": 529,
    }  # fmt: skip
    """HTTP status of each error type (platform.claude.com/docs/en/api/errors): a row contains only the type."""
    _STATUSES = {"expired": RowStatus.EXPIRED, "canceled": RowStatus.CANCELLED}  # noqa: RUF012

    def line(self, row: BatchRow) -> bytes:
        """Return a request as it is written in a batch."""
        return orjson.dumps(self._request(row)) + b","

    def _request(self, row: BatchRow) -> dict[str, Any]:
        return {"custom_id": row.name, "params": row.body}

    async def create(self, mark: str, rows: Sequence[BatchRow]) -> str:  # noqa: ARG002 (the names of the rows hold it)
        """Create a batch that can be found by its mark; return its id."""
        # `post` instead of `messages.batches.create`, which traverses every schema in Python before sending.
        body = {"requests": [self._request(row) for row in rows]}
        batch = await self._client.post(self._PATH, cast_to=self._sdk.types.messages.MessageBatch, body=body)
        return str(batch.id)

    async def find(self, mark: str, number: int, since: float, pause: float) -> str | None:
        """Find the batch with a mark among those with `number` requests, waiting for unfinished ones to end."""
        others: set[str] = set()
        while True:
            pending = False
            async for batch in self._client.messages.batches.list(limit=100):  # newest first
                if batch.created_at.timestamp() < since - CLOCK_SLACK:
                    break
                c = batch.request_counts
                if batch.id in others or c.processing + c.succeeded + c.errored + c.canceled + c.expired != number:
                    continue
                if batch.processing_status != "ended":
                    pending = True
                    continue
                rows = await self.results(batch.id)
                if any(row.name.startswith(f"{mark}-") for row in rows[:1]):
                    return str(batch.id)
                others.add(batch.id)
            if not pending:
                return None
            await asyncio.sleep(pause)

    async def ended(self, batch: str) -> bool | BatchRefused:
        """Return whether a batch has ended."""
        found = await self._client.messages.batches.retrieve(batch)
        return bool(found.processing_status == "ended")

    async def results(self, batch: str) -> Sequence[RowResult]:
        """Return the results of an ended batch."""
        # A fixed path instead of the URL in the batch: answers and the key stay on one server.
        content = await self._client.get(f"{self._PATH}/{batch}/results", cast_to=str)
        return [self._result(row["custom_id"], row["result"]) for row in _rows(content.encode())]

    def _result(self, name: str, result: Mapping[str, Any]) -> RowResult:
        kind = result["type"]
        if kind == "succeeded":
            return RowResult(name, RowStatus.ANSWERED, result["message"])
        if kind in self._STATUSES:
            return RowResult(name, self._STATUSES[kind])
        error = result["error"]
        return RowResult(name, RowStatus.FAILED, error, self._HTTP.get(error.get("error", error).get("type"), 500))

    def response(self, body: Mapping[str, Any]) -> Any:
        """Return a response as the SDK's own type."""
        return self._sdk.types.Message.construct(**body)

    async def cancel(self, batch: str) -> None:
        """Cancel a batch."""
        await self._client.messages.batches.cancel(batch)


def _rows(content: bytes) -> Iterator[Mapping[str, Any]]:
    return (orjson.loads(line) for line in content.splitlines() if line.strip())
