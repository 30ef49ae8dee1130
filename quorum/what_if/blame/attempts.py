"""Play corrections, each once and within a budget, and keep their endings in a journal on disk."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import msgspec
import orjson

from quorum.agents.llm.spending import Spent
from quorum.storage.files import os_errors
from quorum.storage.locks import open_lock, take_lock
from quorum.storage.run_files import DamagedFile, RunFiles
from quorum.what_if.blame.decisions import Decisions
from quorum.what_if.blame.ending import Ending, Success
from quorum.what_if.blame.reruns import Correction
from quorum_base.user_errors import UserError

JOURNAL = "blame.jsonl"
"""The file in the folder of a run: a line for each re-run, so that a killed command can resume."""


class BudgetSpent(Exception):
    """The budget does not allow another re-run."""


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a search.

    Attributes:
        reruns: number of episodes; None: unlimited.
        calls: answers of paid language models; None: unlimited.
        usd: money in US dollars; None: unlimited.
        tokens: tokens that these models read and write; None: unlimited.
    """

    reruns: int | None = None
    calls: int | None = None
    usd: float | None = None
    tokens: int | None = None

    @property
    def unlimited(self) -> bool:
        """Whether nothing limits the cost of paid models."""
        return (self.calls, self.usd, self.tokens) == (None, None, None)

    @property
    def half(self) -> Budget:
        """The most that a shadow run may spend, which leaves at least as much for the search."""
        return replace(
            self,
            calls=None if self.calls is None else self.calls // 2,
            usd=None if self.usd is None else self.usd / 2,
            tokens=None if self.tokens is None else self.tokens // 2,
        )

    def less(self, spent: Spent) -> Budget:
        """Return the remaining budget."""
        return replace(
            self,
            calls=None if self.calls is None else max(self.calls - spent.answers, 0),
            usd=None if self.usd is None else max(self.usd - spent.usd, 0.0),
            tokens=None if self.tokens is None else max(self.tokens - spent.tokens, 0),
        )


class _Rerun(msgspec.Struct, tag="rerun"):
    """A line of the journal: the ending of a correction."""

    of: str
    correction: str
    ending: Ending


class _Shadow(msgspec.Struct, tag="shadow"):
    """A line of the journal: all decisions of the reference."""

    of: str
    decisions: Decisions


_Line = _Rerun | _Shadow


