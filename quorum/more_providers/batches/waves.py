"""Waves: simultaneous requests of many episodes go out as one batch, and each gets its answer.

A wave consists of all waiting requests. It is sent when every running episode waits for an answer, or when its first
request has waited long enough. An episode restarted after its process was killed starts from the beginning; the journal
or the batches still open answer its repeated requests.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import logging
import time
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

import orjson
from pydantic import Field

from maeil.component import ComponentConfig
from quorum.agents.llm.delivery import Delivery
from quorum.agents.llm.embeddings import wants_embeddings
from quorum.agents.llm.errors import BadRequest, LanguageModelError, RateLimited, ServerFailed, TimedOut, Transient
from quorum.agents.llm.paid import charge, paid_with
from quorum.agents.llm.prices import BATCH, Price
from quorum.agents.llm.protocol import Model, Reply, Request
from quorum.agents.llm.provided import ProvidedModel
from quorum.agents.llm.providers.base import Provider
from quorum.agents.llm.providers.bounded import note_received
from quorum.more_providers.batches.exchanges import Exchanges, Outage
from quorum.more_providers.batches.journal import BatchJournal, BatchStatus, Intent, Place
from quorum.more_providers.batches.offered import batches_of
from quorum.more_providers.batches.services import BatchRefused, BatchRow, RowResult, RowStatus

_log = logging.getLogger(__name__)

SETTLE = 0.1
"""Seconds without new requests after which no more are expected for a wave."""


class BatchConfig(ComponentConfig):
    """Values of `batch`."""

    name: Literal["batch"]
    size: Annotated[int, Field(ge=1)] | None
    """Maximum number of requests per batch; null: the provider's limit."""
    bytes: Annotated[int, Field(ge=1)] | None
    """Maximum size of a batch in bytes; null: the provider's limit."""
    wait: Annotated[float, Field(gt=0)]
    """Maximum time in seconds that a request waits for those of other episodes."""
    poll: Annotated[float, Field(gt=0)]
    """Seconds between two checks of a batch."""


@dataclass(slots=True)
class _Asked:
    """A request that waits for its wave."""

    place: Place
    body: Mapping[str, Any]
    answer: asyncio.Future[RowResult]


@dataclass(slots=True)
class _Open:
    """A batch under way, with the requests that wait for its rows."""

    intent: Intent
    waiting: dict[int, asyncio.Future[RowResult]]
    begin: float
    rows: Sequence[BatchRow] = ()
    unclaimed: dict[Place, deque[int]] = field(default_factory=lambda: defaultdict(deque))


