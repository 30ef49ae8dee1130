"""Jobs of Slurm, by submitit: a job runs a shard of cells, and what it has done is read from the folder of the sweep.

Jobs outlive the command that queued them. A later command cancels those that still wait in the queue, and asks the user
what to do about those that run. A job that begins all the same finds that its command is no more, and plays nothing.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from maeil.component import Component, ComponentConfig
from maeil.user_errors import UserError
from quorum.experiments.common.packages import load
from quorum.experiments.configuration.cell import PlannedCell
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.results.finished import read_finished
from quorum.experiments.sweep.engines.locks import PATIENCE, wait_for_workers
from quorum.experiments.sweep.engines.protocol import CellQueue, Finished, Shard, Started, Stuck, SweepJob, Waits
from quorum.experiments.sweep.engines.slurm_jobs import LOOK_EVERY, QUEUED, JobState, SlurmJobs, cancel
from quorum.experiments.sweep.engines.slurm_shard import STOP, run_shard
from quorum.experiments.sweep.engines.worker_pool import BEAT

_LOGS = ".slurm"
_NUMBERS = "jobs"
_PAUSE = {"slurm": 2.0, "local": 0.2}
"""Seconds between two looks at the folder."""
_LOOKS = 2
"""Looks in a row at which a job must be over before it counts as such without a result: file systems are late."""


class SlurmConfig(ComponentConfig):
    """Values of `slurm`. Keys that are null are left to the cluster."""

    name: Literal["slurm"]
    executor: Literal["slurm", "local"]
    """`local` runs the jobs on this machine, all at once, for a trial."""
    jobs: Annotated[int, Field(ge=1)]
    """Jobs that are queued or run at once, at most."""
    cells: Annotated[int, Field(ge=1)]
    """Cells of a job, at most."""
    episodes: Annotated[int, Field(ge=1)]
    """Episodes of teams with language models that a job plays at once."""
    minutes: Annotated[int, Field(ge=1)]
    """Time limit of a job."""
    cpus: Annotated[int, Field(ge=1)]
    """Processors of a job."""
    memory: Annotated[str, Field(pattern=r"^\d+[KMGT]?$")] | None
    """Memory of a job, as `sbatch --mem` takes it: `4G`."""
    partition: str | None
    """Where the jobs are queued."""
    account: str | None
    """Whom they are charged to."""
    qos: str | None
    """Their quality of service."""
    constraint: str | None
    """Features that a node must have."""
    gres: str | None
    """Generic resources, such as `gpu:1`."""
    setup: tuple[str, ...]
    """Lines of shell that a job runs first, such as `module load python`."""
    extra: tuple[Annotated[str, Field(pattern=r"^--[a-z][a-z-]*(=.*)?$")], ...]
    """Other options of `sbatch`, with their long names: `--nice=100`."""

    def of_sbatch(self) -> dict[str, Any]:
        """Return what submitit is to give to `sbatch`, without what is left to the cluster."""
        options = (option.removeprefix("--").partition("=") for option in self.extra)
        extra = {key: value if equals else True for key, equals, value in options}
        given = {
            "mem": self.memory,
            "partition": self.partition,
            "account": self.account,
            "qos": self.qos,
            "constraint": self.constraint,
            "gres": self.gres,
            "setup": list(self.setup) or None,
            # A job of a lost node would wait for two minutes in the queue; its cells go to another one at once.
            "additional_parameters": {"no-requeue": True, **extra},
        }
        return {f"slurm_{key}": value for key, value in given.items() if value is not None}


@dataclass(slots=True)
class _Submitted:
    """A job that was queued.

    Attributes:
        handle: submitit's.
        cells: that it has not done, by name.
        state: what the cluster said last.
        began: whether it has been seen at work.
        looks: times in a row that it was over.
    """

    handle: Any
    cells: dict[str, PlannedCell]
    state: JobState = QUEUED
    began: bool = False
    looks: int = 0

    @property
    def number(self) -> str:
        return str(self.handle.job_id)

    def see(self, state: JobState) -> None:
        """Take what the cluster says of it."""
        self.state = state
        self.began = self.began or not (state.waits or state.over)
        self.looks = self.looks + 1 if state.over else 0

    @property
    def over(self) -> bool:
        """Whether it is no more, and all that it will leave is there."""
        late = self.began or self.state.state != "CANCELLED"
        return self.handle.paths.result_pickle.exists() or self.looks >= (_LOOKS if late else 1)

    def reason(self, work: CellQueue) -> str:
        """Say why it did not do all of its cells; report it when no other job could."""
        ending = f"its job {self.number} ended"
        logs = f"see {self.handle.paths.stderr}"
        if not self.handle.paths.result_pickle.exists():  # it was killed: submitit would wait for this file
            return "; ".join(filter(None, (f"{ending}: {self.state}", _last_line(self.handle.paths.stderr), logs)))
        try:
            for message in self.handle.result():
                work.report(Stuck(message))
        except Exception as error:  # what the job raised
            return f"{ending}: {_cause(error)}; {logs}"
        return f"{ending} without it; {logs}"


@dataclass(slots=True)
class _Refused:
    """What `sbatch` did not take.

    Attributes:
        shard: that waits to be submitted again; None when the last one was taken.
        why: in the words of `sbatch`.
        again: when it is tried next, in monotonic seconds.
        taken: whether an earlier shard of this command was taken: the options are right.
    """

    shard: Shard | None = None
    why: str = ""
    again: float = float("-inf")
    taken: bool = False


class Slurm:
    """Runs cells in jobs of Slurm.

    A job that the cluster refuses once it has taken others waits, as for a limit of jobs of the user, or a controller
    that is away. It is submitted again while jobs of this command are left or the cluster does not answer at all.

    Raises:
        UserError: submitit is not installed.
    """

    def __init__(self, config: SlurmConfig, _context: None = None) -> None:
        self._submitit = load("submitit", "slurm", "engine=slurm")
        self._config = config
        self._cluster = SlurmJobs()
        self._jobs: list[_Submitted] = []
        self._refused = _Refused()

    def width(self, *, uses_models: bool) -> int:
        """Return how many cells are under way at once, once all jobs run."""
        return self._config.jobs * (min(self._config.episodes, self._config.cells) if uses_models else 1)

    def run(self, work: CellQueue, job: SweepJob) -> None:
        """Run cells until none is left; see `Engine.run`."""
        executor = self._executor(job.folder)
        if self._config.executor == "slurm":
            self._end_earlier_jobs(job.folder)
        stop = job.folder / STOP
        stop.unlink(missing_ok=True)
        number = max(1, min(self._config.jobs, -(-work.waiting // self._config.cells)))
        try:
            while not work.dropping:
                if work.stopping:
                    self._give_back(work)
                    if not stop.exists():
                        stop.touch()
                        self._cancel(waiting_only=True)
                self._hand_out(work, executor, job, number)
                if not self._jobs and self._refused.shard is None:
                    break
                self._pause(work)
                self._check(work, job.folder)
        finally:
            self._end(work, job.folder)
            stop.unlink(missing_ok=True)

    def _executor(self, folder: Path) -> Any:
        safe = f"{shlex.quote(sys.executable)} -P"  # no module of the folder in which the user is hides another
        try:
            executor = self._submitit.AutoExecutor(
                folder / _LOGS, cluster=self._config.executor, slurm_python=safe, local_python=safe
            )
        except RuntimeError as error:
            raise UserError(f"engine.executor: {error}", "engine.executor=local tries it without a cluster.") from error
        executor.update_parameters(
            name=f"quorum-{folder.name}",
            timeout_min=self._config.minutes,
            cpus_per_task=self._config.cpus,
            **self._config.of_sbatch(),
        )
        return executor

    def _end_earlier_jobs(self, folder: Path) -> None:
        """Cancel the jobs of earlier commands that still wait, and wait a moment for those that find nothing to do.

        Raises:
            UserError: some run.
        """
        record = folder / _LOGS / _NUMBERS
        numbers = record.read_text(encoding="ascii").split() if record.exists() else []
        cancel(numbers, waiting_only=True)
        end = time.monotonic() + PATIENCE
        while running := self._cluster.running(numbers):
            if time.monotonic() > end:
                raise UserError(
                    f"{folder}: jobs of an earlier command still run cells of this sweep: {', '.join(running)}",
                    f"Wait until they are done, or end them: scancel {' '.join(running)}",
                )
            time.sleep(1)
        record.unlink(missing_ok=True)

    def _hand_out(self, work: CellQueue, executor: Any, job: SweepJob, number: int) -> None:
        while len(self._jobs) < self._config.jobs and time.monotonic() >= self._refused.again:
            shard = self._refused.shard or work.take(self._config.cells, idle=True)
            if shard is None:
                return
            cells = {cell.name: cell for cell in shard.cells}
            try:
                with contextlib.redirect_stderr(io.StringIO()):  # where submitit repeats what it raises
                    handle = executor.submit(run_shard, job, shard, number, self._config.episodes)
            except self._submitit.core.utils.FailedJobError as error:
                self._wait_with(shard, _line(str(error)))
                return
            self._refused = _Refused(taken=True)
            self._jobs.append(_Submitted(handle, cells))
            with (job.folder / _LOGS / _NUMBERS).open("a", encoding="ascii") as record:
                record.write(f"{handle.job_id}\n")

    def _wait_with(self, shard: Shard, why: str) -> None:
        """Keep a shard that `sbatch` refused, for another try.

        Raises:
            UserError: nothing that comes to pass would let it in.
        """
        taken = self._refused.taken
        self._refused = _Refused(shard, why, time.monotonic() + LOOK_EVERY, taken)
        if not taken or not (self._jobs or self._cluster.is_away()):
            raise UserError(f"engine=slurm: {why}")

    def _give_back(self, work: CellQueue) -> None:
        """Leave a shard that no job has taken to a later command."""
        if self._refused.shard is not None:
            work.lost(self._refused.shard.cells, f"not queued: {self._refused.why}")
            self._refused.shard = None

    def _pause(self, work: CellQueue) -> None:
        end = time.monotonic() + _PAUSE[self._config.executor]
        stopping = work.stopping
        while time.monotonic() < end and not work.dropping and work.stopping == stopping:
            time.sleep(BEAT)
            work.tick()

    def _check(self, work: CellQueue, folder: Path) -> None:
        """See what the jobs have done, and which of them are no more."""
        self._look(work)
        over = [job for job in self._jobs if job.over]  # asked first: what they did is then in the folder
        names = {entry.name for entry in os.scandir(folder)}
        started = {name.partition(PARTIAL)[0] for name in names if PARTIAL in name}
        for job in self._jobs:
            for name in job.cells.keys() & started:
                work.report(Started(name))
            for name in sorted(job.cells.keys() & names):
                if (done := read_finished(folder / name)) is not None:
                    del job.cells[name]
                    work.report(Finished(done))
        for job in over:
            self._jobs.remove(job)
            work.lost(tuple(job.cells.values()), job.reason(work))

    def _look(self, work: CellQueue) -> None:
        """Ask what became of the jobs, and report what waiting jobs wait for."""
        if self._config.executor == "local":
            for job in self._jobs:
                job.see(JobState(job.handle.state))
            return
        states = self._cluster.look([job.number for job in self._jobs]) or {}
        for job in self._jobs:
            if job.number in states:
                job.see(states[job.number])
        waiting = Counter(job.state.reason for job in self._jobs if job.state.waits)
        reasons = [f"{number} x {reason}" for reason, number in waiting.items() if reason != "None"]
        waits = [f"waiting jobs: {', '.join(reasons)}"] if reasons else []
        refused = [f"not queued: {self._refused.why}"] if self._refused.shard is not None else []
        silent = [f"squeue: {self._cluster.silent}"] if self._cluster.silent else []
        work.report(Waits("; ".join(waits + refused + silent)))

    def _cancel(self, *, waiting_only: bool) -> None:
        if self._config.executor == "slurm":
            cancel([job.number for job in self._jobs], waiting_only=waiting_only)
            self._cluster.look_soon()
        elif not waiting_only:
            for job in self._jobs:
                job.handle.cancel(check=False)

    def _end(self, work: CellQueue, folder: Path) -> None:
        self._cancel(waiting_only=False)
        if self._jobs:
            wait_for_workers(folder)
        for job in self._jobs:
            work.lost(tuple(job.cells.values()), "dropped")
        self._jobs.clear()
        self._give_back(work)


def _cause(error: Exception) -> str:
    """Return the last line of the traceback that submitit quotes, or else of the error."""
    quoted = str(error).partition("You can check full logs")[0]
    lines = [line for line in quoted.splitlines() if line.strip("- ")]
    return lines[-1].strip() if lines else type(error).__name__


def _line(text: str) -> str:
    """Return the last line of what a command said."""
    return text.strip().splitlines()[-1] if text.strip() else "sbatch failed"


def _last_line(file: Path) -> str:
    """Return the last line of a log; empty where there is none."""
    try:
        lines = file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1].strip() if lines else ""


component = Component(SlurmConfig, Slurm)
