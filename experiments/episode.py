"""Runs one cell: builds its parts by name, plays the episode, and leaves a folder of results."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from experiments.cell import Cell
from experiments.errors import UserError
from experiments.folder import EpisodeFolder
from experiments.provenance import provenance
from experiments.registry import Registry, minds, topologies, worlds
from maeil import LoopSettings, Mind, Seeds, TeamContext, Topology, World, run_episode
from maeil.metrics import Value, compute_metrics
from maeil.trace import Listener, Recorder, read_trace

Watch = Callable[[World], Listener]
"""Given the world of an episode, gives a listener that is told every event as it happens."""


@dataclass(frozen=True, slots=True)
class Result:
    """What an episode left.

    Attributes:
        cell: what was run.
        folder: where its files are.
        outcome: `completed`, `limit`, `budget` or `error`.
        seconds: wall time of the loop.
        metrics: computed from the trace.
        board: the world at the end, drawn as text.
    """

    cell: Cell
    folder: Path
    outcome: str
    seconds: float
    metrics: Mapping[str, Value]
    board: str


class Interrupted(KeyboardInterrupt):
    """The user stopped an episode; `folder` holds what there was of it."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder


@dataclass(frozen=True, slots=True)
class Parts:
    """The components of a cell, built."""

    world: World
    minds: Sequence[Mind]
    coordinators: Sequence[tuple[str, Mind]]
    topology: Topology


def build(cell: Cell) -> Parts:
    """Build the components of a cell, and draw its board once to see that there is one.

    Raises:
        UserError: the values of a group do not go together.
    """
    c = cell.configuration
    world = _built(worlds, c.env.name, c.env)
    _told("env", world.reset, cell.seed)
    n = len(world.agents)
    topology = _built(topologies, c.topology.name, c.topology, n)
    context = TeamContext(world, topology, Seeds(cell.seed).child("minds"), _no_models)
    team = _built(minds, c.agents.name, c.agents, context)
    return Parts(world, team[:n], [("coordinator", mind) for mind in team[n:]], topology)


def _no_models(name: str) -> None:
    raise UserError(f"agents: {name} thinks with a language model, and this version has none")


def _built(registry: Registry, name: str, *arguments: Any) -> Any:
    return _told(registry.group, registry.get(name).build, *arguments)


def _told(group: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call, and tell a `ValueError` as the mistake in the group's values that it is."""
    try:
        return function(*arguments)
    except ValueError as error:
        key, colon, _ = str(error).partition(":")
        separator = "." if colon and key.isidentifier() else ": "
        raise UserError(f"{group}{separator}{error}") from error
    except MemoryError as error:
        raise UserError(f"{group}: too large for this machine's memory: {error}") from error


def run_cell(cell: Cell, out: Path, watch: Watch | None = None) -> Result:
    """Run a cell and write its folder.

    Args:
        cell: what to run.
        out: folder that holds the results of many cells.
        watch: makes a listener of the built world.

    Raises:
        UserError: nothing can be written to `out`, or the components cannot be built; nothing is left on disk.
        Interrupted: the user pressed Ctrl-C; what there is of the episode stays in its partial folder.
        Exception: whatever a world or a mind raises; the folder says `error` and has its final name.
    """
    folder = EpisodeFolder(out, cell.name)
    try:
        parts = build(cell)
    except BaseException:
        folder.discard()
        raise
    record = _Record(cell, folder.path)
    try:
        listeners = [watch(parts.world)] if watch is not None else []
        outcome, seconds = asyncio.run(_play(cell, parts, folder.path / "trace.jsonl", listeners))
        metrics = compute_metrics(read_trace(folder.path))
        _write_json(folder.path / "metrics.json", metrics)
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        record.end("error", error)
        raise Interrupted(folder.path) from None
    except BaseException as error:
        record.end("error", error)
        folder.finish()
        raise
    record.end(outcome)
    return Result(cell, folder.finish(), outcome, seconds, metrics, parts.world.ansi())


async def _play(cell: Cell, parts: Parts, trace: Path, listeners: Sequence[Listener]) -> tuple[str, float]:
    c = cell.configuration
    settings = LoopSettings(
        clock_unit=c.clock.unit,
        delivery=c.clock.delivery,
        max_thoughts_per_step=c.clock.max_thoughts_per_step,
        max_repairs=c.max_repairs,
        memory_messages=c.memory.messages,
        thought_seconds=c.limits.thought_seconds,
        episode_seconds=c.limits.episode_seconds,
    )
    with Recorder(trace, listeners) as recorder:
        begin = time.perf_counter()
        end = await run_episode(
            parts.world,
            parts.minds,
            parts.topology,
            seed=cell.seed,
            settings=settings,
            recorder=recorder,
            coordinators=parts.coordinators,
        )
        return end.outcome, time.perf_counter() - begin


class _Record:
    """`config.yaml` and `meta.json`: written at the start, and the latter again at the end."""

    def __init__(self, cell: Cell, folder: Path) -> None:
        self._file = folder / "meta.json"
        (folder / "config.yaml").write_text(cell.as_yaml(), encoding="utf-8")
        self._meta: dict[str, Any] = {
            "name": cell.name,
            "hash": cell.hash,
            "seed": cell.seed,
            "start": _now(),
            "end": None,
            "outcome": None,
            "error": None,
            **provenance(),
        }
        _write_json(self._file, self._meta)

    def end(self, outcome: str, error: BaseException | None = None) -> None:
        """Say how the episode ended."""
        self._meta.update(end=_now(), outcome=outcome)
        if error is not None:
            interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
            self._meta["error"] = {
                "class": "Interrupted" if interrupted else type(error).__qualname__,
                "message": "stopped by the user" if interrupted else str(error),
            }
        _write_json(self._file, self._meta)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _write_json(file: Path, data: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
