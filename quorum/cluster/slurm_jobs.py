"""Job states by `squeue` and cancelling by `scancel`; neither needs the cluster's accounting (`sacct`)."""

from __future__ import annotations

import logging
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

_log = logging.getLogger(__name__)

LOOK_EVERY = 10.0
"""Seconds between two queries to the cluster."""
_PATIENCE = 60.0
"""Timeout of a command, in seconds."""
_WAITS = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"}
_RUNS = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "STAGE_OUT", "SIGNALING", "RESIZING"}


@dataclass(frozen=True, slots=True)
class JobState:
    """The state of a job as reported by the cluster.

    Attributes:
        state: Slurm's name for it, such as `PENDING`; `GONE` if the cluster no longer knows the job.
        reason: Slurm's reason for waiting or ending; `None` if there is none.
    """

    state: str
    reason: str = "None"

    @property
    def waits(self) -> bool:
        """Whether it still waits."""
        return self.state in _WAITS

    @property
    def over(self) -> bool:
        """Whether it will not run any more."""
        return self.state not in _WAITS and self.state not in _RUNS

    def __str__(self) -> str:
        return self.state if self.reason == "None" else f"{self.state} ({self.reason})"


QUEUED = JobState("PENDING")
GONE = JobState("GONE")


class SlurmJobs:
    """Queries the states of this user's jobs, at a limited rate.

    Args:
        clock: returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = float("-inf")
        self._known: dict[str, JobState] = {}
        self.silent = ""
        """Why the cluster did not answer the last query; empty if it did."""

    def look(self, ids: Iterable[str]) -> dict[str, JobState] | None:
        """Return the states of jobs, by number; None between two queries, or if the cluster does not answer.

        A job that the cluster has forgotten is `GONE`, unless its final state was seen before.
        """
        wanted = list(ids)
        if self._clock() < self._next:
            return None
        self._next = self._clock() + LOOK_EVERY
        answer = self._ask()
        if answer is None:
            return None
        for number in wanted:
            before = self._known.get(number)
            self._known[number] = answer.get(number) or (before if before and before.over else GONE)
        return {number: self._known[number] for number in wanted}

    def carrying(self, claims: Mapping[str, str]) -> list[str]:
        """Return the jobs whose comments begin with their claims; empty if the cluster does not answer.

        Args:
            claims: the alleged claim of each job, by number.
        """
        if not claims:
            return []
        try:
            lines = _run("squeue", "--noheader", "--me", "--states=all", "--format=%i|%k").splitlines()
        except (OSError, subprocess.SubprocessError) as error:
            _log.warning("squeue does not answer: %s", _told(error))
            return []
        comments = {number: comment for number, _, comment in (line.strip().partition("|") for line in lines)}
        return [job for job, claim in claims.items() if comments.get(job, "").partition(" ")[0] == claim]

    def running(self, ids: Iterable[str]) -> list[str]:
        """Return the running jobs, querying at once."""
        numbers = list(ids)
        self.look_soon()
        states = self.look(numbers) or {} if numbers else {}
        self.look_soon()
        return [number for number, state in states.items() if not (state.waits or state.over)]

    def is_away(self) -> bool:
        """Return whether the cluster does not answer, querying at once."""
        return self._ask() is None

    def look_soon(self) -> None:
        """Let the next call to `look` query the cluster."""
        self._next = float("-inf")

    def _ask(self) -> dict[str, JobState] | None:
        try:
            lines = _run("squeue", "--noheader", "--me", "--states=all", "--format=%i|%T|%r")
        except (OSError, subprocess.SubprocessError) as error:
            self.silent = _told(error)
            _log.warning("squeue does not answer: %s", self.silent)
            return None
        self.silent = ""
        parts = (line.strip().split("|", 2) for line in lines.splitlines() if line.count("|") >= 2)
        return {number: JobState(state, reason) for number, state, reason in parts}


def cancel(ids: Iterable[str], *, waiting_only: bool = False) -> None:
    """Cancel jobs; running ones are killed at once, and ended ones are skipped.

    Errors from the cluster are logged.
    """
    numbers = list(ids)
    if not numbers:
        return
    _scancel("--state=PENDING", *numbers)
    if not waiting_only:
        _scancel("--signal=KILL", *numbers)  # jobs may ignore the gentler signal that scancel sends first
        _scancel(*numbers)


def _scancel(*arguments: str) -> None:
    try:
        _run("scancel", "--quiet", *arguments)
    except subprocess.CalledProcessError as error:
        if error.stderr.strip():  # without a message, some jobs had simply ended
            _log.warning("scancel: %s", _told(error))
    except (OSError, subprocess.SubprocessError) as error:
        _log.warning("scancel: %s", _told(error))


def _run(*line: str) -> str:
    return subprocess.run(line, check=True, capture_output=True, text=True, timeout=_PATIENCE).stdout


def _told(error: OSError | subprocess.SubprocessError) -> str:
    """Return the last line of a command's error output."""
    return last_line(str(getattr(error, "stderr", None) or error))


def last_line(text: str) -> str:
    """Return the last line of a text; empty if there is none."""
    return text.strip().rpartition("\n")[2].strip()