class Waves(Delivery):
    """All batches of one process: its running episodes and the lines to their models. Use it in one event loop.

    Args:
        journal: the sweep's journal.
        rules: the limits of batches.
    """

    def __init__(self, journal: BatchJournal, rules: BatchConfig) -> None:
        self.journal = journal
        self.rules = rules
        self._lines: dict[str, Line] = {}
        self._waiting: Counter[str] = Counter()
        self._playing: set[str] = set()
        self._changed = 0.0
        self._first = 0.0
        self._waves = 0
        self._gathering: asyncio.Task[None] | None = None

    @contextmanager
    def episode(self, cell: str) -> Iterator[None]:
        """Hold back waves for the requests of an episode while it is played."""
        self._playing.add(cell)
        try:
            yield
        finally:
            self._playing.discard(cell)
            self._changed = time.monotonic()

    def model(self, provider: ProvidedModel, key: str, cell: str, price: Price | None) -> Model:
        """Return the model that replaces a provider for an episode and sends its requests in batches."""
        if not isinstance(provider, Provider):
            raise TypeError(f"a {type(provider).__name__} has no batches")
        return Batched(provider, self.line(key, provider), cell, price)

    def line(self, key: str, provider: Provider) -> Line:
        """Return the line to a model, creating it on first use.

        Args:
            key: key of the model and its provider.
            provider: the model's provider, which has batches.
        """
        if key not in self._lines:
            self._lines[key] = Line(self, key, provider)
        return self._lines[key]

    @contextmanager
    def waits(self, cell: str) -> Iterator[None]:
        """Mark an episode as waiting for an answer."""
        self._waiting[cell] += 1
        try:
            yield
        finally:
            self._waiting[cell] -= 1
            if not self._waiting[cell]:
                del self._waiting[cell]

    def gather(self) -> None:
        """Send the next wave once it is complete."""
        self._changed = time.monotonic()
        if self._gathering is None or self._gathering.done():
            self._first = self._changed
            self._gathering = asyncio.create_task(self._send_when_whole())

    async def _send_when_whole(self) -> None:
        settle = min(SETTLE, self.rules.wait)
        while (now := time.monotonic()) < self._first + self.rules.wait:
            quiet = now - self._changed
            if quiet >= settle and all(cell in self._waiting for cell in self._playing):
                break
            await asyncio.sleep(settle / 2)
        sent = [line.send() for line in self._lines.values()]
        self._waves += any(sent)

    def facts(self) -> tuple[str, ...]:
        """Return the state of all batches, as parts of a status line."""
        return tuple(self.status().facts())

    def status(self) -> BatchStatus:
        """Return the state of all batches."""
        lines = self._lines.values()
        opened = [batch for line in lines for batch in line.open]
        seconds = [took for line in lines for took in line.took]
        money = [line.usd for line in lines]
        return BatchStatus(
            waves=self._waves,
            open=len(opened),
            asked=sum(len(batch.intent.rows) - len(batch.intent.answered) for batch in opened),
            age=max((time.monotonic() - batch.begin for batch in opened), default=0.0),
            ended=len(seconds),
            seconds=sum(seconds) / len(seconds) if seconds else 0.0,
            answers=sum(line.answers for line in lines),
            replayed=sum(line.replayed for line in lines),
            usd=None if any(usd is None for usd in money) else sum(usd or 0.0 for usd in money),
        )

    async def close(self) -> None:
        """Leave all batches running, and close the connections and the journal."""
        if self._gathering is not None:
            self._gathering.cancel()
        for line in self._lines.values():
            await line.close()
        self.journal.close()


