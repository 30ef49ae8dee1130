"""What was played already: a line for each re-run, written when it has ended. A killed command goes on from there."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import msgspec
import orjson

from maeil.user_errors import UserError
from quorum.experiments.blame.decisions import Decisions
from quorum.experiments.blame.ending import Ending
from quorum.experiments.common.files import require_file
from quorum.experiments.common.run_files import DamagedFile, RunFiles

JOURNAL = "blame.jsonl"
"""The file in the folder of a run."""


_IS_SHADOW = b'"decisions":'


class _Line(msgspec.Struct):
    """A line of the file."""

    of: str
    correction: str
    ending: Ending


class _Shadow(msgspec.Struct):
    """A line that holds what the reference would have decided."""

    of: str
    decisions: Decisions


class Journal:
    """The re-runs of a run by what was asked: reference, digests of the run, version of the code.

    Args:
        folder: of the run.
        question: all that decides how a re-run ends beside its correction.

    Raises:
        UserError: it cannot be written there.
    """

    def __init__(self, folder: Path, question: Mapping[str, Any]) -> None:
        self._of = hashlib.sha256(orjson.dumps(question, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
        self._known: dict[str, Ending] = {}
        self.decisions: Decisions | None = None
        """What the reference would have decided, where it was asked of all turns before."""
        self._read(folder)
        self._file = _opened(folder / JOURNAL)

    def _read(self, folder: Path) -> None:
        try:
            for line in RunFiles(folder).lines(JOURNAL):
                kind: type[_Line | _Shadow] = _Shadow if _IS_SHADOW in line[:64] else _Line
                try:
                    found = msgspec.json.decode(line, type=kind)
                except (msgspec.DecodeError, RecursionError):
                    continue  # it was cut off, or is of another version: it is played again
                if found.of != self._of:
                    continue
                if isinstance(found, _Line):
                    self._known[found.correction] = found.ending
                else:
                    self.decisions = found.decisions
        except FileNotFoundError:
            return
        except DamagedFile as damage:
            raise UserError(damage.message, f"Move {folder / JOURNAL} away: what it holds is played again.") from damage

    def get(self, correction: str) -> Ending | None:
        """Return how a re-run ended; None where it was not played."""
        return self._known.get(correction)

    def add(self, correction: str, ending: Ending) -> None:
        """Write down how a re-run ended."""
        self._known[correction] = ending
        line = orjson.dumps({"of": self._of, "correction": correction, "ending": ending.plain()})
        self._file.write(line + b"\n")
        self._file.flush()

    def keep(self, decisions: Decisions) -> None:
        """Write down what the reference would have decided."""
        self.decisions = decisions
        self._file.write(msgspec.json.encode(_Shadow(self._of, decisions)) + b"\n")
        self._file.flush()

    @property
    def calls(self) -> int:
        """Answers of models that all re-runs so far have taken."""
        return sum(ending.calls for ending in self._known.values())

    @property
    def usd(self) -> float:
        """What they have cost."""
        return sum(ending.usd for ending in self._known.values())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()


def _opened(file: Path) -> BinaryIO:
    require_file(file, "Move it away.")
    try:
        opened = os.fdopen(
            os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644), "r+b"
        )
        if opened.seek(0, os.SEEK_END):
            opened.seek(-1, os.SEEK_END)
            if opened.read(1) != b"\n":  # the last line was cut off
                opened.write(b"\n")
    except OSError as error:
        raise UserError(
            f"{file}: cannot be written: {error.strerror or error}",
            "Copy the run to a folder of yours, and blame that.",
        ) from error
    return opened
