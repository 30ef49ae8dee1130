"""The batches of a server: what they were asked, and the brain's answers.

A batch is answered by the same brain as a single call. It counts what it was asked.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import re
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import orjson

from quorum.agents.llm.errors import LanguageModelError, RequestRefused
from quorum.agents.llm.protocol import Model
from quorum.more_providers.serving.formats import BadBody, Format

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class NotThere(Exception):
    """There is no such batch, file or page."""


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


class Fate(StrEnum):
    """How a request of a batch has ended."""

    ANSWERED = "answered"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Result:
    """How a request of a batch has ended.

    Attributes:
        fate: of it.
        status: of the response, as a single call would have had it; 0 where there is none.
        body: of the response.
    """

    fate: Fate
    status: int = 0
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class ServedBatch:
    """A batch of the server.

    Attributes:
        id: of it.
        names: of its requests, in order.
        bodies: of its requests.
        metadata: that came with it.
        file: OpenAI's file of its requests.
        endpoint: of OpenAI, to which they go.
        created: seconds since the epoch.
        results: of its requests that have ended, by name.
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
    endpoint: str = ""
    created: float = field(default_factory=time.time)
    results: dict[str, Result] = field(default_factory=dict)
    ended: bool = False
    cancelled: bool = False
    refused: str = ""
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def fates(self) -> Counter[Fate]:
        """How many requests have ended how."""
        return Counter(result.fate for result in self.results.values())

    def cancel(self) -> None:
        """Ask it to end; what is not answered yet will not be."""
        self.cancelled = True
        self.stop.set()


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

    def answered_by(self, brain: Model, models: Sequence[str]) -> None:
        """Say what answers.

        Args:
            brain: the model.
            models: names of models that are known.
        """
        self._brain, self._models = brain, models

    def begin(self, rows: Sequence[tuple[Any, Any]], wire: Format, most: int) -> ServedBatch:
        """Take a batch, which is answered from now on.

        Args:
            rows: name and body of each request, as they came.
            wire: the format of the bodies.
            most: requests that a batch of the format has.

        Raises:
            BadBody: it is not of the format.
        """
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

    def find(self, name: str) -> ServedBatch:
        """Return a batch by its id.

        Raises:
            NotThere: there is none.
        """
        if name not in self.made:
            raise NotThere("No such Batch object")
        return self.made[name]

    def page(self, after: str | None, limit: int) -> tuple[list[ServedBatch], bool]:
        """Return a page of batches, the newest first, and whether there are more.

        Args:
            after: id of the last one of the page before; None: the first page.
            limit: batches of a page, at most.

        Raises:
            NotThere: there is no batch `after`.
        """
        newest = list(self.made.values())[::-1]
        begin = newest.index(self.find(after)) + 1 if after is not None else 0
        return newest[begin : begin + limit], len(newest) > begin + limit

    async def _work(self, batch: ServedBatch, wire: Format, first: int) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.seconds):
                await batch.stop.wait()
        for number, (name, body) in enumerate(zip(batch.names, batch.bodies, strict=True), first):
            fault = self._faults(number)
            if fault is RowFault.LOST:
                continue
            if batch.cancelled:
                batch.results[name] = Result(Fate.CANCELLED)
            elif fault is RowFault.EXPIRED:
                batch.results[name] = Result(Fate.EXPIRED)
            elif fault is not None:
                batch.results[name] = _failed(wire, *_ERRORS[fault])
            else:
                batch.results[name] = await self._answer(wire, body, number)
            await asyncio.sleep(0)
        batch.ended = True

    async def _answer(self, wire: Format, body: Mapping[str, Any], number: int) -> Result:
        """Answer a request as the server would answer a single call."""
        try:
            asked = wire.read(body)
        except BadBody as error:
            return _failed(wire, 400, "invalid_request_error", str(error))
        if asked.model not in self._models:
            return _failed(wire, 404, "not_found_error", f"model: {asked.model} is not known")
        try:
            reply = await self._brain.complete(asked.request)
        except RequestRefused as error:
            return _failed(wire, 400, "invalid_request_error", str(error))
        except LanguageModelError as error:
            return _failed(wire, 500, "api_error", f"{type(error).__name__}: {error}")
        return Result(Fate.ANSWERED, 200, wire.write(reply, asked, number))


def _failed(wire: Format, status: int, kind: str, text: str) -> Result:
    return Result(Fate.FAILED, status, wire.error(kind, text))


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()
