"""Ray actors, on this machine or on a cluster whose nodes share the results folder.

An actor may wait for a place as long as the cluster has none, so it gets cells only after it reports that it runs. The
number of actors follows the cluster's processors, because nodes come and go.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Annotated, Any, Literal

from pydantic import Field

from maeil.component import Component, ComponentConfig
from quorum.episode.planned_cell import PlannedCell
from quorum.installation.packages import load
from quorum.sweeps.engines.locks import wait_for_workers
from quorum.sweeps.engines.protocol import (
    MOST_FRUITLESS,
    CellQueue,
    Engine,
    Started,
    Stuck,
    SweepJob,
    Waits,
    WorkerReport,
)
from quorum.sweeps.engines.worker_pool import BEAT, Member, hand_out
from quorum_base.user_errors import UserError

_ESSENTIAL = ("gcs_server", "raylet")
"""Names, in Ray, of the processes without which a node runs nothing."""


class RayConfig(ComponentConfig):
    """Values of `ray`."""

    name: Literal["ray"]
    address: str | None
    """Address of a running cluster, or `auto`; null: start one on this machine."""
    actors: Annotated[int, Field(ge=1)] | None
    """Number of workers; null: as many as the cluster has room for."""
    cpus: Annotated[float, Field(gt=0)]
    """Processors per worker."""
    episodes: Annotated[int, Field(ge=1)]
    """Episodes of teams with language models that a worker plays at once."""
    object_store: Annotated[int, Field(ge=78643200)]
    """Size in bytes of an object store started here; Ray's minimum is 75 MiB."""


