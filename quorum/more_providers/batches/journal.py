"""The journal of a sweep's batches: an append-only file which ensures that nothing is paid for twice.

Each batch writes these lines, in this order:

- `intent`: the mark of a batch about to be created, with the cell and key of each of its requests;
- `created`: the provider's id for it;
- `answer`: the response to one request;
- `read`: all answers of the batch precede this line, and its other requests have none;
- `dropped`: the batch was never created.

At whatever moment the process is killed, the lines show what may be under way. A line that was only partly written is
cut off, and its content is recovered from the provider.
"""

from __future__ import annotations

import os
import secrets
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from quorum.agents.llm.spending import dollars
from quorum_base.inside import open_inside, sync_folder
from quorum_base.user_errors import UserError


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """The state of the batches in this process.

    Attributes:
        waves: number of waves sent.
        open: number of batches that await answers.
        asked: number of requests in them.
        age: seconds since the oldest of them was sent.
        ended: number of batches whose answers were read.
        seconds: mean duration of these; 0 if there are none.
        answers: number of answers delivered to episodes.
        replayed: number of these that an earlier process read or requested.
        usd: cost of the answers; None if a price is unknown.
    """

    waves: int = 0
    open: int = 0
    asked: int = 0
    age: float = 0.0
    ended: int = 0
    seconds: float = 0.0
    answers: int = 0
    replayed: int = 0
    usd: float | None = 0.0

    @property
    def expected_usd(self) -> float | None:
        """Expected cost of the open batches, from the mean cost per answer so far; None if unknown."""
        return self.usd / self.answers * self.asked if self.usd is not None and self.answers else None

    def facts(self) -> Iterator[str]:
        """Yield the parts of a status line."""
        yield f"{self.waves} waves"
        if self.open:
            age, usual = (timedelta(seconds=round(seconds)) for seconds in (self.age, self.seconds))
            rule = f", usually {usual}" if self.ended else ""
            yield f"{self.open} batches open: {self.asked:,} requests, {age} so far{rule}"
            if self.expected_usd is not None:
                yield f"about {dollars(self.expected_usd)} in them"
        if self.replayed:
            yield f"{self.replayed:,} answers from an earlier command"


BATCHES = "batches.jsonl"
"""The name of a sweep's journal file."""

Place = tuple[str, str]
"""The recipient of an answer: the name of a cell, and the key of a request in it."""


@dataclass(slots=True)
class Intent:
    """What is known of a batch.

    Attributes:
        mark: identifies the batch at the provider.
        line: key of the model.
        rows: cell and key of each request.
        time: seconds since the epoch, before the batch was created.
        batch: the provider's id; None if unknown.
        answered: rows whose answers are in the file.
    """

    mark: str
    line: str
    rows: tuple[Place, ...]
    time: float
    batch: str | None = None
    answered: set[int] = field(default_factory=set)

    def name(self, row: int) -> str:
        """Return the name of a request in the provider's batch."""
        return f"{self.mark}-{row}"


@dataclass(frozen=True, slots=True)
class Orphans:
    """Batch results and requests that belong to no cell of the sweep.

    Attributes:
        answers: number of answers read.
        asked: number of requests in batches whose answers were not read yet.
    """

    answers: int
    asked: int


