"""Logs finished runs to trackers, without affecting the runs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from quorum.display.terminal import echo
from quorum.runs import Damaged, Row
from quorum.runs.run_folder import RunFolder
from quorum.runs.run_meta import RunMeta


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """A finished run.

    Attributes:
        row: its row of results.
        meta: its `meta.json`.
        group: the sweep, or `quorum` for single runs.
    """

    row: Row
    meta: RunMeta
    group: str

    @property
    def id(self) -> str:
        """The identifier of this run, in 16 hexadecimal digits; it differs between runs of the same cell."""
        return hashlib.sha256(f"{self.row.hash} {self.row.start}".encode()).hexdigest()[:16]

    @property
    def metrics(self) -> dict[str, float]:
        """The defined metrics."""
        return {name: value for name, value in self.row.metrics.items() if value is not None}

    @property
    def tags(self) -> dict[str, str]:
        """The tags for searching."""
        tags = {
            "run": self.id,
            "hash": self.row.hash,
            "outcome": self.row.outcome,
            "version": self.row.version,
            "commit": self.meta.git.commit if self.meta.git is not None else "",
            "models": ", ".join(self.row.models),
            "simulated": "true" if self.row.simulated else "",
        }
        return {f"quorum.{key}": value for key, value in tags.items() if value}


class Tracker(Protocol):
    """Logs runs somewhere."""

    def log(self, run: TrackedRun) -> None:
        """Log a run unless it is already there; an exception is shown to the user, but does not affect the run."""


@contextmanager
def tracking(tracker: Tracker | None, group: str) -> Iterator[Callable[[Path], None]]:
    """Yield a function that logs the run in a folder, in another thread.

    A tracker that fails once logs nothing more, and one line at the end says so.

    Args:
        tracker: the tracker; None: log nothing.
        group: the sweep, or `quorum` for single runs.
    """
    failures: list[str] = []

    def log(folder: Path) -> None:
        if tracker is None or failures:
            return
        try:
            run = RunFolder(folder)
            row = run.row()
            if isinstance(row, Damaged):
                raise ValueError(row.reason)
            tracker.log(TrackedRun(row, run.meta(), group))
        except Exception as error:
            failures.append(f"track: {folder.name} is not logged ({type(error).__name__}: {error})")

    thread = ThreadPoolExecutor(1)
    try:
        yield lambda folder: [thread.submit(log, folder)].clear()
    finally:
        thread.shutdown()
        if failures:
            echo(f"notice: {failures[0]}; all results are kept. {_AGAIN}", err=True)


_AGAIN = "A sweep logs what is missing when you run the same command again."
