"""What a tracker logs of a finished run, and how it does so without any cost to the run."""

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
        row: what results know of it.
        meta: its `meta.json`.
        group: the sweep, or `quorum` for single runs.
    """

    row: Row
    meta: RunMeta
    group: str

    @property
    def id(self) -> str:
        """The name of this run, in 16 hexadecimal digits: another run of the same cell has another one."""
        return hashlib.sha256(f"{self.row.hash} {self.row.start}".encode()).hexdigest()[:16]

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics that are defined."""
        return {name: value for name, value in self.row.metrics.items() if value is not None}

    @property
    def tags(self) -> dict[str, str]:
        """What it is found by."""
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
        """Log a run, unless it is there already; whatever this raises is shown to the user, and costs no run."""


@contextmanager
def tracking(tracker: Tracker | None, group: str) -> Iterator[Callable[[Path], None]]:
    """Yield what logs the run in a folder, in another thread.

    A tracker that fails once logs nothing more, and one line at the end says so.

    Args:
        tracker: None: nothing is logged.
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