class RayEngine(Engine):
    """Runs cells in Ray actors.

    Raises:
        UserError: Ray is not installed.
    """

    def __init__(self, config: RayConfig, _context: None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        self._ray = load("ray", "ray", "engine=ray")
        self._config = config
        self._actors: list[_Actor] = []
        self._stillborn = 0
        self._gone = ""
        self._own_room = 0

    def width(self, *, uses_models: bool) -> int:
        """Return how many cells run at once."""
        actors = self._config.actors or os.cpu_count() or 1
        return actors * (self._config.episodes if uses_models else 1)

    def run(self, work: CellQueue, job: SweepJob) -> None:
        """Run cells until none is left; see `Engine.run`."""
        with redirect_stdout(sys.stderr):  # Ray prints events of its workers to stdout
            self._run(work, job)

    def _run(self, work: CellQueue, job: SweepJob) -> None:
        self._connect()
        try:
            while not work.dropping and not self._node_has_ended(work):
                self._keep_actors(work, job)
                self._hand_out(work)
                if not any(actor.cells for actor in self._actors) and (work.stopping or not work.waiting):
                    break
                self._listen(work)
                work.tick()
        finally:
            self._end(work, job)
            self._ray.shutdown()

    def _node_has_ended(self, work: CellQueue) -> bool:
        """Return whether the node started here has ended; Ray itself would wait for it."""
        node = self._ray._private.worker._global_node if self._config.address is None else None
        dead = {name for name, _ in node.dead_processes()} if node is not None else set()
        self._gone = next((name for name in _ESSENTIAL if name in dead), "")
        if self._gone:
            work.report(Stuck(f"engine=ray: the node that this command started has ended: its {self._gone} is gone"))
        return bool(self._gone)

    def _keep_actors(self, work: CellQueue, job: SweepJob) -> None:
        """Match the number of actors to the room and the work, and report if none has a place."""
        room = self._room()
        most = self._config.actors or room
        idle = [actor for actor in self._actors if not actor.cells]
        idle.sort(key=lambda actor: actor.runs)
        before = len(self._actors)
        for actor in idle[: max(0, before - most)]:
            self._actors.remove(actor)
            self._ray.kill(actor.handle)
        wanted = min(most, work.waiting + sum(1 for actor in self._actors if actor.cells))
        number = max(len(self._actors), wanted)
        if number != before:
            for actor in self._actors:
                actor.handle.resize.remote(number)
        for _ in range(number - len(self._actors)):
            self._actors.append(_Actor(self._new(job, number), work.report))
        placed = any(actor.runs for actor in self._actors)
        work.report(Waits("" if placed else f"no worker can start yet: there is room for {room}"))

    def _hand_out(self, work: CellQueue) -> None:
        """Give cells to running actors, and reserve a share for those that do not run yet."""
        running = [actor for actor in self._actors if actor.runs]
        left = work.waiting + sum(len(actor.cells) for actor in self._actors)
        share = -(-left // max(1, len(self._actors)))
        hand_out(work, running, min(self._config.episodes, max(1, share)), lambda: None)

    def _end(self, work: CellQueue, job: SweepJob) -> None:
        """End all actors, killing those at work."""
        if self._gone:  # kill the remaining processes of the node, including its workers
            self._ray._private.worker._global_node.kill_all_processes(check_alive=False)
        for actor in self._actors if not self._gone else ():
            self._ray.kill(actor.handle)
        if self._actors:
            wait_for_workers(job.folder)
        for actor in self._actors:
            if actor.cells:
                work.lost(tuple(actor.cells.values()), "dropped")
        self._actors.clear()

    def _connect(self) -> None:
        started_here: dict[str, Any] = {
            "include_dashboard": False,
            "object_store_memory": self._config.object_store,
        }
        try:
            self._ray.init(
                address=self._config.address or "local",
                log_to_driver=False,
                logging_level="error",
                **(started_here if self._config.address is None else {}),
            )
        except Exception as error:  # Ray raises a plain exception if a node does not start in time
            first, _, _ = str(error).partition("\n")
            where = f"engine.address: {self._config.address}" if self._config.address else "engine=ray: no node starts"
            raise UserError(f"{where}: {first}") from error

    def _room(self) -> int:
        """Return how many workers fit on the processors of the live nodes, whatever else uses them.

        A node started here does not change, so it is queried only once: if it is killed during a query, Ray waits for a
        minute and then ends this process.
        """
        if self._own_room:
            return self._own_room
        nodes = (node["Resources"].get("CPU", 0.0) for node in self._ray.nodes() if node["Alive"])
        room = sum(int(cpus / self._config.cpus) for cpus in nodes)
        self._own_room = room if self._config.address is None else 0
        return room

    def _new(self, job: SweepJob, number: int) -> Any:
        remote = self._ray.remote(num_cpus=self._config.cpus, max_concurrency=self._config.episodes + 1)
        return remote(_RayWorker).remote(job, number)

    def _listen(self, work: CellQueue) -> None:
        calls = [call for actor in self._actors for call in actor.calls]
        if not calls:
            time.sleep(BEAT)
            return
        ready, _ = self._ray.wait(calls, num_returns=len(calls), timeout=BEAT)
        for actor in list(self._actors):
            for call in [call for call in ready if call in actor.calls]:
                try:
                    reports = self._ray.get(call)
                except self._ray.exceptions.RayActorError as error:
                    self._actors.remove(actor)
                    self._lost(actor, work, str(error))
                    break
                actor.calls.remove(call)
                actor.runs = True
                for report in reports:
                    actor.hear(report)
                    work.report(report)

    def _lost(self, actor: _Actor, work: CellQueue, error: str) -> None:
        lines = [line.strip() for line in error.splitlines() if line.strip()]
        self._stillborn = 0 if actor.runs else self._stillborn + 1
        if self._stillborn >= MOST_FRUITLESS:
            work.report(Stuck(f"{MOST_FRUITLESS} actors in a row ended before they began: {lines[-1]}"))
        work.lost(tuple(actor.cells.values()), f"its Ray actor ended: {lines[0]}")


class _Actor(Member):
    """The driver's view of an actor. Its reports arrive when a call returns, so a cell counts as started when sent."""

    def __init__(self, handle: Any, report: Callable[[WorkerReport], None]) -> None:
        super().__init__()
        self.handle = handle
        self.calls: set[Any] = {handle.run.remote(())}
        """References to the results of its calls. The first call returns once the actor has a place."""
        self.runs = False
        """Whether it has a place."""
        self._report = report

    def send(self, cells: tuple[PlannedCell, ...]) -> None:
        """Call it with cells."""
        self.calls.add(self.handle.run.remote(cells))
        for cell in cells:
            self._report(Started(cell.name))


class _RayWorker:
    """The actor: a worker whose calls return its reports."""

    def __init__(self, job: SweepJob, number: int) -> None:
        self._job = job
        self._number = number
        self._worker: Any = None
        self._reports: list[WorkerReport] = []

    def _keep(self, report: WorkerReport) -> None:
        if not isinstance(report, Started):  # the driver already reported the start when it sent the cell
            self._reports.append(report)

    async def resize(self, number: int) -> None:
        """Share the models' limits with a changed number of workers."""
        self._number = number
        if self._worker is not None:
            self._worker.resize(number)

    async def run(self, cells: tuple[PlannedCell, ...]) -> list[WorkerReport]:
        """Run a shard and return its reports."""
        from quorum.sweeps.engines.worker import Worker  # noqa: PLC0415 - imported where the cells are run

        if self._worker is None:
            try:
                self._worker = Worker(self._job, self._number, self._keep)
            except UserError as error:
                return [Stuck(str(error))]
        await self._worker.run_all(cells)
        self._worker.report_calls()
        reports, self._reports = self._reports, []  # includes reports of other calls under way
        return reports


component = Component(RayConfig, RayEngine)
