"""The calls of language models: where each stands in `calls.jsonl`, and what is shown of it."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from quorum.experiments.results.run_folder import DamagedFile, RunFolder
from quorum.experiments.viewer import contract

_HEAD = re.compile(rb'\{"key":"[0-9a-f]*","agent":("(?:[^"\\]|\\.)*"),"t":(\d+),')
"""The beginning of a record as it is written: to parse all of it takes a hundred times as long."""
_MOST_FOUND = 200


@dataclass(frozen=True, slots=True)
class CallPlace:
    """The place of a call.

    Attributes:
        agent: name of the participant that asked.
        t: environment step.
        start: first byte of its line.
        end: byte after its last.
    """

    agent: str
    t: int
    start: int
    end: int


class Calls:
    """The calls of a run.

    Args:
        folder: of the run.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.problems: list[str] = []
        try:
            self._data = folder.read("calls.jsonl") or b""
        except DamagedFile as damage:
            self._data = b""
            self.problems.append(damage.brief)
        self.places = tuple(self._index())

    def _index(self) -> Iterator[CallPlace]:
        start, unread = 0, 0
        while (end := self._data.find(b"\n", start)) >= 0:
            head = _HEAD.match(self._data, start, end)
            try:
                agent, t = (orjson.loads(head[1]), int(head[2])) if head else self._parsed(start, end)
                yield CallPlace(agent, t, start, end)
            except (ValueError, TypeError, KeyError):
                unread += 1
            start = end + 1
        unread += start < len(self._data)
        if unread:
            self.problems.append(f"calls.jsonl: {unread} lines could not be read and are left out.")

    def _parsed(self, start: int, end: int) -> tuple[str, int]:
        record = orjson.loads(self._data[start:end])
        return str(record["agent"]), int(record["t"])

    def __len__(self) -> int:
        return len(self.places)

    def call(self, number: int) -> contract.Call:
        """Return what is shown of a call.

        Raises:
            IndexError: there is no such call.
            ValueError: its record cannot be read.
        """
        where = self.places[number]
        record = orjson.loads(self._data[where.start : where.end])
        return _shown(_map(record))

    def matching(self, words: str) -> list[int]:
        """Return the numbers of the first calls whose record has these words, in any case."""
        found = []
        wanted = re.compile(re.escape(orjson.dumps(words)[1:-1]), re.IGNORECASE)
        for number, where in enumerate(self.places):
            if wanted.search(self._data, where.start, where.end):
                found.append(number)
                if len(found) == _MOST_FOUND:
                    break
        return found


def records_of(call: Mapping[str, Any]) -> int:
    """Return how many records a call of the trace has: one for each request, asking again for an answer among them."""
    answers = call.get("answers", int("completion_tokens" in call))
    return (answers if isinstance(answers, int) else 1) + ("unanswered" in call) or 1


class CallQueue:
    """Hands out the calls of each thought: those of its agent and step, in their order."""

    def __init__(self, calls: Calls) -> None:
        self._waiting: dict[tuple[str, int], deque[int]] = defaultdict(deque)
        for number, where in enumerate(calls.places):
            self._waiting[where.agent, where.t].append(number)

    def take(self, agent: str, t: int, count: int) -> list[int]:
        """Take the next calls of an agent in a step; fewer where the file has fewer."""
        waiting = self._waiting[agent, t]
        return [waiting.popleft() for _ in range(min(count, len(waiting)))]


def _shown(record: Mapping[str, Any]) -> contract.Call:
    """Return a record without what only machines read, each part in its form whatever the file holds."""
    reply, failure, request = (_map(record.get(key)) for key in ("reply", "failure", "request"))
    shown: contract.Call = {
        "agent": str(record.get("agent", "")),
        "t": record.get("t"),
        "messages": [
            {"role": str(message.get("role", "")), "content": _text(message.get("content"))}
            for message in _maps(request.get("messages"))
        ],
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


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _maps(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
