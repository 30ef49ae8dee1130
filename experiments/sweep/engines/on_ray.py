"""Actors of Ray, on this machine or on a cluster whose nodes share the folder for results."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Annotated, Any, Literal

from pydantic import Field

from maeil.component import Component, ComponentConfig
from maeil.user_errors import UserError
from quorum.experiments.common.packages import load
from quorum.experiments.configuration.cell import PlannedCell
from quorum.experiments.sweep.engines.locks import wait_for_workers
from quorum.experiments.sweep.engines.protocol import (
    CellQueue,
    Finished,
    Started,
    Stuck,
    SweepJob,
    Traffic,
    WorkerReport,
)
from quorum.experiments.sweep.engines.worker_pool import BEAT, Member, hand_out


class RayConfig(ComponentConfig):
    """Values of `ray`."""

    name: Literal["ray"]
    address: str | None
    """Of a running cluster, or `auto`; null: one is started on this machine."""
    actors: Annotated[int, Field(ge=1)] | None
    """Workers; null: as many as the cluster has room for."""
    cpus: Annotated[float, Field(gt=0)]
    """Processors that each worker takes."""
    episodes: Annotated[int, Field(ge=1)]
    """Episodes of teams with language models that a worker plays at once."""
    object_store: Annotated[int, Field(ge=78643200)]
    """Bytes of the object store, where it is started here: Ray's least is 75 MiB."""


class RayEngine:
    """Runs cells in actors of Ray.

    Raises:
        UserError: Ray is not installed.
    """

    def __init__(self, config: RayConfig, _context: None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        self._ray = load("ray", "ray", "engine=ray")
        self._config = config
        self._actors: list[_Actor] = []

    def width(self, *, uses_models: bool) -> int:
        """Return how many cells are under way at once."""
        actors = self._config.actors or os.cpu_count() or 1
        return actors * (self._config.episodes if uses_models else 1)

    def run(self, work: CellQueue, job: SweepJob) -> None:
        """Run cells until none is left; see `Engine.run`."""
        with redirect_stdout(sys.stderr):  # where Ray prints what befalls its workers
            self._run(work, job)

    def _run(self, work: CellQueue, job: SweepJob) -> None:
        self._connect()
        try:
            number = self._number(work.waiting)
            while not work.dropping:
                hand_out(
                    work,
                    self._actors,
                    number,
                    self._config.episodes,
                    lambda: _Actor(self._new(job, number), work.report),
                )
                if not any(actor.cells for actor in self._actors):
                    break
                self._listen(work)
                work.tick()
        finally:
            self._end(work, job)
            self._ray.shutdown()

    def _end(self, work: CellQueue, job: SweepJob) -> None:
        """End all actors, those that are at work by force."""
        for actor in self._actors:
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
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UserError(f"engine.address: {self._config.address}: {str(error).splitlines()[0]}") from error

    def _number(self, waiting: int) -> int:
        room = int(self._ray.cluster_resources().get("CPU", 1) / self._config.cpus)
        return max(1, min(self._config.actors or room, waiting))

    def _new(self, job: SweepJob, number: int) -> Any:
        remote = self._ray.remote(num_cpus=self._config.cpus, max_concurrency=self._config.episodes + 1)
        return remote(_RayWorker).remote(job, number)

    def _listen(self, work: CellQueue) -> None:
        calls = [call for actor in self._actors for call in actor.calls]
        ready, _ = self._ray.wait(calls, num_returns=len(calls), timeout=BEAT)
        for actor in list(self._actors):
            for call in [call for call in ready if call in actor.calls]:
                try:
                    reports = self._ray.get(call)
                except self._ray.exceptions.RayActorError as error:
                    self._actors.remove(actor)
                    work.lost(tuple(actor.cells.values()), f"its Ray actor ended: {str(error).splitlines()[0]}")
                    break
                actor.calls.remove(call)
                for report in reports:
                    if isinstance(report, Finished):
                        actor.cells.pop(report.done.name, None)
                    work.report(report)


class _Actor(Member):
    """An actor, seen by the driver. What it reports comes when a call returns, so a cell counts as begun when sent."""

    def __init__(self, handle: Any, report: Callable[[WorkerReport], None]) -> None:
        super().__init__()
        self.handle = handle
        self.calls: set[Any] = set()
        """References to what its calls will return."""
        self._report = report

    def send(self, cells: tuple[PlannedCell, ...]) -> None:
        """Call it."""
        self.calls.add(self.handle.run.remote(cells))
        for cell in cells:
            self._report(Started(cell.name))


class _RayWorker:
    """The actor: a worker whose reports are what its calls return."""

    def __init__(self, job: SweepJob, number: int) -> None:
        self._job = job
        self._number = number
        self._worker: Any = None
        self._reports: list[WorkerReport] = []

    def _keep(self, report: WorkerReport) -> None:
        self._reports.append(report)

    async def run(self, cells: tuple[PlannedCell, ...]) -> list[WorkerReport]:
        """Run a shard; return what there is to report."""
        from quorum.experiments.sweep.engines.worker import Worker  # noqa: PLC0415 - imported where the cells are run

        if self._worker is None:
            try:
                self._worker = Worker(self._job, self._number, self._keep)
            except UserError as error:
                return [Stuck(str(error))]
        await self._worker.run_all(cells)
        self._worker.report_traffic()
        names = {cell.name for cell in cells}
        mine = [r for r in self._reports if isinstance(r, Traffic | Stuck) or _finished(r) in names]
        self._reports = [r for r in self._reports if isinstance(r, Finished) and _finished(r) not in names]
        return mine


def _finished(report: WorkerReport) -> str | None:
    return report.done.name if isinstance(report, Finished) else None


component = Component(RayConfig, RayEngine)
