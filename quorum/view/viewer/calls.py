"""Calls of language models: their positions in `calls.jsonl`, and their content for the page."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import reduce
from typing import Any

import orjson

from maeil.metrics.model import answers_of, call_number
from quorum.agents.llm.pictures import read_png
from quorum.agents.llm.recording import Unfolding, unfold
from quorum.episode.call_ledger import CALLS
from quorum.runs.run_folder import RunFolder
from quorum.storage.run_files import LARGEST_PICTURE, DamagedFile, picture_file
from quorum.view.viewer.pages import Json

_HEAD = re.compile(rb'\{"key":"[0-9a-f]*","agent":("(?:[^"\\]|\\.)*"),"t":(\d+),')
"""The start of a record as it is written: parsing the whole record takes a hundred times as long."""
_MOST_FOUND = 200
_MOST_UNREAD = 1000
"""Number of unreadable lines after which reading stops: the file is probably something else."""


@dataclass(frozen=True, slots=True)
class CallPlace:
    """The position of a call.

    Attributes:
        agent: name of the participant that made the call.
        t: environment step.
        start: first byte of its line.
        end: byte after its last.
    """

    agent: str
    t: int
    start: int
    end: int


class Calls:
    """The calls of a run; their texts stay on disk until they are requested.

    Args:
        folder: folder of the run.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self.problems: list[str] = []
        self.places = tuple(self._index())
        self._ends = {place.start: place.end for place in self.places}

    def _index(self) -> Iterator[CallPlace]:
        start, unread = 0, 0
        try:
            for line in self._folder.files.lines(CALLS):
                end = start + len(line)
                head = _HEAD.match(line)
                try:
                    agent, t = (orjson.loads(head[1]), int(head[2])) if head else _parsed(line)
                    if not line.endswith(b"\n"):
                        raise ValueError("it is cut off")
                    yield CallPlace(agent, t, start, end)
                except (ValueError, TypeError, KeyError):
                    unread += 1
                start = end
                if unread > _MOST_UNREAD:
                    self.problems.append(f"{CALLS}: only read up to byte {start}")
                    break
        except FileNotFoundError:
            return
        except DamagedFile as damage:
            self.problems.append(damage.brief)
        if unread:
            self.problems.append(f"{CALLS}: {unread} lines could not be read and are left out.")

    def __len__(self) -> int:
        return len(self.places)

    def by_thinker(self) -> dict[tuple[str, int], deque[int]]:
        """Return the numbers of the calls of each agent in each step, in order."""
        found: defaultdict[tuple[str, int], deque[int]] = defaultdict(deque)
        for number, where in enumerate(self.places):
            found[where.agent, where.t].append(number)
        return found

    def call(self, number: int) -> Json:
        """Return a call for the page.

        Raises:
            IndexError: there is no such call.
            ValueError: its record cannot be read.
        """
        where = self.places[number]
        try:
            record = self._record(where.start)
            with suppress(ValueError):  # missing texts are not shown
                record = unfold(record, self._record)
        except DamagedFile as damage:
            raise ValueError(damage.brief) from damage
        return _shown(record)

    def picture(self, digest: str) -> bytes:
        """Return a picture of a prompt, a PNG.

        Raises:
            ValueError: there is no picture of that name, or it is not a PNG.
        """
        try:
            png = self._folder.files.read(picture_file(digest), LARGEST_PICTURE)
        except DamagedFile as damage:
            raise ValueError(damage.brief) from damage
        if png is None:
            raise ValueError("there is no such picture")
        read_png(png)
        return png

    def _record(self, start: int) -> Mapping[str, Any]:
        return _map(orjson.loads(self._folder.files.part(CALLS, start, self._ends[start])))

    def matching(self, words: str) -> list[int]:
        """Return the numbers of the first calls whose record contains these words, ignoring case."""
        found: list[int] = []
        wanted = re.compile(re.escape(orjson.dumps(words)[1:-1]), re.IGNORECASE)
        numbers = {where.start: number for number, where in enumerate(self.places)}
        start, texts = 0, Unfolding()
        with suppress(DamagedFile, FileNotFoundError):
            for line in self._folder.files.lines(CALLS):
                if start in numbers and wanted.search(_whole(texts, line)):
                    found.append(numbers[start])
                    if len(found) == _MOST_FOUND:
                        break
                start += len(line)
        return found


def _whole(texts: Unfolding, line: bytes) -> bytes:
    """Return the next line of a file with all texts that it refers to, as far as they exist."""
    try:
        return orjson.dumps(texts.whole(texts.read(line)))
    except (ValueError, TypeError):
        return line


def _parsed(line: bytes) -> tuple[str, int]:
    record = orjson.loads(line)
    return str(record["agent"]), int(record["t"])


def _shown(record: Mapping[str, Any]) -> Json:
    """Return the human-readable parts of a record, each with its expected type whatever the file contains."""
    reply, failure, request = (_map(record.get(key)) for key in ("reply", "failure", "request"))
    shown: Json = {
        "agent": str(record.get("agent", "")),
        "t": record.get("t"),
        "messages": [_shown_message(message) for message in _maps(request.get("messages"))],
    }
    if reply:
        shown["reply"] = {
            "text": _text(reply.get("text")),
            "simulated": reply.get("simulated") is True,
            "rejected": [
                {"text": _text(answer.get("text")), "reasons": _text(answer.get("reasons"))}
                for answer in _maps(reply.get("rejected"))
            ],
        }
    if failure:
        shown["failure"] = {"kind": str(failure.get("kind", "")), "message": _text(failure.get("message"))}
    return shown


def _shown_message(message: Mapping[str, Any]) -> Json:
    shown: Json = {"role": str(message.get("role", "")), "content": _text(message.get("content"))}
    if pictures := [str(picture.get("hash", "")) for picture in _maps(message.get("pictures"))]:
        shown["pictures"] = pictures
    return shown


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


Spent = tuple[float, ...]
"""Sums over calls, as far as recorded.

Tokens of prompts, of completions (including reasoning) and of reasoning; US dollars; number of answered calls without
recorded tokens or price; number of answered calls of a simulated model.
"""
NOTHING_SPENT: Spent = (0, 0, 0, 0, 0, 0)


def add(one: Spent, other: Spent) -> Spent:
    """Return the sums over both."""
    return tuple(map(sum, zip(one, other, strict=True)))


def spent_by(calls: Iterable[Mapping[str, Any]]) -> Spent | None:
    """Return what the calls of a thought spent; None if no call was answered."""
    answered = [_spent(call) for call in calls if answers_of(call)]
    return reduce(add, answered) if answered else None


def _spent(call: Mapping[str, Any]) -> Spent:
    prompt, completion, usd = counts = [call_number(call, key) for key in ("prompt_tokens", "completion_tokens", "usd")]
    reasoning = call_number(call, "reasoning_tokens")
    simulated = call.get("simulated") is True
    return prompt or 0, completion or 0, reasoning or 0, usd or 0, int(None in counts), int(simulated)
