"""Records of calls as lines of `calls.jsonl`, without repeated text.

Most of a prompt repeats what the same participant was shown before: the rules, the answer schema, the start of its
observation. So a long text that starts like an earlier one in the same position stores only the number of shared
characters, and an answer schema only its position. Both refer to the line with the full text by its first byte, so that
a reader needs at most two lines for a call, anywhere in the file.

A message then has `like: [byte, message, characters]` and the remaining `content`; an answer schema is
`{"like": byte}`.

A conversation grows at its end, so each of its lines refers to the messages it shares with the line before. The request
then has `like: [byte, first, end]`: after its system messages come messages `first` to `end` (exclusive) of that line,
resolved in full and counted with its answer as the last one.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import orjson

from maeil.errors import EpisodeStop
from quorum.agents.llm import errors
from quorum.agents.llm.paid import paid_with
from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.protocol import ChatRole, Model, Origin, Reply, Request
from quorum.agents.llm.records import WALL, describe_reply, describe_request, record_key

LEAST = 256
"""Minimum number of shared characters: a reference to fewer saves nothing."""


@dataclass(frozen=True, slots=True)
class _Whole:
    """A text stored in full in the file.

    Attributes:
        text: the full text.
        byte: first byte of its line.
    """

    text: str
    byte: int


LEAST_MESSAGES = 2
"""Minimum number of consecutive shared messages, for the same reason: at least one turn of a conversation."""

_LINES = 8
"""Number of a role's latest lines to search for the preceding turn: in a debate several conversations alternate."""
_Message = Mapping[str, Any]


class Folding:
    """Writes the records of one file in order."""

    def __init__(self) -> None:
        self._byte = 0
        self._said: defaultdict[tuple[str, str], deque[tuple[int, list[_Message]]]]
        self._said = defaultdict(lambda: deque(maxlen=_LINES))
        self._texts: dict[tuple[str, int], _Whole] = {}
        self._forms: dict[bytes, int] = {}

    def line(self, record: Mapping[str, Any]) -> bytes:
        """Return the line for a record made by `Recording`."""
        request = record["request"]
        like, own = self._earlier(record)
        messages = [self._message(record["agent"], number, message) for number, message in enumerate(own)]
        folded = {**request, **like, "messages": messages, "answer": self._form(request["answer"])}
        line = orjson.dumps({**record, "request": folded}) + b"\n"
        self._byte += len(line)
        return line

    def _earlier(self, record: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[_Message]]:
        """Return a reference to messages shared with an earlier line of the conversation, if any, and the others."""
        messages: list[_Message] = record["request"]["messages"]
        start = _after_system(messages)
        lines = self._said[record["agent"], record.get("role", "")]
        runs = [(_longest_run(said, messages[start:]), byte) for byte, said in lines]
        (length, first), byte = max(runs, default=((0, 0), 0))
        lines.append((self._byte, [*messages, *_answer(record)]))
        if length < LEAST_MESSAGES:
            return {}, messages
        return {"like": [byte, first, first + length]}, [*messages[:start], *messages[start + length :]]

    def _message(self, agent: str, number: int, message: Mapping[str, Any]) -> Mapping[str, Any]:
        text = message["content"]
        whole = self._texts.get((agent, number))
        same = _shared(whole.text, text) if whole is not None else 0
        if whole is not None and same >= LEAST and 2 * same >= len(whole.text):
            return {**message, "like": [whole.byte, number, same], "content": text[same:]}
        if len(text) >= LEAST:
            self._texts[agent, number] = _Whole(text, self._byte)
        return message

    def _form(self, answer: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if answer is None:
            return None
        content = orjson.dumps(answer)
        byte = self._forms.setdefault(content, self._byte)
        return answer if byte == self._byte else {"like": byte}


class Unfolding:
    """Reads the records of one file in order, and expands them on request."""

    def __init__(self) -> None:
        self._byte = 0
        self._records: dict[int, Mapping[str, Any]] = {}
        self._said: dict[int, list[_Message]] = {}

    def read(self, line: bytes) -> dict[str, Any]:
        """Return the next record as stored in the file.

        Raises:
            ValueError: it is not JSON.
        """
        byte, self._byte = self._byte, self._byte + len(line)
        record: dict[str, Any] = orjson.loads(line)
        self._records[byte] = record
        return record

    def whole(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record with its full texts; see `unfold`."""
        return unfold(record, self._records.__getitem__, self._said)


def unfolded(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Return the expanded records of a file.

    Raises:
        ValueError: a line is not a record.
    """
    reader = Unfolding()
    return (reader.whole(reader.read(line)) for line in lines)


def unfold(
    record: Mapping[str, Any],
    at: Callable[[int], Mapping[str, Any]],
    said: dict[int, list[_Message]] | None = None,
) -> dict[str, Any]:
    """Return a record with its full texts.

    Args:
        record: the record as stored in the file.
        at: returns the record whose line starts at a byte.
        said: caches the messages of lines read on the way, by byte, for later records.

    Raises:
        ValueError: it refers to a missing text.
    """
    try:
        messages = _whole_messages(record, at, {} if said is None else said)
        request = {name: value for name, value in record["request"].items() if name != "like"}
        answer = request["answer"]
        if answer is not None and "like" in answer:
            answer = at(answer["like"])["request"]["answer"]
            if "like" in answer:
                raise ValueError("it refers to an answer that is itself incomplete")
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"it refers to a missing text: {error!r}") from error
    return {**record, "request": {**request, "messages": messages, "answer": answer}}


def _whole_messages(
    record: Mapping[str, Any], at: Callable[[int], Mapping[str, Any]], said: dict[int, list[_Message]]
) -> list[_Message]:
    back: list[tuple[int | None, Mapping[str, Any]]] = [(None, record)]
    while (like := back[-1][1]["request"].get("like")) is not None and like[0] not in said:
        byte, after = like[0], back[-1][0]
        if after is not None and byte >= after:
            raise ValueError("it refers to messages that do not precede it")
        back.append((byte, at(byte)))
    whole: list[_Message] = []
    for start, line in reversed(back):
        whole = [_whole_message(message, at) for message in line["request"]["messages"]]
        if (like := line["request"].get("like")) is not None:
            byte, first, end = _reference(like)
            if not 0 <= first < end <= len(said[byte]):
                raise ValueError("it refers to missing messages")
            place = _after_system(whole)
            whole[place:place] = said[byte][first:end]
        if start is not None:
            said[start] = [*whole, *_answer(line)]
    return whole


def _reference(like: Any) -> tuple[int, int, int]:
    """Return the numbers of a reference; raise `LookupError` unless there are three."""
    try:
        byte, first, last = like
    except ValueError as error:
        raise LookupError(*error.args) from error
    return byte, first, last


def _answer(record: Mapping[str, Any]) -> list[_Message]:
    """Return a record's answer, if any, as the message it becomes in the next turn of a conversation."""
    if "reply" not in record:
        return []
    reply = record["reply"]
    carried = {"carried": reply["carried"]} if "carried" in reply else {}
    return [{"role": ChatRole.ASSISTANT.value, "content": reply["text"], **carried}]


def _after_system(messages: Sequence[_Message]) -> int:
    """Return the index of the first message after the system messages."""
    return next((i for i, message in enumerate(messages) if message["role"] != ChatRole.SYSTEM), len(messages))


def _longest_run(said: Sequence[_Message], messages: Sequence[_Message]) -> tuple[int, int]:
    """Return the length and the start of the longest run of messages that begins the other messages."""
    starts = (first for first, message in enumerate(said) if messages and message == messages[0])
    return max(((_alike(said[first:], messages), first) for first in starts), default=(0, 0))


def _alike(some: Sequence[_Message], others: Sequence[_Message]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(some, others, strict=False)))