class Line:
    """The batches of one model.

    Args:
        waves: the waves of the process.
        key: key of the model and its provider.
        provider: the model's provider, which has batches.
    """

    def __init__(self, waves: Waves, key: str, provider: Provider) -> None:
        self._waves = waves
        self._key = key
        self._provider = provider
        self.service = batches_of(provider)
        """The provider's batches."""
        self._exchanges = Exchanges(provider)
        self._queue: list[_Asked] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self.open: list[_Open] = []
        """Batches under way."""
        self.took: list[float] = []
        """Duration of each ended batch, in seconds."""
        self.answers = 0
        """Number of answers delivered to episodes."""
        self.replayed = 0
        """Number of these that an earlier process read or requested."""
        self.usd: float | None = 0.0
        """Cost of the answers; None if a price is unknown."""
        for intent in list(waves.journal.open.values()):
            if intent.line == key:
                self._take_up(intent)

    def _take_up(self, intent: Intent, rows: Sequence[BatchRow] = ()) -> None:
        """Resume a batch that no request waits for yet, usually one sent by an earlier process."""
        batch = _Open(intent, {}, time.monotonic(), rows)
        for number, place in enumerate(intent.rows):
            if number not in intent.answered:
                batch.unclaimed[place].append(number)
        self._carry(batch)

    async def ask(self, place: Place, body: Mapping[str, Any]) -> RowResult:
        """Return the result of a request, from the journal or an open batch if possible, otherwise from the next wave.

        Raises:
            quorum.agents.llm.errors.LanguageModelError: there is no answer.
        """
        kept = self._waves.journal.take(place)
        if kept is not None:
            self.replayed += 1
            return RowResult("", RowStatus.ANSWERED, kept)
        answer: asyncio.Future[RowResult] = asyncio.get_running_loop().create_future()
        if not self._claim(place, answer):
            self._queue.append(_Asked(place, body, answer))
        self._waves.gather()
        with self._waves.waits(place[0]):
            return await answer

    def _claim(self, place: Place, answer: asyncio.Future[RowResult]) -> bool:
        """Wait for a row that an earlier process requested, if there is one."""
        for batch in self.open:
            if rows := batch.unclaimed.get(place):
                batch.waiting[rows.popleft()] = answer
                self.replayed += 1
                return True
        return False

    def account(self, usd: float | None) -> None:
        """Count an answer and its cost, for the status."""
        self.answers += 1
        self.usd = None if usd is None or self.usd is None else self.usd + usd

    def send(self) -> bool:
        """Send all waiting requests in as few batches as the limits allow; return whether any were sent."""
        asked, self._queue = [one for one in self._queue if not one.answer.done()], []
        rules, service = self._waves.rules, self.service
        most = min(rules.size or service.most_requests, service.most_requests)
        room = min(rules.bytes or service.most_bytes, service.most_bytes)
        part: list[_Asked] = []
        length = 0
        for one in asked:
            size = len(service.line(BatchRow("x" * 32, one.body)))
            if size > room:
                one.answer.set_exception(BadRequest(f"a request of {size} bytes does not fit into a batch of {room}"))
                continue
            if part and (len(part) == most or length + size > room):
                self._begin(part)
                part, length = [], 0
            part.append(one)
            length += size
        if part:
            self._begin(part)
        return bool(asked)

    def _begin(self, asked: Sequence[_Asked]) -> None:
        try:
            intent = self._waves.journal.intend(self._key, [one.place for one in asked])
        except OSError as error:
            for one in asked:
                one.answer.set_exception(error)
            return
        rows = [BatchRow(intent.name(row), one.body) for row, one in enumerate(asked)]
        self._carry(_Open(intent, {row: one.answer for row, one in enumerate(asked)}, time.monotonic(), rows))

    def _carry(self, batch: _Open) -> None:
        self.open.append(batch)
        task = asyncio.create_task(self._bring(batch))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _bring(self, batch: _Open) -> None:
        """Wait for a batch's answers and hand them out; on any failure, the waiting requests get the error."""
        intent, journal = batch.intent, self._waves.journal
        try:
            if intent.batch is None and not await self._create(batch):
                raise TimedOut("the batch of an earlier process was never created")  # its episodes ask again
            assert intent.batch is not None
            refused = await self._until_its_end(intent.batch)
            if refused is not None:
                journal.dropped(intent)
                raise _refusal(refused)
            results = await self._exchanges.retry(lambda: self.service.results(intent.batch or ""))
            self._hand_out(batch, results)
        except Exception as error:  # bugs too, so that no request waits forever
            if not isinstance(error, LanguageModelError | OSError):
                _log.exception("a batch failed")
            for answer in batch.waiting.values():
                if not answer.done():
                    answer.set_exception(copy.copy(error))
            if isinstance(error, Transient) and intent.mark in journal.open:
                self._take_up(intent, batch.rows)  # for requests that are retried
        finally:
            self.open.remove(batch)

    async def _create(self, batch: _Open) -> bool:
        """Create a batch, or find it if it may already exist; return whether it exists.

        If an earlier process never created its batch, the requests are not available here, so its episodes ask again.
        """
        intent, journal = batch.intent, self._waves.journal
        known = bool(batch.rows)  # whether the batch certainly does not exist yet
        outage = Outage()
        while True:
            if not known:
                found = await self._exchanges.retry(
                    lambda: self.service.find(intent.mark, len(intent.rows), intent.time, self._waves.rules.poll),
                    patient=True,
                )
                if found is not None:
                    journal.created(intent, found)
                    return True
                if not batch.rows:
                    journal.dropped(intent)
                    return False
            known = False
            try:
                created = await self._exchanges.once(lambda: self.service.create(intent.mark, batch.rows))
            except LanguageModelError as failure:
                # After a refusal, nothing was created; after any other failure, the batch may exist.
                if not isinstance(failure, Transient) or isinstance(failure, RateLimited):
                    known = True
                if not isinstance(failure, Transient):
                    journal.dropped(intent)
                    raise
                await outage.wait(failure)
            else:
                journal.created(intent, created)
                return True

    async def _until_its_end(self, batch: str) -> BatchRefused | None:
        while True:
            ended = await self._exchanges.retry(lambda: self.service.ended(batch))
            if isinstance(ended, BatchRefused):
                return ended
            if ended:
                return None
            await asyncio.sleep(self._waves.rules.poll)

    def _hand_out(self, batch: _Open, results: Sequence[RowResult]) -> None:
        """Record all answers, then deliver each result to the request that waits for it."""
        intent, journal = batch.intent, self._waves.journal
        rows = {intent.name(row): row for row in range(len(intent.rows))}
        found = {rows[result.name]: result for result in results if result.name in rows}
        answered = {
            row: one.body for row, one in found.items() if one.status is RowStatus.ANSWERED and one.body is not None
        }
        fresh = journal.read(intent, answered)
        self.took.append(time.monotonic() - batch.begin)
        for row, place in enumerate(intent.rows):
            answer = batch.waiting.get(row)
            if answer is not None and not answer.done():
                answer.set_result(found.get(row) or RowResult(intent.name(row), RowStatus.EXPIRED))
            elif row in fresh:
                journal.keep(place, fresh[row])

    async def close(self) -> None:
        """Leave all batches running, and close the connections."""
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.service.close()


