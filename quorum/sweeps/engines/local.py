"""Worker processes on this machine, each with many episodes at once on an event loop."""

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
from quorum.sweeps.engines.courier import Courier
from quorum.sweeps.engines.protocol import CellQueue, Engine, Stuck, SweepJob, WorkerReport
from quorum.sweeps.engines.worker import Worker
from quorum.sweeps.engines.worker_pool import BEAT, Member, hand_out
from quorum_base.forks import close_in_children, hold_in_forks
from quorum_base.user_errors import UserError

ALL = 10**6
"""Episodes at once where all of them are played by one worker: for forecasts."""
_SAFE_PATH = "PYTHONSAFEPATH"
"""Environment variable of Python: do not look for modules in the current folder."""
_PLACE = ("__file__", "__spec__")
"""What says of a module where it can be imported from."""
_NAME = "quorum-worker"
_STARTING = hold_in_forks(threading.RLock())
"""Held by the thread that starts a worker, which changes the process for as long as that takes."""


class LocalConfig(ComponentConfig):
    """Values of `local`."""

    name: Literal["local"]
    workers: Annotated[int, Field(ge=1)] | None
    """Worker processes; null: one for each processor that this process may use."""
    episodes: Annotated[int, Field(ge=1)]
    """Episodes of teams with language models that a worker plays at once."""


class Local(Engine):
    """Runs cells in processes of this machine.

    Args:
        workers: processes, at most.
        episodes: of teams with language models that a worker plays at once; None: all.
        courier: delivers all requests; None where each is a call.
    """

    def __init__(self, workers: int, episodes: int | None, courier: Courier | None = None) -> None:
        self.courier = courier
        self._most = workers
        self._episodes = episodes
        self._processes: list[_Process] = []

    def width(self, *, uses_models: bool) -> int:
        """Return how many cells are under way at once."""
        return self._most * (self._episodes or ALL if uses_models else 1)

    def warm_up(self) -> None:
        """Start the server that forks workers: it imports what they need while the command prepares the sweep."""
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
            return "its code did not return (limits.step_seconds); the worker printed where it stood"
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
                self.hear(report)
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


def _context() -> Any:
    """Return how processes are started: by a server that forks them, where there is one and `spawn` is not asked for.

    `fork` is never used: a copy of a process with threads may hang.
    """
    known = multiprocessing.get_all_start_methods()
    if multiprocessing.get_start_method(allow_none=True) == "spawn" or "forkserver" not in known:
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([Worker.__module__])  # which workers need, imported once for all of them
    return context


def _starts(process: BaseProcess) -> bool:
    """Start a process; return False where the server that forks it has ended, as it does when it cannot begin."""
    try:
        process.start()
    except (EOFError, ConnectionError):
        return False
    return True


@contextmanager
def _apart() -> Iterator[dict[str, str]]:
    """Start a process that Ctrl-C does not reach, and that runs neither the user's program nor an untrusted folder.

    Gives the environment variables as they are outside.

    The parent decides what becomes of its episodes. What it imports is named by `plugins`: `multiprocessing` would have
    it import the main module of its parent, so that a script that calls `quorum.sweep` outside of
    `if __name__ == "__main__"` would begin the same sweep in each worker. And `multiprocessing` starts Python with
    `-c`, which looks into the current folder first, also for the modules of `multiprocessing`. A daemon may start
    workers, too: they end when it does.
    """
    main, variables = sys.modules["__main__"], dict(os.environ)
    nameless = ModuleType("__main__")
    nameless.__dict__.update({name: value for name, value in vars(main).items() if name not in _PLACE})
    own = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    daemon = own.pop("daemon", None)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which the new process inherits
    sys.modules["__main__"] = nameless  # where other threads find what they look for
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
    """Leave workers, and the server that forks them, to the process that this one was forked from."""
    children = multiprocessing.process._children  # type: ignore[attr-defined]
    children.difference_update([child for child in children if child.name == _NAME])
    server = multiprocessing.forkserver._forkserver
    if server._forkserver_alive_fd is not None:  # type: ignore[attr-defined]
        os.close(server._forkserver_alive_fd)  # type: ignore[attr-defined] # else the server outlives that process
    server.__init__()  # type: ignore[misc] # multiprocessing offers no other way


os.register_at_fork(after_in_child=_forget_workers)


def _main(job: SweepJob, number: int, connection: Connection, variables: dict[str, str]) -> None:
    """Be a worker process, with the environment variables of its parent as they were when it was started."""
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
    """Take shards in; end the process at once when the parent is gone, in the middle of whatever it does."""
    while True:
        try:
            cells = connection.recv()
        except (EOFError, OSError):
            os._exit(0)
        loop.call_soon_threadsafe(asked.put_nowait, cells)


def _build(config: LocalConfig, _context: None = None) -> Local:
    return Local(config.workers or len(os.sched_getaffinity(0)), config.episodes)


component = Component(LocalConfig, _build)
