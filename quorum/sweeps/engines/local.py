"""Local engine: worker processes on this machine, each of which plays many episodes on an event loop."""

from __future__ import annotations

import asyncio
import multiprocessing.forkserver
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
from typing import Annotated, Any, Literal

from pydantic import Field

from maeil.component import Component, ComponentConfig
from quorum.episode.planned_cell import PlannedCell
from quorum.sweeps.engines.protocol import CellQueue, Courier, Engine, Stuck, SweepJob, WorkerReport
from quorum.sweeps.engines.worker import Worker
from quorum.sweeps.engines.worker_pool import BEAT, Member, hand_out
from quorum_base.forks import close_in_children, hold_in_forks
from quorum_base.user_errors import UserError

ALL = 10**6
"""Concurrent episodes when one worker plays all of them; used in forecasts."""
_SAFE_PATH = "PYTHONSAFEPATH"
"""Python's environment variable that keeps the current folder off the module search path."""
_PLACE = ("__file__", "__spec__")
"""Attributes that tell where a module can be imported from."""
_NAME = "quorum-worker"
_STARTING = hold_in_forks(threading.RLock())
"""Held while a thread starts a worker, because starting one temporarily changes this process."""


class LocalConfig(ComponentConfig):
    """Values of `local`."""

    name: Literal["local"]
    workers: Annotated[int, Field(ge=1)] | None
    """Worker processes; null: one for each processor available to this process."""
    episodes: Annotated[int, Field(ge=1)]
    """Episodes of teams with language models that a worker plays concurrently."""


class Local(Engine):
    """Runs cells in processes on this machine.

    Args:
        workers: maximum number of processes.
        episodes: episodes of teams with language models that a worker plays concurrently; None: all.
        courier: delivers all requests; None: each request is a direct call.
    """

    def __init__(self, workers: int, episodes: int | None, courier: Courier | None = None) -> None:
        self.courier = courier
        self._most = workers
        self._episodes = episodes
        self._processes: list[_Process] = []

    def width(self, *, uses_models: bool) -> int:
        """Return how many cells run concurrently."""
        return self._most * (self._episodes or ALL if uses_models else 1)

    def warm_up(self) -> None:
        """Start the fork server, so that it imports the workers' modules while the command prepares the sweep."""
        if _context().get_start_method() == "forkserver":
            with _STARTING, _apart():
                multiprocessing.forkserver.ensure_running()

    def run(self, work: CellQueue, job: SweepJob) -> None:
        """Run cells until none is left; see `Engine.run`."""
        number = max(1, min(self._most, work.waiting))
        job = replace(job, courier=self.courier)

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
        """End all workers; kill those that are busy."""
        for process in self._processes:
            process.close()
        for process in self._processes:
            process.kill()
            if process.cells:
                work.lost(tuple(process.cells.values()), "dropped")
        self._processes.clear()


class _Process(Member):
    """A worker process as its parent sees it."""

    def __init__(self, job: SweepJob, number: int) -> None:
        super().__init__()
        context = _context()
        with _STARTING, _apart() as variables:
            self.connection, end = context.Pipe()
            given = (job, number, end, variables)
            self._process = context.Process(target=_main, args=given, name=_NAME, daemon=True)
            self._starts = _starts(self._process)
            end.close()
            close_in_children(self)
        self.ended = False

    @property
    def exit(self) -> str:
        """How it ended, for messages."""
        if not self._starts:
            return "the process that starts workers has ended"
        code = self._process.exitcode
        if code == -signal.SIGPROF:
            return "its code did not return (limits.step_seconds); the worker printed its stack"
        if code is not None and code < 0:
            return f"its worker process ended: signal {signal.Signals(-code).name}"
        return f"its worker process ended: exit code {code}"

    def send(self, cells: tuple[PlannedCell, ...]) -> None:
        """Write cells into the worker's pipe."""
        with suppress(OSError):  # the worker is dead; the engine will notice soon
            self.connection.send(cells)

    def reports(self) -> Iterator[WorkerReport]:
        """Yield all reports received so far."""
        try:
            while self.connection.poll():
                report = self.connection.recv()
                self.hear(report)
                yield report
        except (EOFError, OSError):
            self.ended = True

    def close(self) -> None:
        """Close the pipe, which makes the worker exit."""
        self.connection.close()

    def kill(self) -> None:
        """Wait for the process to exit, and kill it if necessary."""
        if not self._starts:
            return
        self._process.join(2.0 if self.ended or not self.cells else 0.0)
        if self._process.is_alive():
            self._process.kill()
        self._process.join()


def _context() -> Any:
    """Return the multiprocessing context: a fork server if available, unless `spawn` is configured.

    Never uses `fork`: a forked copy of a process with threads may hang.
    """
    known = multiprocessing.get_all_start_methods()
    if multiprocessing.get_start_method(allow_none=True) == "spawn" or "forkserver" not in known:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([Worker.__module__])  # modules that workers need, imported once for all of them
    return context


def _starts(process: BaseProcess) -> bool:
    """Start a process; return False if the fork server has exited, as it does when it cannot start."""
    try:
        process.start()
    except (EOFError, ConnectionError):
        return False
    return True


@contextmanager
def _apart() -> Iterator[dict[str, str]]:
    """Start a process that ignores Ctrl-C and runs neither the user's main module nor code of an untrusted folder.

    Yields the environment variables as they are outside this context.

    The parent decides what happens to the worker's episodes. `plugins` names the modules that a worker imports.
    `multiprocessing` would also import the parent's main module, so a script that calls `quorum.sweep` outside
    `if __name__ == "__main__"` would start the same sweep in each worker. `multiprocessing` also starts Python with
    `-c`, which searches the current folder first, even for the modules of `multiprocessing`. A daemon process may start
    workers, too, because they end when it does.
    """
    main, variables = sys.modules["__main__"], dict(os.environ)
    nameless = ModuleType("__main__")
    nameless.__dict__.update({name: value for name, value in vars(main).items() if name not in _PLACE})
    own = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    daemon = own.pop("daemon", None)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # the new process inherits this mask
    sys.modules["__main__"] = nameless  # where other threads find the main module's attributes
    os.environ[_SAFE_PATH] = "1"
    try:
        yield variables
    finally:
        sys.modules["__main__"] = main
        os.environ.pop(_SAFE_PATH)
        os.environ.update({name: value for name, value in variables.items() if name == _SAFE_PATH})
        if daemon is not None:
            own["daemon"] = daemon
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _forget_workers() -> None:
    """Forget inherited workers and the fork server after a fork: they belong to the parent process."""
    children = multiprocessing.process._children  # type: ignore[attr-defined]
    children.difference_update([child for child in children if child.name == _NAME])
    server = multiprocessing.forkserver._forkserver
    if server._forkserver_alive_fd is not None:  # type: ignore[attr-defined]
        os.close(server._forkserver_alive_fd)  # type: ignore[attr-defined] # otherwise the server outlives that process
    server.__init__()  # type: ignore[misc] # multiprocessing has no public way


os.register_at_fork(after_in_child=_forget_workers)


def _main(job: SweepJob, number: int, connection: Connection, variables: dict[str, str]) -> None:
    """Run a worker process, with the environment variables that its parent had when it started the worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
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
    """Receive shards; exit immediately if the parent is gone, whatever the worker is doing."""
    while True:
        try:
            cells = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        loop.call_soon_threadsafe(asked.put_nowait, cells)


def _build(config: LocalConfig, _context: None = None) -> Local:
    return Local(config.workers or len(os.sched_getaffinity(0)), config.episodes)


component = Component(LocalConfig, _build)
