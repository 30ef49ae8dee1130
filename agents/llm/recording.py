"""Records of calls as lines of `calls.jsonl`, in which what repeats itself stands once.

Most of a prompt is what the same participant was shown before: the rules, the form of its answer, the beginning of what
it sees. So a long text that begins like an earlier one of its place says only how many characters it shares with it,
and an answer's form says only where it stands. Both name the line that holds the whole by its first byte, so that a
reader needs two lines for a call, wherever it is in the file.

A message then has `like: [byte, message, characters]` and the `content` that follows; an answer is `{"like": byte}`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from maeil.errors import EpisodeStop
from quorum.agents.llm import errors
from quorum.agents.llm.pictures import Picture
from quorum.agents.llm.protocol import Model, Origin, Reply, Request
from quorum.agents.llm.records import WALL, describe_reply, describe_request, record_key

LEAST = 256
"""Characters that must be shared: less is not worth the words."""


@dataclass(frozen=True, slots=True)
class _Whole:
    """A text that stands in the file.

    Attributes:
        text: all of it.
        byte: the first one of its line.
    """

    text: str
    byte: int


class Folding:
    """Writes the records of one file, in their order."""

    def __init__(self) -> None:
        self._byte = 0
        self._texts: dict[tuple[str, int], _Whole] = {}
        self._forms: dict[bytes, int] = {}

    def line(self, record: Mapping[str, Any]) -> bytes:
        """Return the line of a record that `Recording` made."""
        request = record["request"]
        messages = [
            self._message(record["agent"], number, message) for number, message in enumerate(request["messages"])
        ]
        folded = {**request, "messages": messages, "answer": self._form(request["answer"])}
        line = orjson.dumps({**record, "request": folded}) + b"\n"
        self._byte += len(line)
        return line

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
    """Reads the records of one file, in their order, and makes them whole where that is asked for."""

    def __init__(self) -> None:
        self._byte = 0
        self._records: dict[int, Mapping[str, Any]] = {}

    def read(self, line: bytes) -> dict[str, Any]:
        """Return the next record as it stands in the file.

        Raises:
            ValueError: it is no JSON.
        """
        byte, self._byte = self._byte, self._byte + len(line)
        record: dict[str, Any] = orjson.loads(line)
        self._records[byte] = record
        return record

    def whole(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record with all of its texts; see `unfold`."""
        return unfold(record, self._records.__getitem__)


def unfolded(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Return the records of a file, whole.

    Raises:
        ValueError: a line is no record.
    """
    reader = Unfolding()
    return (reader.whole(reader.read(line)) for line in lines)


def unfold(record: Mapping[str, Any], at: Callable[[int], Mapping[str, Any]]) -> dict[str, Any]:
    """Return a record with all of its texts.

    Args:
        record: as it stands in the file.
        at: gives the record whose line begins at a byte.

    Raises:
        ValueError: it names a text that is not there.
    """
    try:
        request = record["request"]
        messages = [_whole_message(message, at) for message in request["messages"]]
        answer = request["answer"]
        if answer is not None and "like" in answer:
            answer = at(answer["like"])["request"]["answer"]
            if "like" in answer:
                raise ValueError("it names an answer that is not whole itself")
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"it names a text that is not there: {error!r}") from error
    return {**record, "request": {**request, "messages": messages, "answer": answer}}


def _whole_message(message: Mapping[str, Any], at: Callable[[int], Mapping[str, Any]]) -> Mapping[str, Any]:
    if "like" not in message:
        return message
    try:
        byte, number, characters = message["like"]
    except ValueError as error:
        raise LookupError(*error.args) from error
    whole = at(byte)["request"]["messages"][number]
    if "like" in whole or not 0 <= characters <= len(whole["content"]):
        raise ValueError("it names a text that is not whole itself, or shorter")
    rest = {name: value for name, value in message.items() if name != "like"}
    return {**rest, "content": whole["content"][:characters] + message["content"]}


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts share at their beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


Sink = Callable[[dict[str, Any]], None]
"""Takes one record, e.g. to write it as a line of `calls.jsonl`."""

Keep = Callable[[Picture], None]
"""Takes a picture, e.g. to write it as a file."""

CANCELLED = "Cancelled"


class Recording:
    """A model whose calls are recorded: what was asked, what came back or why nothing did, and who asked when.

    An answer that is asked for again is one call, and asking again is the next.

    Fields of a record: `key`, `agent`, `t`, `role` and `turn` (of `Origin`) where there are such, `request` (messages,
    form, sampling, sample), then `reply` or `failure`.
    What may differ between equal runs (seconds, tries, hits of the cache) stands under `wall`, inside of the reply.

    Args:
        model: the model.
        sink: takes each record when its call ends.
        keep: takes each picture of a request before the record that names it.
    """

    def __init__(self, model: Model, sink: Sink, keep: Keep = lambda _: None) -> None:
        self._model = model
        self._sink = sink
        self._keep = keep

    async def complete(self, request: Request) -> Reply:
        """Answer a request and record the call, also when it fails or is cancelled."""
        begin = time.perf_counter()
        try:
            reply = await self._model.complete(request)
        except (asyncio.CancelledError, errors.LanguageModelError, EpisodeStop) as error:
            attempts = getattr(error, "attempts", 0)
            took = {"seconds": time.perf_counter() - begin, **({"attempts": attempts} if attempts else {})}
            self._record(request, {"failure": {**_describe_failure(error), WALL: took}})
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