def _whole_message(message: Mapping[str, Any], at: Callable[[int], Mapping[str, Any]]) -> Mapping[str, Any]:
    if "like" not in message:
        return message
    byte, number, characters = _reference(message["like"])
    whole = at(byte)["request"]["messages"][number]
    if "like" in whole or not 0 <= characters <= len(whole["content"]):
        raise ValueError("it refers to a text that is itself incomplete, or too short")
    rest = {name: value for name, value in message.items() if name != "like"}
    return {**rest, "content": whole["content"][:characters] + message["content"]}


def _shared(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


Sink = Callable[[dict[str, Any]], None]
"""Receives one record, e.g. to write it as a line of `calls.jsonl`."""

Keep = Callable[[Picture], None]
"""Receives a picture, e.g. to write it as a file."""

CANCELLED = "Cancelled"


class Recording:
    """A model whose calls are recorded: the request, the reply or failure, and the origin.

    A repeated request is a separate call.

    Fields of a record: `key`, `agent`, `t`, `role` and `turn` (of `Origin`) if present, `request` (messages, schema,
    sampling, sample), then `reply` or `failure`. A failure that was paid for holds its cost as `answer.record`, in the
    form of a reply.
    Values that may differ between equal runs (seconds, tries, cache hits) are under `wall` inside the reply.

    Args:
        model: the model.
        sink: receives each record when its call ends.
        keep: receives each picture of a request before the record that refers to it.
    """

    def __init__(self, model: Model, sink: Sink, keep: Keep = lambda _: None) -> None:
        self._model = model
        self._sink = sink
        self._keep = keep

    async def complete(self, request: Request) -> Reply:
        """Answer a request and record the call, even if it fails or is cancelled."""
        begin = time.perf_counter()
        try:
            reply = await self._model.complete(request)
        except (asyncio.CancelledError, errors.LanguageModelError, EpisodeStop) as error:
            attempts = getattr(error, "attempts", 0)
            took = {"seconds": time.perf_counter() - begin, **({"attempts": attempts} if attempts else {})}
            paid = paid_with(error)
            answer = {} if paid is None else {"answer": {"record": describe_reply(paid)}}
            self._record(request, {"failure": {**_describe_failure(error), **answer, WALL: took}})
            raise
        self._record(request, {"reply": describe_reply(reply)})
        return reply

    def _record(self, request: Request, end: dict[str, Any]) -> None:
        for message in request.messages:
            for picture in message.pictures:
                self._keep(picture)
        origin = request.origin or Origin("", 0)
        how = {name: value for name, value in (("role", origin.role), ("turn", origin.turn)) if value}
        record = describe_request(request)
        who = {"key": record_key(record), "agent": origin.agent, "t": origin.t, **how}
        self._sink({**who, "request": record, **end})


def _describe_failure(error: BaseException) -> dict[str, Any]:
    """Return a failure as a JSON-ready record."""
    if isinstance(error, asyncio.CancelledError):
        return {"kind": CANCELLED}
    record: dict[str, Any] = {"kind": type(error).__name__, "message": str(error)}
    if isinstance(error, errors.BudgetReached):
        record["budget"] = {"kind": error.kind, "value": error.value, "limit": error.limit}
    return record
