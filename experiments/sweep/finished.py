"""What a finished cell says of itself, read from its folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from quorum.experiments.common.provenance import CodeVersion
from quorum.experiments.episode.models import CALLS


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
class Done:
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


def read_done(folder: Path) -> Done | None:
    """Read a finished cell; None where the folder holds none: it is missing, unfinished or damaged."""
    try:
        meta = orjson.loads((folder / "meta.json").read_bytes())
        if not isinstance(meta["outcome"], str):
            return None
        reason = str((meta["error"] or {}).get("message") or meta["reason"])
        simulated = meta.get("simulated") is True
        return Done(
            folder.name, meta["outcome"], reason, _seconds(meta), _spent(folder), simulated, CodeVersion.of(meta)
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _seconds(meta: Mapping[str, Any]) -> float:
    begin, end = (datetime.fromisoformat(meta[key]) for key in ("start", "end"))
    return (end - begin).total_seconds()


def _spent(folder: Path) -> Spent:
    """Add the calls of an episode up; they stand in its metrics, or, where it failed, only in the calls themselves."""
    if not (folder / CALLS).exists():
        return Spent()
    try:
        metrics = orjson.loads((folder / "metrics.json").read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return sum(_calls(folder / CALLS), Spent())
    calls, usd = int(metrics["model.calls"] or 0), metrics["model.usd"]
    tokens = int(metrics["model.prompt_tokens"] or 0) + int(metrics["model.completion_tokens"] or 0)
    return Spent(calls, tokens, usd or 0.0, calls if usd is None else 0)


def _calls(file: Path) -> Iterator[Spent]:
    """Give what each call took that was answered, be it with something that could not be used."""
    for line in file.read_bytes().splitlines():
        try:
            call = orjson.loads(line)
        except orjson.JSONDecodeError:
            return  # the last line of an episode that was killed
        reply = call.get("reply") or call["failure"].get("answer", {}).get("record")
        if reply is not None:
            usage, usd = reply["usage"], reply["usd"]
            yield Spent(1, usage["prompt"] + usage["completion"], usd or 0.0, int(usd is None))
