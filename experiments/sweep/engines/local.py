"""Worker processes on this machine, each with many episodes at once on an event loop."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Annotated, Literal

from pydantic import Field

from maeil.component import Component, ComponentConfig
from maeil.user_errors import UserError
from quorum.agents.llm.batches.journal import BatchRules
from quorum.experiments.configuration.cell import PlannedCell
from quorum.experiments.sweep.engines.protocol import CellQueue, Finished, Stuck, SweepJob, WorkerReport
from quorum.experiments.sweep.engines.worker import Worker
from quorum.experiments.sweep.engines.worker_pool import BEAT, Member, hand_out

ALL = 10**6
"""Episodes at once where all of them are played by one worker: for forecasts."""
_SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable of Python: do not look for modules in the current folder."""


class LocalConfig(ComponentConfig):
    """Values of `local`."""

    name: Literal["local"]
    workers: Annotated[int, Field(ge=1)] | None
    """Worker processes; null: one for each processor that this process may use."""
    episodes: Annotated[int, Field(ge=1)]
    """Episodes of teams with language models that a worker plays at once."""
    batch: bool
    """Whether one worker plays all episodes at once, and what they ask at the same time goes out as one batch."""
    batch_size: Annotated[int, Field(ge=1)] | None
    """Requests of a batch, at most; null: as many as the provider takes."""
    batch_bytes: Annotated[int, Field(ge=1)] | None
    """Bytes of a batch, at most; null: as many as the provider takes."""
    batch_wait: Annotated[float, Field(gt=0)]
    """Seconds that a request waits for those of other episodes, at most."""
    batch_poll: Annotated[float, Field(gt=0)]
    """Seconds between two looks at a batch."""


class Local:
    """Runs cells in processes of this machine."""

    def __init__(self, config: LocalConfig, _context: None = None) -> None:
        self.batching = (
            BatchRules(config.batch_size, config.batch_bytes, config.batch_wait, config.batch_poll)
            if config.batch
            else None
        )
        """The bounds of batches; None where every request goes out by itself."""
        self._most = 1 if config.batch else config.workers or len(os.sched_getaffinity(0))
        self._episodes = None if config.batch else config.episodes
        self._processes: list[_Process] = []

    def width(self, *, uses_models: bool) -> int:
        """Return how many cells are under way at once."""
        return self._most * (self._episodes or ALL if uses_models else 1)

    def run(self, work: CellQueue, job: SweepJob) -> None:
        """Run cells until none is left; see `Engine.run`."""
        number = max(1, min(self._most, work.waiting))
        job = replace(job, batching=self.batching)

        def another() -> _Process | None:
            return _Process(job, number) if len(self._processes) < number else None

        try:
            while not work.dropping:
                hand_out(work, self._processes, self._episodes, another)
                if not any(process.cells for process in self._processes):
                    break
                self._listen(work)
                work.tick()
        finally:
            self._end(work)

    def _listen(self, work: CellQueue) -> None:
        ready = wait([process.connection for process in self._processes], timeout=BEAT)
        for process in [process for process in self._processes if process.connection in ready]:
            for report in process.reports():
                work.report(report)
            if process.ended:
                self._processes.remove(process)
                process.kill()
                work.lost(tuple(process.cells.values()), process.exit)

    def _end(self, work: CellQueue) -> None:
        """End all workers, those that are at work by force."""
        for process in self._processes:
            process.close()
        for process in self._processes:
            process.kill()
            if process.cells:
                work.lost(tuple(process.cells.values()), "dropped")
        self._processes.clear()


class _Process(Member):
    """A worker process, seen from the parent."""

    def __init__(self, job: SweepJob, number: int) -> None:
        super().__init__()
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([Worker.__module__])  # which workers need, imported once for all of them
        self.connection, end = context.Pipe()
        with _apart():
            given = (job, number, end, dict(os.environ))
            self._process = context.Process(target=_main, args=given, name="quorum-worker", daemon=True)
            self._starts = _starts(self._process)
        end.close()
        self.ended = False

    @property
    def exit(self) -> str:
        """How it ended, for messages."""
        if not self._starts:
            return "the process that starts workers has ended"
        code = self._process.exitcode
        if code is not None and code < 0:
            return f"its worker process ended: signal {signal.Signals(-code).name}"
        return f"its worker process ended: exit code {code}"

    def send(self, cells: tuple[PlannedCell, ...]) -> None:
        """Write them into its pipe."""
        with suppress(OSError):  # it is dead: which is found out soon
            self.connection.send(cells)

    def reports(self) -> Iterator[WorkerReport]:
        """Return all that it has reported so far."""
        try:
            while self.connection.poll():
                report = self.connection.recv()
                if isinstance(report, Finished):
                    self.cells.pop(report.done.name, None)
                yield report
        except (EOFError, OSError):
            self.ended = True

    def close(self) -> None:
        """Let it end: a worker ends when nobody is at the other end of its pipe."""
        self.connection.close()

    def kill(self) -> None:
        """Wait for its end, which is brought about if need be."""
        if not self._starts:
            return
        self._process.join(2.0 if self.ended or not self.cells else 0.0)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()


def _starts(process: BaseProcess) -> bool:
    """Start a process; return False where the server that forks it has ended, as it does when it cannot begin."""
    try:
        process.start()
    except (EOFError, ConnectionError):
        return False
    return True


@contextmanager
def _apart() -> Iterator[None]:
    """Start a process that Ctrl-C does not reach, and that runs neither the user's program nor an untrusted folder.

    The parent decides what becomes of its episodes. What it imports is named by `plugins`: `multiprocessing` would have
    it import the main module of its parent, so that a script that calls `quorum.sweep` outside of
    `if __name__ == "__main__"` would begin the same sweep in each worker. And `multiprocessing` starts Python with
    `-c`, which looks into the current folder first, also for the modules of `multiprocessing`.
    """
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the server of forks inherits, and they from it
    main, path = sys.modules["__main__"], os.environ.get(_SAFE_PATH)
    sys.modules["__main__"] = ModuleType("__main__")
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        sys.modules["__main__"] = main
        if path is None:
            del os.environ[_SAFE_PATH]
        else:
            os.environ[_SAFE_PATH] = path


def _main(job: SweepJob, number: int, connection: Connection, variables: dict[str, str]) -> None:
    """Be a worker process, with the environment variables of its parent as they were when it was started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # also where a server of forks is older than the sweep
    os.environ.clear()
    os.environ.update(variables)
    asyncio.run(_serve(job, number, connection))


async def _serve(job: SweepJob, number: int, connection: Connection) -> None:
    def send(report: WorkerReport) -> None:
        try:
            connection.send(report)
        except OSError:
            os._exit(0)  # the parent is gone

    asked: asyncio.Queue[Sequence[PlannedCell]] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    threading.Thread(target=_receive, args=(connection, loop, asked), daemon=True).start()
    try:
        worker = Worker(job, number, send)
    except UserError as error:
        send(Stuck(str(error)))
        return
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(worker.pulse())
        while True:
            for cell in await asked.get():
                tasks.create_task(worker.run(cell))


def _receive(
    connection: Connection, loop: asyncio.AbstractEventLoop, asked: asyncio.Queue[Sequence[PlannedCell]]
) -> None:
    """Take shards in; end the process at once when the parent is gone, in the middle of whatever it does."""
    while True:
        try:
            cells = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        loop.call_soon_threadsafe(asked.put_nowait, cells)


component = Component(LocalConfig, Local)