class BatchJournal:
    """The journal of one sweep. Only one process writes it.

    Args:
        path: path of the file, which is created with the first batch.
        wanted: returns whether a cell, by name, still needs its answers.

    Raises:
        UserError: the file is damaged.
    """

    def __init__(self, path: Path, wanted: Callable[[str], bool] = lambda _: True) -> None:
        self._path = path
        self._file: int | None = None
        self._kept: dict[Place, deque[Mapping[str, Any]]] = defaultdict(deque)
        self.open: dict[str, Intent] = {}
        """Batches whose answers have not been read, by mark."""
        for number, record in _records(path):
            try:
                self._take_in(record, wanted)
            except (LookupError, TypeError, ValueError) as error:
                raise _damaged(path, number, error) from error

    def _take_in(self, record: Mapping[str, Any], wanted: Callable[[str], bool]) -> None:
        match record:
            case {"intent": mark, "line": line, "rows": rows, "time": begin}:
                self.open[mark] = Intent(mark, line, tuple((cell, key) for cell, key in rows), begin)
            case {"created": mark, "batch": batch}:
                self.open[mark].batch = batch
            case {"answer": response, "of": mark, "row": row}:
                intent = self.open[mark]
                if row not in intent.answered:
                    intent.answered.add(row)
                    place = intent.rows[row]
                    if wanted(place[0]):
                        self._kept[place].append(response)
            case {"read": mark} | {"dropped": mark}:
                del self.open[mark]
            case _:
                raise ValueError("not a record of a batch")

    def take(self, place: Place) -> Mapping[str, Any] | None:
        """Return and remove the next stored answer to a request; None if there is none."""
        kept = self._kept.get(place)
        if not kept:
            return None
        answer = kept.popleft()
        if not kept:
            del self._kept[place]
        return answer

    def intend(self, line: str, rows: Iterable[Place]) -> Intent:
        """Record that a batch is about to be created."""
        intent = Intent(secrets.token_hex(8), line, tuple(rows), time.time())
        self._write([{"intent": intent.mark, "line": line, "time": intent.time, "rows": intent.rows}])
        self.open[intent.mark] = intent
        return intent

    def created(self, intent: Intent, batch: str) -> None:
        """Record the provider's id for a batch."""
        intent.batch = batch
        self._write([{"created": intent.mark, "batch": batch}])

    def dropped(self, intent: Intent) -> None:
        """Record that a batch does not exist."""
        self._write([{"dropped": intent.mark}])
        del self.open[intent.mark]

    def read(self, intent: Intent, answers: Mapping[int, Mapping[str, Any]]) -> Mapping[int, Mapping[str, Any]]:
        """Record all answers of a batch; return those that were not recorded before.

        Args:
            intent: the batch.
            answers: the responses, by row.
        """
        fresh = {row: answer for row, answer in answers.items() if row not in intent.answered}
        lines = [{"answer": answer, "of": intent.mark, "row": row} for row, answer in fresh.items()]
        self._write([*lines, {"read": intent.mark}])
        del self.open[intent.mark]
        return fresh

    @property
    def kept(self) -> int:
        """Number of stored answers that were not taken yet."""
        return sum(len(answers) for answers in self._kept.values())

    def keep(self, place: Place, answer: Mapping[str, Any]) -> None:
        """Store an answer without a waiting request for the next request that asks for it."""
        self._kept[place].append(answer)

    def _write(self, records: Iterable[Mapping[str, Any]]) -> None:
        if self._file is None:
            self._file = _open(self._path)
        content = memoryview(b"".join(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records))
        while content:
            content = content[os.write(self._file, content) :]
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def orphans(folder: Path) -> Orphans:
    """Count the batch results and requests of a sweep that belong to no finished cell.

    Args:
        folder: the sweep's folder.

    Raises:
        UserError: the journal is damaged.
    """

    @cache
    def is_done(cell: str) -> bool:
        return (folder / cell).is_dir()

    journal = BatchJournal(folder / BATCHES, wanted=lambda cell: not is_done(cell))
    asked = sum(
        row not in intent.answered and not is_done(cell)
        for intent in journal.open.values()
        for row, (cell, _) in enumerate(intent.rows)
    )
    return Orphans(journal.kept, asked)


def _open(path: Path) -> int:
    """Open the file for appending, first cutting off a line left incomplete by a killed process.

    Raises:
        NotAFile: it is not a regular file.
    """
    made = not path.exists()
    file = _inside(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    if made:
        sync_folder(path.parent)
    else:
        os.ftruncate(file, _whole(file))
    return file


def _inside(path: Path, flags: int) -> int:
    return open_inside(path.parent, path.name, flags, 0o600)  # answers are private to the user


def _whole(file: int) -> int:
    """Return the number of bytes in complete lines of an open file."""
    place = os.fstat(file).st_size
    while place > 0:
        begin = max(0, place - 65536)
        newline = os.pread(file, place - begin, begin).rfind(b"\n")
        if newline >= 0:
            return begin + newline + 1
        place = begin
    return 0


def _damaged(path: Path, number: int, error: Exception) -> UserError:
    return UserError(
        f"{path}: line {number} is damaged: {type(error).__name__}: {error}",
        "The provider's account has the content of the file. To continue without it, move it away.",
    )


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        file = os.fdopen(_inside(path, os.O_RDONLY), "rb")
    except (FileNotFoundError, NotADirectoryError):
        return
    with file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                return  # the process was killed while writing this line
            try:
                yield number, orjson.loads(line)
            except ValueError as error:
                raise _damaged(path, number, error) from error
