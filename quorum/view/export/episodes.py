"""The input of every export: the finished runs of a folder, read one at a time.

Unless the user requests calls, exports contain no text of a model or a mind: no prompts and answers, no messages, plans
and reasons of events, and no texts of extensions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import orjson

from maeil.trace import Event, Trace
from maeil.trace.events import EpisodeStart, StageChange, ThoughtEnd
from quorum.agents.llm.recording import unfolded
from quorum.agents.llm.records import read_reply
from quorum.episode.call_ledger import CALLS
from quorum.runs import Damaged, Row, read_results
from quorum.runs.run_folder import RunFolder
from quorum.runs.run_meta import RunMeta
from quorum.storage.run_files import DamagedFile
from quorum.view.export.selection import matching
from quorum_base.user_errors import UserError

_WRITTEN = frozenset({"actions", "content", "problems", "rationale", "reason", "refused", "task"})
"""Fields of events with texts of minds, or with quotes of them."""
_NAMES = ("model", "finish")
"""Texts in the record of a call that are not from a model."""
_TOKENS = ("prompt", "completion", "cached", "reasoning")


@dataclass(frozen=True, slots=True)
class Episode:
    """One finished run.

    Attributes:
        row: its row of the results.
        meta: its `meta.json`.
        trace: its events; None for a run that failed before the first one.
        texts: whether to export texts of models.
    """

    row: Row
    meta: RunMeta
    trace: Trace | None
    texts: bool

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

    def calls(self) -> Iterator[dict[str, Any]]:
        """Yield the requests to language models as records of the table `calls`, in the order in which they ended.

        Raises:
            DamagedFile: one cannot be read.
        """
        files = RunFolder(self.row.folder).files
        if not files.exists(CALLS):
            return
        try:
            for number, record in enumerate(unfolded(files.lines(CALLS))):
                yield {"run": self.row.name, "number": number, **self._call(record)}
        except (ValueError, TypeError, AttributeError, LookupError, RecursionError) as error:
            raise files.damaged(CALLS, f"damaged: {error!r}") from error

    def _call(self, record: Mapping[str, Any]) -> dict[str, Any]:
        failure = record.get("failure", {})
        answer = record.get("reply") or failure.get("answer", {}).get("record")  # possibly an unusable one
        reply = read_reply(answer) if answer else None
        found = {
            "agent": str(record["agent"]),
            "t": int(record["t"]),
            "role": str(record.get("role", "")),
            "failure": str(failure["kind"]) if failure else None,
        }
        if reply is not None:
            found |= {
                name: getattr(reply, name) for name in ("model", "finish", "usd", "seconds", "cache_hit", "simulated")
            }
            found |= {f"{name}_tokens": getattr(reply.usage, name) for name in _TOKENS}
        if self.texts:
            prompt = record["request"]["messages"]
            found["messages"] = [{key: str(message[key]) for key in ("role", "content")} for message in prompt]
            found["answer"] = reply.text if reply is not None else None
        return found

    def json(self, value: Any) -> bytes:
        """Write a value of this run as a line of JSON.

        Raises:
            UserError: it has a number beyond 64 bits.
        """
        try:
            return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
        except TypeError as error:
            raise UserError(f"{self.row.folder}: damaged: {error}", "Move it away to export the others.") from error


def _without_texts(event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    """Remove texts of minds from an event; keep only the numbers of an extension's event."""
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
    """The finished runs of a folder; damaged ones are left out and reported.

    Args:
        folder: folder of a run, of a sweep, or of any runs.
        texts: whether to export texts of models.
        where: a condition that the runs meet, see `matching`; empty for none.
        out: where the user wants the export; None: in the folder.

    Raises:
        UserError: there is no such folder, it has no intact finished run, or none that meets the condition.
    """

    def __init__(self, folder: Path, *, texts: bool, where: str = "", out: Path | None = None) -> None:
        self.folder = folder
        self.name = folder.resolve().name
        self.texts = texts
        self.where = where
        self.out = out
        self.remarks: list[str] = []
        """The runs that are left out, with the reasons."""
        self.rows = tuple(self._whole(folder))
        """The runs, one for each arm that planned it."""
        if not self.rows:
            raise UserError(f"{folder}: it holds no finished, undamaged run", "\n".join(self.remarks))
        if where:
            self.rows = matching(self.rows, where)

    def _whole(self, folder: Path) -> Iterator[Row]:
        results = read_results(folder)
        if results.unfinished:
            self.remarks.append(f"{results.unfinished} unfinished runs are left out")
        found: tuple[Row | Damaged, ...] = (*results.rows, *results.damaged)
        for row in found:
            if isinstance(row, Damaged):
                self.remarks.append(f"{row.name} is left out: {row.reason}")
                continue
            try:
                meta = RunFolder(row.folder).check_whole()  # verifies every byte
                _ = meta.milliseconds
            except (DamagedFile, ValueError) as error:
                reason = error.brief if isinstance(error, DamagedFile) else error
                self.remarks.append(f"{row.name} is left out: {reason}")
                continue
            yield row if self.texts else replace(row, reason="", error=meta.error.class_ if meta.error else "")

    def episodes(self) -> Iterator[Episode]:
        """Read the runs, each once.

        Raises:
            DamagedFile: a run has changed since, or has events that this version does not know.
        """
        for row in {row.folder: row for row in self.rows}.values():
            run = RunFolder(row.folder)
            yield Episode(row, run.meta(), run.trace() if run.trace_name() is not None else None, self.texts)
