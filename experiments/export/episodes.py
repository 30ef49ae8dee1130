"""What every export is made of: the finished runs of a folder, read one at a time.

Unless the user asks for calls, nothing that a model or a mind wrote is passed on: no prompts and answers, and of the
events neither messages, plans and reasons, nor the texts of extensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import orjson

from maeil.trace import Event, Trace
from maeil.trace.events import EpisodeStart, StageChange, ThoughtEnd
from maeil.user_errors import UserError
from quorum.agents.llm.recording import unfolded
from quorum.experiments.common.run_files import META, DamagedFile
from quorum.experiments.episode.call_books import CALLS
from quorum.experiments.results import Damaged, Row, read_results
from quorum.experiments.results.run_folder import RunFolder, is_run
from quorum.experiments.results.run_meta import RunMeta

_WRITTEN = frozenset({"actions", "content", "problems", "rationale", "reason", "refused", "task"})
"""Fields of events that hold what minds wrote, or that quote it."""
_NAMES = ("model", "finish")
"""Texts in the record of a call that no model wrote."""


class _Message(msgspec.Struct):
    role: str
    content: str


class _Request(msgspec.Struct):
    messages: list[_Message]


class _Usage(msgspec.Struct):
    prompt: int
    completion: int
    cached: int = 0
    reasoning: int = 0


class _Wall(msgspec.Struct):
    seconds: float = 0.0
    cache_hit: bool = False


class _Reply(msgspec.Struct):
    text: str
    model: str
    finish: str
    usage: _Usage
    usd: float | None
    wall: _Wall
    simulated: bool = False


class _Answer(msgspec.Struct):
    record: _Reply | None = None


class _Failure(msgspec.Struct):
    kind: str
    answer: _Answer | None = None


class _Record(msgspec.Struct):
    """A line of `calls.jsonl`, as far as it is exported."""

    agent: str
    t: int
    request: _Request
    role: str = ""
    reply: _Reply | None = None
    failure: _Failure | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A request to a language model.

    Attributes:
        agent: name of the participant that asked.
        t: environment step.
        record: its columns in the table `calls`.
        messages: of the prompt, each with `role` and `content`.
        answer: the text of the answer, be it one that could not be used; None for none.
    """

    agent: str
    t: int
    record: Mapping[str, Any]
    messages: Sequence[Mapping[str, str]]
    answer: str | None


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished run.

    Attributes:
        row: what results know of it.
        meta: its `meta.json`.
        trace: its events; None for a run that failed before the first one.
        texts: whether texts of models are exported.
    """

    row: Row
    meta: RunMeta
    trace: Trace | None
    texts: bool

    @property
    def milliseconds(self) -> tuple[int, int]:
        """When it began and ended, in milliseconds since 1970.

        Raises:
            DamagedFile: its `meta.json` holds no such dates.
        """
        try:
            begin, end = (datetime.fromisoformat(text or "").timestamp() for text in (self.meta.start, self.meta.end))
        except (ValueError, OverflowError) as error:
            raise RunFolder(self.row.folder).files.damaged(META, f"damaged: {error}") from error
        return round(begin * 1000), round(end * 1000)

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield the events as records of the table `events`."""
        for stamped in self.trace.events if self.trace is not None else ():
            data = msgspec.to_builtins(stamped.event)
            yield {
                "run": self.row.name,
                "seq": stamped.seq,
                "t": stamped.t,
                "t_hat": stamped.t_hat,
                "wall": stamped.wall,
                "event": stamped.event.kind,
                "data": data if self.texts else _without_texts(stamped.event, data),
            }

    def calls(self) -> Iterator[Call]:
        """Yield the requests to language models, in the order in which they ended, with all of their texts.

        Raises:
            DamagedFile: one cannot be read.
        """
        files = RunFolder(self.row.folder).files
        if not files.names(CALLS):
            return
        try:
            for number, record in enumerate(unfolded(files.lines(CALLS))):
                yield self._call(number, msgspec.convert(record, _Record))
        except (ValueError, RecursionError) as error:
            raise files.damaged(CALLS, f"damaged: {error}") from error

    def _call(self, number: int, found: _Record) -> Call:
        answered = found.failure.answer if found.failure is not None else None
        reply = found.reply or (answered.record if answered is not None else None)
        record = {
            "run": self.row.name,
            "number": number,
            "agent": found.agent,
            "t": found.t,
            "role": found.role,
            "failure": found.failure.kind if found.failure is not None else None,
        }
        if reply is not None:
            record |= {
                "model": reply.model,
                "finish": reply.finish,
                "prompt_tokens": reply.usage.prompt,
                "completion_tokens": reply.usage.completion,
                "cached_tokens": reply.usage.cached,
                "reasoning_tokens": reply.usage.reasoning,
                "usd": reply.usd,
                "seconds": reply.wall.seconds,
                "cache_hit": reply.wall.cache_hit,
                "simulated": reply.simulated,
            }
        messages = [{"role": message.role, "content": message.content} for message in found.request.messages]
        return Call(found.agent, found.t, record, messages, reply.text if reply is not None else None)

    def json(self, value: Any) -> bytes:
        """Write a value that was made of this run as a line of JSON.

        Raises:
            UserError: it holds a number beyond 64 bits.
        """
        try:
            return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
        except TypeError as error:
            raise UserError(f"{self.row.folder}: damaged: {error}", "Move it away to export the others.") from error


