"""Jobs of Slurm, by submitit: a job runs a shard of cells, and what it has done is read from the folder of the sweep.

Jobs outlive the command that queued them. A command that finds jobs of an earlier one still at work says so and waits
for nothing; when they are done, it goes on with what they left.
"""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from maeil.component import Component, ComponentConfig
from maeil.together import together
from maeil.user_errors import UserError
from quorum.experiments.common.packages import load
from quorum.experiments.configuration.cell import PlannedCell
from quorum.experiments.episode.episode_folder import PARTIAL
from quorum.experiments.results.finished import read_finished
from quorum.experiments.sweep.engines.locks import wait_for_workers
from quorum.experiments.sweep.engines.protocol import CellQueue, Finished, Shard, Started, Stuck, SweepJob, WorkerReport
from quorum.experiments.sweep.engines.worker import Worker

_LOGS = ".slurm"
_STOP = ".stop"
_PAUSE = {"slurm": 5.0, "local": 0.2}
"""Seconds between two looks at the folder."""


class SlurmConfig(ComponentConfig):
    """Values of `slurm`."""

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
    partition: str | None
    """Where the jobs are queued; null: the cluster's usual one."""
    cpus: Annotated[int, Field(ge=1)]
    """Processors of a job."""
    memory_gb: Annotated[float, Field(gt=0)]
    """Memory of a job."""


@dataclass(slots=True)
class _Submitted:
    handle: Any
    cells: dict[str, PlannedCell]


class Slurm:
    """Runs cells in jobs of Slurm.

    Raises:
        UserError: submitit is not installed.
    """

    def __init__(self, config: SlurmConfig, _context: None = None) -> None:
        self._submitit = load("submitit", "slurm", "engine=slurm")
        self._config = config
        self._jobs: list[_Submitted] = []

    def width(self, *, uses_models: bool) -> int:
        """Return how many cells are under way at once, once all jobs run."""
        return self._config.jobs * (min(self._config.episodes, self._config.cells) if uses_models else 1)

    def run(self, work: CellQueue, job: SweepJob) -> None:
        """Run cells until none is left; see `Engine.run`."""
        executor = self._executor(job.folder)
        stop = job.folder / _STOP
        stop.unlink(missing_ok=True)
        number = max(1, min(self._config.jobs, -(-work.waiting // self._config.cells)))
        try:
            while not work.dropping:
                self._hand_out(work, executor, job, number)
                if work.stopping:
                    stop.touch()
                if not self._jobs:
                    break
                time.sleep(_PAUSE[self._config.executor])
                self._check_folders(work, job.folder)
                work.tick()
        finally:
            self._end(work, job.folder)
            stop.unlink(missing_ok=True)

    def _executor(self, folder: Path) -> Any:
        try:
            executor = self._submitit.AutoExecutor(folder / _LOGS, cluster=self._config.executor)
        except RuntimeError as error:
            raise UserError(f"engine.executor: {error}", "engine.executor=local tries it without a cluster.") from error
        executor.update_parameters(
            name=f"quorum-{folder.name}",
            timeout_min=self._config.minutes,
            mem_gb=self._config.memory_gb,
            cpus_per_task=self._config.cpus,
            **({"slurm_partition": self._config.partition} if self._config.partition else {}),
        )
        return executor

    def _hand_out(self, work: CellQueue, executor: Any, job: SweepJob, number: int) -> None:
        while len(self._jobs) < self._config.jobs:
            shard = work.take(self._config.cells, idle=True)
            if shard is None:
                return
            handle = executor.submit(run_shard, job, shard, number, self._config.episodes)
            self._jobs.append(_Submitted(handle, {cell.name: cell for cell in shard.cells}))

    def _check_folders(self, work: CellQueue, folder: Path) -> None:
        """See what the jobs have done, and which of them are no more."""
        over = [submitted for submitted in self._jobs if submitted.handle.done()]
        names = [entry.name for entry in os.scandir(folder)]
        begun = {name.partition(PARTIAL)[0] for name in names if PARTIAL in name}
        for submitted in self._jobs:
            for name in [name for name in submitted.cells if name in begun]:
                work.report(Started(name))
            for name in submitted.cells.keys() & set(names):
                if (done := read_finished(folder / name)) is not None:
                    del submitted.cells[name]
                    work.report(Finished(done))
        for submitted in over:
            self._jobs.remove(submitted)
            reason = self._reason(submitted, work)
            work.lost(tuple(submitted.cells.values()), reason)

    def _reason(self, submitted: _Submitted, work: CellQueue) -> str:
        """Say why a job did not do all of its cells; report it when no other job could."""
        handle = submitted.handle
        logs = f"see {handle.paths.stderr}"
        if not handle.paths.result_pickle.exists():  # it was killed: submitit would wait for this file
            return f"its job {handle.job_id} ended: {handle.state}; {logs}"
        try:
            for message in handle.result():
                work.report(Stuck(message))
        except Exception as error:  # what the job raised
            return f"its job {handle.job_id} ended: {str(error).splitlines()[0]}; {logs}"
        return f"its job {handle.job_id} ended without it; {logs}"

    def _end(self, work: CellQueue, folder: Path) -> None:
        for submitted in self._jobs:
            submitted.handle.cancel(check=False)
        if self._jobs:
            wait_for_workers(folder)
        for submitted in self._jobs:
            work.lost(tuple(submitted.cells.values()), "dropped")
        self._jobs.clear()


def run_shard(job: SweepJob, shard: Shard, number: int, episodes: int) -> list[str]:
    """Be a job: run a shard, until the folder of the sweep says stop; return why no more cells can be run, if so."""
    return asyncio.run(_run_shard(job, shard, number, episodes))


async def _run_shard(job: SweepJob, shard: Shard, number: int, episodes: int) -> list[str]:
    reports: list[WorkerReport] = []
    try:
        worker = Worker(job, number, reports.append)
    except UserError as error:
        return [str(error)]
    stop = job.folder / _STOP
    waiting, computing = asyncio.Semaphore(episodes), asyncio.Semaphore(1)

    async def run(cell: PlannedCell) -> None:
        async with waiting if cell.uses_models else computing:
            if not stop.exists():
                await worker.run(cell)

    try:
        await together(partial(run, cell) for cell in shard.cells)
    finally:
        await worker.close()
    return [report.message for report in reports if isinstance(report, Stuck)]


component = Component(SlurmConfig, Slurm)