class Journal:
    """The re-runs of a run for one question: reference, digests of the run, version of the code.

    Args:
        folder: folder of the run; None: keep nothing on disk.
        question: everything but the correction that determines how a re-run ends.

    Raises:
        UserError: the journal cannot be read or written.
    """

    def __init__(self, folder: Path | None, question: Mapping[str, Any]) -> None:
        self.question = self._of = hashlib.sha256(orjson.dumps(question, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
        self._known: dict[str, Ending] = {}
        self.decisions: Decisions | None = None
        """All decisions, if the reference decided in every turn."""
        self._file = _open(folder) if folder is not None else None
        if folder is not None:
            self._read(folder)

    def _read(self, folder: Path) -> None:
        try:
            for line in RunFiles(folder).lines(JOURNAL):
                if self._of.encode() not in line:  # of another question; searching the line is faster than parsing it
                    continue
                try:
                    found: _Line = msgspec.json.decode(line, type=_Line)
                except (ValueError, RecursionError):
                    continue  # cut off, damaged, or of another version: the re-run is played again
                if found.of == self._of:
                    self._enter(found)
        except FileNotFoundError:
            return
        except DamagedFile as damage:
            hint = f"Move {folder / JOURNAL} away: the command then plays its re-runs again."
            raise UserError(damage.message, hint) from damage

    def _enter(self, line: _Line) -> None:
        match line:
            case _Rerun(_, correction, ending):
                self._known[correction] = ending
            case _Shadow(_, decisions):
                self.decisions = decisions

    def get(self, correction: str) -> Ending | None:
        """Return the ending of a re-run; None if it was not played."""
        return self._known.get(correction)

    def add(self, correction: str, ending: Ending) -> None:
        """Store the ending of a re-run."""
        self._write(_Rerun(self._of, correction, ending))

    def keep(self, decisions: Decisions) -> None:
        """Store all decisions of the reference."""
        self._write(_Shadow(self._of, decisions))

    def _write(self, line: _Line) -> None:
        self._enter(line)
        if self._file is not None:
            self._file.write(msgspec.json.encode(line) + b"\n")
            os.fsync(self._file.fileno())

    @property
    def spent(self) -> Spent:
        """Cost of the re-runs so far."""
        return sum((Spent(one.calls, one.tokens, one.usd) for one in self._known.values()), Spent())

    def close(self) -> None:
        """Close its file."""
        if self._file is not None:
            self._file.close()


def _open(folder: Path) -> IO[bytes]:
    """Open the journal of a run for this command alone: a second one would play, and pay for, the same re-runs.

    Raises:
        UserError: another command uses it, it is not a file, or it cannot be written.
    """
    with os_errors(f"{folder / JOURNAL}: cannot be written", "Copy the run to your own folder, and blame the copy."):
        file = open_lock(folder, JOURNAL)
        if not take_lock(file, fcntl.LOCK_EX):
            file.close()
            raise UserError(f"{folder}: another quorum blame is at work on this run", "Wait for it, or stop it.")
        if end := file.seek(0, os.SEEK_END):
            file.seek(end - 1)
            if file.read(1) != b"\n":  # the last line was cut off
                file.write(b"\n")
    return file


@dataclass(slots=True)
class Attempts:
    """Plays corrections, each once.

    Attributes:
        play: plays a correction.
        name: names the episode of a correction; two corrections may share an episode.
        left: returns the ending of a correction that an earlier command played to its end, and what was spent on
            unfinished attempts.
        success: what counts as a success.
        longest: steps that count for an unfinished episode.
        budget: limits of all re-runs together.
        journal: re-runs of this command and of earlier ones.
        expected: expected cost of a re-run; nothing without paid models.
        started: called before each correction that is played.
        shadow: cost of the reference as a shadow of the run.
    """

    play: Callable[[Correction], Ending]
    name: Callable[[Correction], str]
    left: Callable[[Correction], tuple[Ending | None, Spent]]
    success: Success
    longest: int
    budget: Budget
    journal: Journal
    expected: Callable[[Correction], Spent] = lambda _: Spent()
    started: Callable[[Correction], None] = lambda _: None
    shadow: Spent = field(default_factory=Spent)
    reruns: int = 0
    """Number of episodes that this command has played."""
    known: set[str] = field(default_factory=set)
    """Names of the episodes that were requested."""
    dropped: dict[str, Spent] = field(default_factory=dict)
    """What earlier commands spent on episodes that they did not finish."""

    def ending(self, correction: Correction) -> Ending:
        """Return how the run ends with a correction.

        Raises:
            BudgetSpent: the budget does not allow another re-run.
        """
        key = self.name(correction)
        found = self.journal.get(key)
        if found is None:
            found, self.dropped[key] = self.left(correction)
            if found is None:
                self._check(self.expected(correction), self.dropped[key])
                self.started(correction)
                self.reruns += 1
                found = self.play(correction)
                _, self.dropped[key] = self.left(correction)  # without the recovered answers
            dropped = self.dropped.pop(key)
            paid = dropped + Spent(found.calls, found.tokens, found.usd)
            found = replace(found, calls=paid.answers, usd=paid.usd, tokens=paid.tokens)
            self.journal.add(key, found)
        self.known.add(key)
        return found

    @property
    def spent(self) -> Spent:
        """Cost so far, including that of earlier commands."""
        return sum(self.dropped.values(), self.journal.spent + self.shadow)

    def _check(self, needs: Spent, had: Spent) -> None:
        """Require that the budget allows a re-run.

        Args:
            needs: its expected cost.
            had: the part of that which killed attempts have paid for.

        Raises:
            BudgetSpent: it does not.
        """
        budget, spent = self.budget, self.spent
        if budget.reruns is not None and self.reruns >= budget.reruns:
            raise BudgetSpent(f"the limit of {budget.reruns} re-runs is reached")
        for what, used, more, limit in (
            ("calls", spent.answers, needs.answers - had.answers, budget.calls),
            ("tokens", spent.tokens, needs.tokens - had.tokens, budget.tokens),
            ("USD", spent.usd, needs.usd - had.usd, budget.usd),
        ):
            if limit is not None and (used >= limit or used + max(more, 0) > limit):
                raise BudgetSpent(f"{used:.6g} of {limit:.6g} {what} are used, and a re-run needs more than the rest")
