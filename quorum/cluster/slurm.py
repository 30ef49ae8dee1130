"""Slurm jobs, by submitit: each job runs a shard of cells, and the sweep folder shows its progress.

Jobs outlive the command that queued them. A later command cancels those still in the queue, and asks the user what to
do about running ones. A queued job that starts anyway finds that its command is gone, and runs nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import os
import shlex
import sys
import time
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from maeil.component import Component, ComponentConfig
from maeil.together import together
from quorum.cluster.slurm_jobs import LOOK_EVERY, QUEUED, JobState, SlurmJobs, cancel, last_line
from quorum.episode.episode_folder import PARTIAL
from quorum.episode.planned_cell import PlannedCell
from quorum.installation.packages import load
from quorum.runs.finished import read_finished
from quorum.storage.run_files import MIB, DamagedFile, RunFiles
from quorum.sweeps.engines.locks import PATIENCE, claim_of, wait_for_workers
from quorum.sweeps.engines.protocol import (
    CellQueue,
    Engine,
    Finished,
    Shard,
    Started,
    Stuck,
    SweepJob,
    Waits,
    WorkerReport,
)
from quorum.sweeps.engines.worker import Worker
from quorum.sweeps.engines.worker_pool import BEAT
from quorum_base.inside import make_inside, open_inside, remove_inside, write_inside
from quorum_base.user_errors import UserError

STOP = ".stop"
"""A file in the sweep folder: while it exists, no job begins a cell."""
_LOGS = ".slurm"
_NUMBERS = "jobs"
_ANOTHER = "If it is not yours, do not use this folder: start a separate sweep with --name NAME."
_PAUSE = {"slurm": 2.0, "local": 0.2}
"""Seconds between two checks of the folder."""
_LOOKS = 2
"""Consecutive checks for which a job without a result must be over before it counts as ended; file systems lag."""


class SlurmConfig(ComponentConfig):
    """Values of `slurm`. For null keys, the cluster decides."""

    name: Literal["slurm"]
    executor: Literal["slurm", "local"]
    """`local` runs all jobs at once on this machine, as a test."""
    jobs: Annotated[int, Field(ge=1)]
    """Maximum number of jobs queued or running at once."""
    cells: Annotated[int, Field(ge=1)]
    """Maximum number of cells per job."""
    episodes: Annotated[int, Field(ge=1)]
    """Episodes of teams with language models that a job plays at once."""
    minutes: Annotated[int, Field(ge=1)]
    """Time limit of a job."""
    cpus: Annotated[int, Field(ge=1)]
    """Processors of a job."""
    memory: Annotated[str, Field(pattern=r"^\d+[KMGT]?$")] | None
    """Memory of a job, in the syntax of `sbatch --mem`: `4G`."""
    partition: str | None
    """Partition of the jobs."""
    account: str | None
    """Account that the jobs are charged to."""
    qos: str | None
    """Quality of service of the jobs."""
    constraint: str | None
    """Features that a node must have."""
    gres: str | None
    """Generic resources, such as `gpu:1`."""
    setup: tuple[str, ...]
    """Shell lines that a job runs first, such as `module load python`."""
    extra: tuple[Annotated[str, Field(pattern=r"^--[a-z][a-z-]*(=.*)?$")], ...]
    """Other `sbatch` options, by their long names: `--nice=100`."""

    def of_sbatch(self, claim: str) -> dict[str, Any]:
        """Return the `sbatch` options for submitit, omitting those left to the cluster.

        Args:
            claim: the command's claim, which starts the comment of its jobs.
        """
        options = (option.removeprefix("--").partition("=") for option in self.extra)
        extra = {key: value if equals else True for key, equals, value in options}
        given = {
            "comment": f"{claim} {extra.pop('comment', '')}".strip(),
            "mem": self.memory,
            **self.model_dump(include={"partition", "account", "qos", "constraint", "gres"}),
            "setup": list(self.setup) or None,
            # A requeued job of a lost node would wait two minutes; this way, its cells go to another job at once.
            "additional_parameters": {"no-requeue": True, **extra},
        }
        return {f"slurm_{key}": value for key, value in given.items() if value is not None}


@dataclass(slots=True)
class _Submitted:
    """A queued job.

    Attributes:
        handle: submitit's handle.
        cells: its unfinished cells, by name.
        state: the last state reported by the cluster.
        began: whether it has been seen running.
        looks: number of consecutive checks for which it was over.
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
        """Record the state reported by the cluster."""
        self.state = state
        self.began = self.began or not (state.waits or state.over)
        self.looks = self.looks + 1 if state.over else 0

    @property
    def over(self) -> bool:
        """Whether it has ended and all its output has arrived."""
        late = self.began or self.state.state != "CANCELLED"
        return self.handle.paths.result_pickle.exists() or self.looks >= (_LOOKS if late else 1)

    def reason(self, work: CellQueue) -> str:
        """Return why it left cells undone; report the reason if it would affect every other job."""
        ending = f"its job {self.number} ended"
        logs = f"see {self.handle.paths.stderr}"
        if not self.handle.paths.result_pickle.exists():  # it was killed; submitit would wait for this file
            return "; ".join(filter(None, (f"{ending}: {self.state}", _last_line(self.handle.paths.stderr), logs)))
        try:
            for message in self.handle.result():
                work.report(Stuck(message))
        except Exception as error:  # whatever the job raised
            return f"{ending}: {_cause(error)}; {logs}"
        return f"{ending} without this cell; {logs}"


