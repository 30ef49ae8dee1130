"""What a cluster says of jobs, by `squeue` and `scancel`: neither needs the cluster to keep accounts (`sacct`)."""

from __future__ import annotations

import logging
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

_log = logging.getLogger(__name__)

LOOK_EVERY = 10.0
"""Seconds between two questions to the cluster."""
_PATIENCE = 60.0
"""Seconds for an answer."""
_WAITS = {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT"}
_RUNS = {"RUNNING", "COMPLETING", "SUSPENDED", "STOPPED", "STAGE_OUT", "SIGNALING", "RESIZING"}


@dataclass(frozen=True, slots=True)
class JobState:
    """What the cluster says of a job.

    Attributes:
        state: in Slurm's word, such as `PENDING`; `GONE` when the cluster does not know the job any more.
        reason: why it waits or ended, in Slurm's word; `None` where there is nothing to say.
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
    """Asks the cluster about the jobs of this user, seldom.

    Args:
        clock: monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = float("-inf")
        self._known: dict[str, JobState] = {}
        self.silent = ""
        """Why the cluster did not answer the last question; empty when it did."""

    def look(self, ids: Iterable[str]) -> dict[str, JobState] | None:
        """Return the states of jobs, by number; None between two looks, and when the cluster does not answer.

        A job that the cluster has forgotten is `GONE`. When it had been seen at its end before, it keeps that state.
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
        """Return those jobs whose comment begins with their claim; none when the cluster does not answer.

        Args:
            claims: what is said to be the claim of each job, by number.
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
        """Return the jobs that are at work, asking at once."""
        numbers = list(ids)
        self.look_soon()
        states = self.look(numbers) or {} if numbers else {}
        self.look_soon()
        return [number for number, state in states.items() if not (state.waits or state.over)]

    def is_away(self) -> bool:
        """Whether the cluster does not answer, asking at once."""
        return self._ask() is None

    def look_soon(self) -> None:
        """Let the next look ask."""
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
    """Cancel jobs, those that run at once; those that are no more are passed over.

    What the cluster says against it is logged.
    """
    numbers = list(ids)
    if not numbers:
        return
    _scancel("--state=PENDING", *numbers)
    if not waiting_only:
        _scancel("--signal=KILL", *numbers)  # a job passes over the gentler signal that comes first
        _scancel(*numbers)


def _scancel(*arguments: str) -> None:
    try:
        _run("scancel", "--quiet", *arguments)
    except subprocess.CalledProcessError as error:
        if error.stderr.strip():  # otherwise some of them were no more
            _log.warning("scancel: %s", _told(error))
    except (OSError, subprocess.SubprocessError) as error:
        _log.warning("scancel: %s", _told(error))


def _run(*line: str) -> str:
    return subprocess.run(line, check=True, capture_output=True, text=True, timeout=_PATIENCE).stdout


def _told(error: OSError | subprocess.SubprocessError) -> str:
    """Return the last line of what a command said."""
    return last_line(str(getattr(error, "stderr", None) or error))


def last_line(text: str) -> str:
    """Return the last line of a text; empty where there is none."""
    return text.strip().rpartition("\n")[2].strip()
