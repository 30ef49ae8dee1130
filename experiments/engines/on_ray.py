"""Actors of Ray, on this machine or on a cluster whose nodes share the folder for results."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from experiments.engines.extras import needed
from experiments.engines.protocol import Finished, Job, Report, Shard, Started, Stuck, Traffic, Work
from experiments.errors import UserError
from experiments.sweep.planned import PlannedCell
from maeil.component import Component, ComponentConfig

_BEAT = 0.2
"""Seconds after which the engine looks up even when nothing has ended."""
_AHEAD = 2
"""Cells that only compute which an actor has: the one that it runs, and the next, so that it never waits."""


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

    def __init__(self, config: RayConfig) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        self._ray = needed("ray", "ray")
        self._config = config
        self._actors: list[_Actor] = []

    def width(self, *, uses_models: bool) -> int:
        """Give how many cells are under way at once."""
        actors = self._config.actors or os.cpu_count() or 1
        return actors * (self._config.episodes if uses_models else 1)

    def run(self, work: Work, job: Job) -> None:
        """Run cells until none is left; see `Engine.run`."""
        self._connect()
        try:
            number = self._number(work.waiting)
            while not work.dropping:
                self._hand_out(work, job, number)
                if not any(actor.under_way for actor in self._actors):
                    break
                self._listen(work)
                work.tick()
        finally:
            for actor in self._actors:
                self._ray.kill(actor.handle)
            for actor in self._actors:
                work.lost(tuple(cell for shard in actor.under_way.values() for cell in shard.cells), "dropped")
            self._actors.clear()
            self._ray.shutdown()

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

    def _hand_out(self, work: Work, job: Job, number: int) -> None:
        while not work.stopping and work.waiting:
            actor = min(self._actors, key=_Actor.load, default=None)
            if (actor is None or actor.under_way) and len(self._actors) < number:
                actor = _Actor(self._new(job, number))
                self._actors.append(actor)
            assert actor is not None
            if not actor.has_room(self._config.episodes):
                return
            shard = work.take(1, idle=not actor.under_way)
            if shard is None:
                return
            actor.give(shard)
            for cell in shard.cells:
                work.tell(Started(cell.name))

    def _new(self, job: Job, number: int) -> Any:
        remote = self._ray.remote(num_cpus=self._config.cpus, max_concurrency=self._config.episodes + _AHEAD)
        return remote(_RayWorker).remote(job, number)

    def _listen(self, work: Work) -> None:
        calls = [call for actor in self._actors for call in actor.under_way]
        ready, _ = self._ray.wait(calls, num_returns=len(calls), timeout=_BEAT)
        for actor in [actor for actor in self._actors if any(call in actor.under_way for call in ready)]:
            for call in [call for call in ready if call in actor.under_way]:
                try:
                    reports = self._ray.get(call)
                except self._ray.exceptions.RayActorError as error:
                    self._bury(actor, work, error)
                    break
                del actor.under_way[call]
                for report in reports:
                    work.tell(report)

    def _bury(self, actor: _Actor, work: Work, error: Exception) -> None:
        """Take the cells of a dead actor back, after those that it told of in time."""
        self._actors.remove(actor)
        cells = tuple(cell for shard in actor.under_way.values() for cell in shard.cells)
        work.lost(cells, f"its Ray actor ended: {str(error).splitlines()[0]}")


@dataclass(slots=True)
class _Actor:
    handle: Any
    under_way: dict[Any, Shard] = field(default_factory=dict)
    alone: bool = False

    def load(self) -> int:
        return len(self.under_way)

    def has_room(self, episodes: int) -> bool:
        if self.alone and self.under_way:
            return False
        waits = all(cell.uses_models for shard in self.under_way.values() for cell in shard.cells)
        return len(self.under_way) < (episodes if waits else _AHEAD)

    def give(self, shard: Shard) -> None:
        self.under_way[self.handle.run.remote(shard.cells)] = shard
        self.alone = shard.alone


class _RayWorker:
    """The actor: a worker whose reports are what its calls return."""

    def __init__(self, job: Job, number: int) -> None:
        self._job = job
        self._number = number
        self._worker: Any = None
        self._reports: list[Report] = []

    def _keep(self, report: Report) -> None:
        self._reports.append(report)

    async def run(self, cells: tuple[PlannedCell, ...]) -> list[Report]:
        """Run a shard; give what there is to tell of it."""
        from experiments.engines.worker import Worker  # noqa: PLC0415 - imported where the cells are run

        if self._worker is None:
            try:
                self._worker = Worker(self._job, self._number, self._keep)
            except UserError as error:
                return [Stuck(str(error))]
        await self._worker.run_all(cells)
        self._worker.tell_traffic()
        names = {cell.name for cell in cells}
        mine = [r for r in self._reports if isinstance(r, Traffic | Stuck) or _finished(r) in names]
        self._reports = [r for r in self._reports if isinstance(r, Finished) and _finished(r) not in names]
        return mine


def _finished(report: Report) -> str | None:
    return report.done.name if isinstance(report, Finished) else None


component = Component(RayConfig, RayEngine)