def _without_texts(event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of an event what minds wrote; of one of an extension, everything but its numbers."""
    if type(event).__module__ != EpisodeStart.__module__:
        return _numbers(data)
    kept = {key: value for key, value in data.items() if key not in _WRITTEN}
    if isinstance(event, StageChange):
        kept["reason"] = event.reason
    if isinstance(event, ThoughtEnd):
        kept["calls"] = [_numbers(call, *_NAMES) for call in event.calls]
    return kept


def _numbers(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if isinstance(value, int | float) or key in names}


class Runs:
    """The finished runs of a folder; those that are damaged are left out, and named.

    Args:
        folder: of a run, of a sweep, or of any runs.
        texts: whether texts of models are exported.

    Raises:
        UserError: there is no such folder, or no finished run in it that is whole.
    """

    def __init__(self, folder: Path, *, texts: bool) -> None:
        self.name = folder.resolve().name
        self.texts = texts
        self.remarks: list[str] = []
        """Which runs are left out, and why."""
        self.rows = tuple(self._whole(folder))
        """The runs, one in each arm that planned it."""
        if not self.rows:
            raise UserError(f"{folder}: it holds no finished run that is whole", "\n".join(self.remarks))

    def _whole(self, folder: Path) -> Iterator[Row]:
        if is_run(folder):
            found: list[Row | Damaged] = [RunFolder(folder).row()]
        else:
            results = read_results(folder)
            found = [*results.rows, *results.damaged]
            if results.unfinished:
                self.remarks.append(f"{results.unfinished} unfinished runs are left out")
        kept: dict[Path, RunMeta | None] = {}
        for row in found:
            if isinstance(row, Damaged):
                self.remarks.append(f"{row.name} is left out: {row.reason}")
                continue
            if row.folder not in kept:
                kept[row.folder] = self._checked(row.folder)
            if (meta := kept[row.folder]) is not None:
                bare = replace(row, reason="", error=meta.error.class_ if meta.error is not None else "")
                yield row if self.texts else bare

    def _checked(self, folder: Path) -> RunMeta | None:
        """Read every byte of a run, and return its `meta.json`; None where it is not whole."""
        try:
            return RunFolder(folder).check_whole()
        except DamagedFile as damage:
            self.remarks.append(f"{folder.name} is left out: {damage.brief}")
        return None

    def episodes(self) -> Iterator[Episode]:
        """Read the runs, each once.

        Raises:
            DamagedFile: one was changed since, or holds events that this version does not know.
        """
        for row in {row.folder: row for row in self.rows}.values():
            run = RunFolder(row.folder)
            yield Episode(row, run.meta(), run.trace() if run.trace_name() is not None else None, self.texts)
