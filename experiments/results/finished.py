"""What a finished cell says of itself, read from its folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import orjson

from quorum.experiments.common.provenance import CodeVersion
from quorum.experiments.common.run_files import DamagedFile, RunFiles
from quorum.experiments.episode.models import CALLS
from quorum.experiments.results.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class Spent:
    """What the calls of language models took.

    Attributes:
        calls: their number.
        tokens: read and written.
        usd: money in US dollars, as far as it is known.
        unknown: calls whose price is not known.
    """

    calls: int = 0
    tokens: int = 0
    usd: float = 0.0
    unknown: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.calls + other.calls, self.tokens + other.tokens, self.usd + other.usd, self.unknown + other.unknown
        )


@dataclass(frozen=True, slots=True)
class FinishedCell:
    """A finished cell.

    Attributes:
        name: of its folder.
        outcome: `completed`, `limit`, `budget` or `error`.
        reason: why, for an episode that was ended before its time; else empty.
        seconds: wall time.
        spent: what its calls took.
        simulated: whether a simulated model answered in it, so that the money is made up.
        code: which code ran it.
    """

    name: str
    outcome: str
    reason: str
    seconds: float
    spent: Spent
    simulated: bool
    code: CodeVersion

    @property
    def failed(self) -> bool:
        """Whether it ended with an error."""
        return self.outcome == "error"


def read_finished(folder: Path) -> FinishedCell | None:
    """Read a finished cell; None where the folder holds none: it is missing, unfinished or damaged."""
    files = RunFolder(folder)
    try:
        meta = files.meta()
        if meta.outcome is None or meta.end is None:
            return None
        seconds = (datetime.fromisoformat(meta.end) - datetime.fromisoformat(meta.start)).total_seconds()
        reason = (meta.error.message if meta.error is not None else "") or meta.reason
        return FinishedCell(folder.name, meta.outcome, reason, seconds, _spent(files), meta.simulated, meta.code)
    except (DamagedFile, ValueError, KeyError, TypeError, AttributeError):
        return None


def _spent(files: RunFolder) -> Spent:
    """Add the calls of an episode up; they stand in its metrics, or, where it failed, only in the calls themselves."""
    if not files.files.names(CALLS):
        return Spent()
    try:
        metrics = files.metrics()
    except DamagedFile:
        return sum(_calls(files.files), Spent())
    calls, usd = int(metrics["model.calls"] or 0), metrics["model.usd"]
    tokens = int(metrics["model.prompt_tokens"] or 0) + int(metrics["model.completion_tokens"] or 0)
    return Spent(calls, tokens, usd or 0.0, calls if usd is None else 0)


def _calls(files: RunFiles) -> Iterator[Spent]:
    """Return what each call took that was answered, be it with something that could not be used."""
    for line in files.lines(CALLS):
        try:
            call = orjson.loads(line)
        except orjson.JSONDecodeError:
            return  # the last line of an episode that was killed
        reply = call.get("reply") or call["failure"].get("answer", {}).get("record")
        if reply is not None:
            usage, usd = reply["usage"], reply["usd"]
            yield Spent(1, usage["prompt"] + usage["completion"], usd or 0.0, int(usd is None))