def _refusal(refused: BatchRefused) -> LanguageModelError:
    said = f"the provider refuses the batch: {refused.reason}"
    return RateLimited(said) if refused.busy else BadRequest(said)


class Batched:
    """A provider whose requests go out in batches. Like the provider itself, it tries once.

    The provider builds requests and parses answers, and omits what the server refuses, as in single calls.

    Args:
        provider: the provider.
        line: its batches.
        cell: name of the episode's cell.
        price: price of the model, for the status; None if unknown.
    """

    def __init__(self, provider: Provider, line: Line, cell: str, price: Price | None) -> None:
        self._provider = provider
        self._line = line
        self._cell = cell
        self._price = None if price is None else price.of_tier(BATCH)

    async def complete(self, request: Request) -> Reply:
        """Answer a request, however long its batch takes.

        Raises:
            quorum.agents.llm.errors.RequestRefused: the provider refuses.
            quorum.agents.llm.errors.Transient: the request or its batch failed; it may be retried.
        """
        if wants_embeddings(request):  # embeddings are cheap, and a batch holds requests of one kind
            return await self._provider.complete(request)
        begin = time.perf_counter()
        who = request.origin.agent if request.origin is not None else ""

        async def send(body: Mapping[str, Any]) -> Any:
            key = _key(who, request.sample, body)
            return self._response(await self._line.ask((self._cell, key), body))

        try:
            reply = await self._provider.answer(request, send, None)
        except LanguageModelError as error:
            if (paid := paid_with(error)) is not None:
                charge(error, replace(paid, tier=BATCH))
            raise
        self._line.account(None if self._price is None else self._price.usd(reply.usage))
        return replace(reply, tier=BATCH, seconds=time.perf_counter() - begin)

    def _response(self, result: RowResult) -> Any:
        """Return the response as the SDK would, or raise the error that it would."""
        if result.body is not None:
            note_received(orjson.dumps(result.body))
        match result.status:
            case RowStatus.ANSWERED:
                return self._line.service.response(result.body or {})
            case RowStatus.FAILED:
                raise self._provider.failure(result.http_status, result.body)
            case RowStatus.EXPIRED:
                raise TimedOut("the batch ended before this request was answered")
            case RowStatus.CANCELLED:
                raise ServerFailed("the batch was cancelled before this request was answered")


def _key(who: str, sample: int, body: Mapping[str, Any]) -> str:
    """Return the key of a request in its episode, from its agent, its sample and its body."""
    content = orjson.dumps([who, sample, body], option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(content).hexdigest()[:32]
