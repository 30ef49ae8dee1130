"""The code that runs inside every worker, whatever its engine: many concurrent episodes on one event loop."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import platform
from collections.abc import Awaitable, Callable, Iterable
from functools import partial

from maeil.together import together
from quorum.configuration.cell import Cell
from quorum.configuration.inputs import InputsChanged
from quorum.configuration.plugins import load_plugins
from quorum.display.logs import show_logs
from quorum.episode.episode_folder import EpisodeFolder, Unwritable
from quorum.episode.model_pool import ModelPool
from quorum.episode.planned_cell import PlannedCell, Shared
from quorum.episode.runner import EpisodeCut, leave_error, run_in_pool
from quorum.episode.start import Start
from quorum.episode.watchdog import Watchdog, exit_now
from quorum.installation.provenance import CodeVersion, provenance
from quorum.process.event_loop import to_its_end
from quorum.runs.finished import FinishedCell, attempts_at, finished_cell, read_finished, resumable_attempts
from quorum.storage.memory_file import MEMORY, Memory, read_memory
from quorum.sweeps.engines.locks import sign_in
from quorum.sweeps.engines.protocol import CallStatus, Cut, Finished, Started, Stuck, SweepJob, WorkerReport
from quorum.sweeps.ledger import CellAllowance, Ledger
from quorum_base.user_errors import UserError

PULSE = 1.0
"""Seconds between two reports of model calls."""
_OBJECTS_BETWEEN_COLLECTIONS = 50_000


class Worker:
    """Runs cells of a sweep in this process, on the running event loop.

    Args:
        job: job of the sweep.
        processes: number of workers that call the same models; they share rate and concurrency limits equally.
        report: callback for reports.

    Raises:
        UserError: this process cannot run the cells: a plugin is missing, or the code differs from the sweep's.
    """

    def __init__(self, job: SweepJob, processes: int, report: Callable[[WorkerReport], None]) -> None:
        show_logs()
        os.chdir(job.directory)
        load_plugins(job.plugins)
        code = CodeVersion.of(provenance())
        if code != job.code:
            raise UserError(
                f"the worker on {platform.node()} runs a different Quorum than the sweep: {code} instead of {job.code}",
                "Install the same version on every machine.",
            )
        self._job = job
        self._report = report
        self._delivery = None if job.courier is None else job.courier.open(job.folder)
        self._pool = ModelPool(processes, delivery=self._delivery, patient=True)
        self._watchdog = Watchdog(lambda error: exit_now(error.exit_code))  # the engine replaces this worker
        self._shared: Shared = {}
        self._computing = asyncio.Semaphore(1)
        self._name = f"{platform.node()}:{os.getpid()}"
        self._reported: CallStatus | None = None
        self._stuck = False
        self._keeping: set[asyncio.Task[None]] = set()
        self._presence = sign_in(job.folder)
        self._ledger = Ledger(job.folder) if job.budgeted else None
        _collect_seldom()

    async def run(self, cell: PlannedCell) -> None:
        """Run a cell and report it; start no cells after an episode got stuck.

        Cells without language models keep the processor busy, so they run one at a time.
        """
        async with contextlib.nullcontext() if cell.uses_models else self._computing:
            if self._stuck:
                return
            self._report(Started(cell.name))
            task = asyncio.create_task(self._finish(cell))
            delivery = self._delivery if cell.uses_models else None
            try:
                with contextlib.nullcontext() if delivery is None else delivery.episode(cell.name):
                    done = await task
                self._report(Finished(done))
            except EpisodeCut as cut:
                self._report(Cut(cell.name, str(cut)))
            except UserError as error:
                self._stuck = True
                self._keeping.discard(task)
                await self._all_kept()
                self._report(Stuck(str(error)))
            finally:
                self._keeping.discard(task)

    async def _all_kept(self) -> None:
        """Wait until finished cells are on disk, so that no paid answers are lost."""
        if self._keeping:
            await asyncio.wait(self._keeping)
            await asyncio.sleep(0)  # lets their reports go out

    async def _finish(self, cell: PlannedCell) -> FinishedCell:
        folder = self._job.folder / cell.name
        done = await asyncio.to_thread(read_finished, folder)
        if done is not None:  # while this job waited in a queue, a later command may have run the cell
            return done

        async def played() -> None:
            task = asyncio.current_task()
            assert task is not None
            self._keeping.add(task)

        await self._play(cell, played)
        return await asyncio.to_thread(finished_cell, folder)

    async def _play(self, planned: PlannedCell, played: Callable[[], Awaitable[None]]) -> None:
        """Play a cell and leave its folder under its final name, whatever the outcome.

        Args:
            planned: the cell.
            played: called before its files are flushed to disk.

        Raises:
            EpisodeCut: the sweep's budget ended the episode.
            UserError: the disk cannot be written; this process lacks a component of the cell; a template or plugin has
                changed since the sweep was planned; the memory of the preceding cell is gone; or the run that the cell
                continues is gone or has changed.
        """
        try:
            cell, start = await self._started(planned)
        except UserError as error:
            raise UserError(
                f"a worker cannot run {planned.name}: {error.message}",
                "It has only the components of modules that --plugin names (in Python: plugins=...).",
            ) from error
        if planned.follows:
            start = Start(self._memory_of(planned.follows))
        attempts = resumable_attempts(attempts_at(self._job.folder, planned.name)) if planned.uses_models else ()
        folder = EpisodeFolder(self._job.folder, planned.name, once=True)
        allowance = CellAllowance(self._ledger, planned.name) if self._ledger and planned.uses_models else None
        run = partial(run_in_pool, cell, folder, self._pool, played=played, start=start)
        try:
            await run(attempts=attempts, allowance=allowance, watchdog=self._watchdog)
        except (Unwritable, InputsChanged, EpisodeCut):
            raise
        except Exception as error:
            if read_finished(self._job.folder / planned.name) is None:
                left = EpisodeFolder(self._job.folder, planned.name, once=True)
                await to_its_end(partial(leave_error, cell, left, error))

    async def _started(self, planned: PlannedCell) -> tuple[Cell, Start]:
        """Return a cell and the start of its episode."""
        if planned.origin is None:
            return planned.cell(), planned.start(self._shared)
        start = await asyncio.to_thread(planned.start, self._shared)  # reading its run must not block others
        return planned.cell(), start

    def _memory_of(self, name: str) -> Memory:
        """Return the memory that the cell `name` left for the one that follows it.

        Raises:
            UserError: it is damaged or missing.
        """
        memory = read_memory(self._job.folder / name)
        if memory is None:
            raise UserError(f"{self._job.folder / name}: there is no {MEMORY} for the episode that follows")
        return memory

    async def run_all(self, cells: Iterable[PlannedCell]) -> None:
        """Run cells concurrently."""
        await together(partial(self.run, cell) for cell in cells)

    def resize(self, processes: int) -> None:
        """Share the limits of models among this many workers from now on, including this one."""
        self._pool.resize(processes)

    def report_calls(self) -> None:
        """Report the state of model calls if it has changed."""
        now = self._pool.under_way
        under_way = now.calls
        longest = under_way[0].stopwatch.seconds if under_way else 0.0
        delivery = self._delivery.facts() if self._delivery is not None else ()
        calls = CallStatus(
            self._name, *self._pool.traffic, now.spent, now.simulated, len(under_way), longest, now.queued, delivery
        )
        if calls != self._reported:
            self._report(calls)
            self._reported = calls

    async def pulse(self) -> None:
        """Report the calls every second."""
        while True:
            await asyncio.sleep(PULSE)
            self.report_calls()

    async def close(self) -> None:
        """Close all connections."""
        self.report_calls()
        await self._pool.close()
        if self._ledger is not None:
            self._ledger.close()
        self._presence.close()


def _collect_seldom() -> None:
    """Run the cyclic garbage collector less often and never over imported modules: it took a sixth of the time."""
    gc.freeze()
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
