"""What runs inside a job of Slurm."""

from __future__ import annotations

import asyncio
from functools import partial

from maeil.together import together
from maeil.user_errors import UserError
from quorum.experiments.configuration.cell import PlannedCell
from quorum.experiments.sweep.engines.locks import claim_of
from quorum.experiments.sweep.engines.protocol import Shard, Stuck, SweepJob, WorkerReport
from quorum.experiments.sweep.engines.worker import Worker

STOP = ".stop"
"""File in the folder of a sweep: while it is there, no job begins a cell."""


def run_shard(job: SweepJob, shard: Shard, number: int, episodes: int) -> list[str]:
    """Be a job: run a shard, until the folder of the sweep says stop; return why no more cells can be run, if so.

    A job that waited in the queue while a later command took the sweep over runs nothing.
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
            # Asked with the worker's lock held: no command takes the sweep over between the question and the cell.
            if not stop.exists() and claim_of(job.folder) == job.claim:
                await worker.run(cell)

    try:
        await together(partial(run, cell) for cell in shard.cells)
    finally:
        await worker.close()
    return [report.message for report in reports if isinstance(report, Stuck)]