class Slurm(Engine):
    """Runs cells in Slurm jobs.

    If the cluster refuses a job after accepting others, for example because of a per-user limit or an unreachable
    controller, the job waits. It is submitted again while jobs of this command remain or the cluster does not answer.

    Raises:
        UserError: submitit is not installed.
    """

    def __init__(self, config: SlurmConfig, _context: None = None) -> None:
        self._submitit = load("submitit", "slurm", "engine=slurm")
        self._config = config
        self._cluster = SlurmJobs()
        self._jobs: list[_Submitted] = []
        self._refused: Shard | None = None
        """The shard that `sbatch` refused, waiting to be submitted again."""
        self._why = ""
        """The reason given by `sbatch`."""
        self._again = float("-inf")
        """Time of the next attempt, in monotonic seconds."""
        self._taken = False
        """Whether a shard of this command was accepted, which shows that the options are valid."""

    def width(self, *, uses_models: bool) -> int:
        """Return how many cells run at once, once all jobs run."""
        return self._config.jobs * (min(self._config.episodes, self._config.cells) if uses_models else 1)

    def run(self, work: CellQueue, job: SweepJob) -> None:
        """Run cells until none is left; see `Engine.run`."""
        executor = self._executor(job)
        if self._config.executor == "slurm":
            self._end_earlier_jobs(job.folder)
        remove_inside(job.folder, STOP)
        number = max(1, min(self._config.jobs, -(-work.waiting // self._config.cells)))
        try:
            while not work.dropping:
                if work.stopping:
                    self._give_back(work)
                    if not (job.folder / STOP).exists():
                        write_inside(job.folder, {STOP: b""})
                        self._cancel(waiting_only=True)
                self._hand_out(work, executor, job, number)
                if not self._jobs and self._refused is None:
                    break
                self._pause(work)
                self._check(work, job.folder)
        finally:
            self._end(work, job.folder)
            remove_inside(job.folder, STOP)

    def _executor(self, job: SweepJob) -> Any:
        """Return the submitit executor, with a job folder that no one else could have filled before.

        This matters because submitit unpickles the files that jobs leave there.
        """
        safe = f"{shlex.quote(sys.executable)} -P"  # -P: no module in the user's current folder shadows another
        own = f"{_LOGS}/{job.claim}"
        try:
            make_inside(job.folder, own)
            executor = self._submitit.AutoExecutor(
                job.folder / own, cluster=self._config.executor, slurm_python=safe, local_python=safe
            )
        except RuntimeError as error:
            hint = "To try it without a cluster: engine.executor=local."
            raise UserError(f"engine.executor: {error}", hint) from error
        executor.update_parameters(
            name=f"quorum-{job.folder.name}",
            timeout_min=self._config.minutes,
            cpus_per_task=self._config.cpus,
            **self._config.of_sbatch(job.claim),
        )
        return executor

    def _end_earlier_jobs(self, folder: Path) -> None:
        """Cancel earlier commands' waiting jobs, and wait briefly for running ones that find nothing to do.

        A job number in the folder's record counts only if the job's comment matches the claim recorded with it, because
        someone else may have written the file.

        Raises:
            UserError: some are still running.
        """
        try:
            record = (RunFiles(folder / _LOGS).read(_NUMBERS, MIB) or b"").decode("ascii", "replace")
        except DamagedFile as damage:
            raise UserError(damage.message, _ANOTHER) from damage
        lines = (line.split() for line in record.splitlines())
        numbers = self._cluster.carrying({line[0]: line[1] for line in lines if len(line) == 2})
        cancel(numbers, waiting_only=True)
        end = time.monotonic() + PATIENCE
        while running := self._cluster.running(numbers):
            if time.monotonic() > end:
                raise UserError(
                    f"{folder}: jobs of an earlier command still run cells of this sweep: {', '.join(running)}",
                    f"Wait until they are done, or cancel them: scancel {' '.join(running)}",
                )
            time.sleep(1)
        remove_inside(folder, f"{_LOGS}/{_NUMBERS}")

    def _hand_out(self, work: CellQueue, executor: Any, job: SweepJob, number: int) -> None:
        """Submit shards while there is room for jobs.

        Raises:
            UserError: `sbatch` refuses a job, and waiting cannot help.
        """
        while len(self._jobs) < self._config.jobs and time.monotonic() >= self._again:
            shard = self._refused or work.take(self._config.cells, idle=True)
            if shard is None:
                return
            try:
                with contextlib.redirect_stderr(io.StringIO()):  # submitit also prints what it raises
                    handle = executor.submit(run_shard, job, shard, number, self._config.episodes)
            except self._submitit.core.utils.FailedJobError as error:
                self._refused, self._why = shard, last_line(str(error)) or "sbatch failed"
                self._again = time.monotonic() + LOOK_EVERY
                if not self._taken or not (self._jobs or self._cluster.is_away()):
                    raise UserError(f"engine=slurm: {self._why}") from error
                return
            self._refused, self._taken = None, True
            self._jobs.append(_Submitted(handle, {cell.name: cell for cell in shard.cells}))
            record = open_inside(job.folder, f"{_LOGS}/{_NUMBERS}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            with os.fdopen(record, "a", encoding="ascii") as file:
                file.write(f"{handle.job_id} {job.claim}\n")

    def _give_back(self, work: CellQueue) -> None:
        """Leave a shard that no job accepted to a later command."""
        if self._refused is not None:
            work.lost(self._refused.cells, f"not queued: {self._why}")
            self._refused = None

    def _pause(self, work: CellQueue) -> None:
        end = time.monotonic() + _PAUSE[self._config.executor]
        stopping = work.stopping
        while time.monotonic() < end and not work.dropping and work.stopping == stopping:
            time.sleep(BEAT)
            work.tick()

    def _check(self, work: CellQueue, folder: Path) -> None:
        """Read the progress of the jobs, and find those that have ended."""
        self._look(work)
        over = [job for job in self._jobs if job.over]  # checked first, so that their results are in the folder
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
        """Query the states of the jobs, and report why waiting jobs wait."""
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
        refused = [f"not queued: {self._why}"] if self._refused is not None else []
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
    """Return the last line of the traceback quoted by submitit, or else of the error."""
    quoted = str(error).partition("You can check full logs")[0]
    return last_line("\n".join(line for line in quoted.splitlines() if line.strip("- "))) or type(error).__name__


def _last_line(file: Path) -> str:
    """Return the last line of a log; empty if there is none."""
    try:
        return last_line(RunFiles(file.parent).verify(file.name).decode("utf-8", "replace"))
    except DamagedFile:
        return ""


def run_shard(job: SweepJob, shard: Shard, number: int, episodes: int) -> list[str]:
    """Entry point of a job: run a shard until the sweep folder says stop; return reasons why no more cells can run.

    A job that was queued while a later command took over the sweep runs nothing.
    """
    return asyncio.run(_run_shard(job, shard, number, episodes))


async def _run_shard(job: SweepJob, shard: Shard, number: int, episodes: int) -> list[str]:
    reports: list[WorkerReport] = []
    try:
        worker = Worker(job, number, reports.append)
    except UserError as error:
        return [str(error)]
    stop = job.folder / STOP
    waiting, computing = asyncio.Semaphore(episodes), asyncio.Semaphore(1)

    async def run(cell: PlannedCell) -> None:
        async with waiting if cell.uses_models else computing:
            # Checked under the worker's lock, so no command can take over the sweep between the check and the cell.
            if not stop.exists() and claim_of(job.folder) == job.claim:
                await worker.run(cell)

    try:
        await together(partial(run, cell) for cell in shard.cells)
    finally:
        await worker.close()
    return [report.message for report in reports if isinstance(report, Stuck)]


component = Component(SlurmConfig, Slurm)
