"""Runs one cell: builds its parts by name, plays the episode, and leaves a folder of results."""

from __future__ import annotations

import asyncio
import json
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from maeil import LoopSettings, Mind, Seeds, TeamContext, Topology, TopologyContext, World, run_episode
from maeil.errors import MaeilError
from maeil.metrics import METRICS, Value, compute_metrics
from maeil.registry import Registry
from maeil.trace import Listener, Recorder, read_trace
from maeil.trace.events import EpisodeEnd
from maeil.user_errors import UserError, choices_hint, mask_passwords
from quorum.agents.llm.errors import LanguageModelError
from quorum.experiments.common.event_loop import run_coroutine, to_its_end
from quorum.experiments.common.files import digest
from quorum.experiments.common.provenance import provenance
from quorum.experiments.configuration.cell import Cell
from quorum.experiments.configuration.inputs import inputs_of, refuse_changed
from quorum.experiments.configuration.registry import minds, topologies, worlds
from quorum.experiments.episode.answering_models import AnsweringModels, answering_models
from quorum.experiments.episode.episode_folder import EpisodeFolder, is_storage
from quorum.experiments.episode.model_hints import model_hint
from quorum.experiments.episode.models import EpisodeModels, ModelPool
from quorum.experiments.episode.rehearsal import compile_all, rehearse

_log = logging.getLogger(__name__)

Watch = Callable[[World], Listener]
"""Given the world of an episode, returns a listener that is called with every event as it happens."""


@dataclass(frozen=True, slots=True)
class Result:
    """What an episode left.

    Attributes:
        cell: what was run.
        folder: where its files are.
        outcome: `completed`, `limit`, `budget` or `error`.
        reason: why, for an episode that was ended before its time; else empty.
        answerers: the language models that answered.
        seconds: wall time of the loop.
        metrics: computed from the trace.
        board: the world at the end, drawn as text.
    """

    cell: Cell
    folder: Path
    outcome: str
    reason: str
    answering_models: AnsweringModels
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


def build(cell: Cell, models: Callable[[str], Any]) -> Parts:
    """Build the components of a cell, and draw its board once to see that there is one.

    Args:
        cell: what is to be run.
        models: returns the language model of a participant, by name.

    Raises:
        UserError: the values of a group do not go together.
        InputsChanged: a template or a plug-in is not what it was when the cell was named.
    """
    c = cell.configuration
    world = _built(worlds, c.env.name, c.env, None)
    _as_user_error("env", world.reset, cell.seed)
    n = len(world.agents)
    topology = _built(topologies, c.topology.name, c.topology, TopologyContext(n))
    given = models if c.uses_models else _no_models
    context = TeamContext(world, topology, Seeds(cell.seed).child("minds"), given)
    team = _built(minds, c.agents.name, c.agents, context)
    coordinators = [("coordinator", mind) for mind in team[n:]]
    names = (*world.agents, *(name for name, _ in coordinators))
    for name in c.llm.participants if c.uses_models else ():
        if name not in names:
            raise UserError(f"llm.agents.{name}: there is no such participant", choices_hint(name, "They are", names))
    refuse_changed(cell.name, cell.inputs, inputs_of(c, world.name))
    _log.info(
        "built %s: world %s with %d agents, minds %s, topology %s",
        cell.name, c.env.name, n, c.agents.name, c.topology.name,
    )  # fmt: skip
    _log.debug("configuration: %s", cell.plain)
    return Parts(world, team[:n], coordinators, topology)


def _no_models(participant: str) -> None:
    raise TypeError(f"the mind of {participant} asks for a model: its Component must say uses_models=True")


def _built(registry: Registry[Any], name: str, config: Any, context: Any) -> Any:
    return _as_user_error(registry.group, registry.get(name).build, config, context)


def _as_user_error(group: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call, and raise a `ValueError` as the mistake in the group's values that it is."""
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
        UserError: nothing can be written to `out`, or the components cannot be built; nothing is left on disk. Or a
            language model refuses to be asked; the folder says `error` and has its final name.
        Interrupted: the user pressed Ctrl-C; what there is of the episode stays in its partial folder.
        Exception: whatever a world or a mind raises; the folder says `error` and has its final name.
    """
    folder = EpisodeFolder(out, cell.name)

    async def alone() -> Result:
        pool = ModelPool()
        try:
            return await run_in_pool(cell, folder, pool, watch)
        finally:
            await pool.close()

    try:
        return run_coroutine(alone())
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise Interrupted(folder.path) from None


async def run_in_pool(
    cell: Cell,
    folder: EpisodeFolder,
    pool: ModelPool,
    watch: Watch | None = None,
    played: Callable[[], Awaitable[None]] | None = None,
) -> Result:
    """Run a cell beside others of the same process.

    Args:
        cell: what to run.
        folder: new, for this cell.
        pool: what the episodes of the process share.
        watch: makes a listener of the built world.
        played: called when nothing is left to do but to bring the files to disk, which is waiting and no work.

    Raises:
        asyncio.CancelledError, KeyboardInterrupt: the episode was stopped; its folder keeps its passing name.
        Unwritable: nothing more can be written; nothing is left of the episode.
        UserError, Exception: as in `run_cell`.
    """
    with folder.guarded():
        return await _run(cell, folder, pool, watch, played)


async def _run(
    cell: Cell,
    folder: EpisodeFolder,
    pool: ModelPool,
    watch: Watch | None,
    played: Callable[[], Awaitable[None]] | None,
) -> Result:
    models = EpisodeModels(cell.configuration, pool, folder.path)
    try:
        prepare(cell.configuration.env.name, cell.configuration.agents.name)
        METRICS.load()  # one that cannot be imported is told before the episode, and not after it
        parts = build(cell, models)
    except BaseException:
        folder.discard()
        raise
    record = _Record(cell, folder.path)
    try:
        listeners = [watch(parts.world)] if watch is not None else []
        with Recorder(folder.path / "trace.jsonl", listeners) as recorder, closing(models):
            _log.info("%s begins", cell.name)
            begin = time.perf_counter()
            end = await play(cell, parts, recorder)
            seconds = time.perf_counter() - begin
        metrics, found = _score(folder.path)
    except (KeyboardInterrupt, asyncio.CancelledError) as error:
        record.stop(error, _score_what_there_is(folder.path))
        raise
    except LanguageModelError as error:
        kept = await record.finish(folder, "error", error, answering_models=_score_what_there_is(folder.path))
        where = f"What there is of the episode is in {kept}."
        raise UserError(f"llm: {error}", f"{model_hint(error, cell.configuration.llm)} {where}".lstrip()) from None
    except BaseException as error:
        if not is_storage(error):
            (folder.path / "traceback.txt").write_text(
                mask_passwords("".join(traceback.format_exception(error))), encoding="utf-8"
            )
            await record.finish(folder, "error", error, answering_models=_score_what_there_is(folder.path))
        raise
    _log.info("%s ended: %s after %s steps in %.2f s", cell.name, end.outcome, end.steps, seconds)
    if played is not None:
        await played()
    kept = await record.finish(folder, end.outcome, reason=end.reason, answering_models=found)
    return Result(cell, kept, end.outcome, end.reason, found, seconds, metrics, parts.world.ansi())


def _score(folder: Path) -> tuple[Mapping[str, Value], AnsweringModels]:
    """Write the metrics of an episode; return them, and who answered in it."""
    trace = read_trace(folder)
    metrics = compute_metrics(trace)
    _write_json(folder / "metrics.json", metrics)
    return metrics, answering_models(trace)


def _score_what_there_is(folder: Path) -> AnsweringModels | None:
    """Do the same for an episode that has failed: what its calls have cost is paid. None where there is no trace."""
    try:
        return _score(folder)[1]
    except (MaeilError, OSError) as error:
        _log.info("%s cannot be scored: %s", folder, error)
        return None


def prepare(world: str, minds: str) -> None:
    """Compile what an episode of minds in a world calls, where it is not compiled yet; no clock runs meanwhile."""
    rehearse(world, minds, _play_in_memory)


def prepare_all() -> float:
    """Compile all kernels of this project that are not compiled yet; return the seconds that it took."""
    return compile_all(_play_in_memory)


def _play_in_memory(cell: Cell) -> None:
    """Play an episode of a team without language models, and keep nothing of it."""
    parts = build(cell, _no_models)
    with Recorder(None) as recorder:
        run_coroutine(play(cell, parts, recorder))


def leave_error(cell: Cell, folder: EpisodeFolder, error: BaseException) -> None:
    """Leave a folder that says why a cell could not be run, so that a sweep does not try it again and again."""
    with folder.guarded():
        _Record(cell, folder.path).seal("error", error)
        folder.finish()


async def play(cell: Cell, parts: Parts, recorder: Recorder) -> EpisodeEnd:
    """Play the episode of a cell with its built parts."""
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
    return await run_episode(
        parts.world,
        parts.minds,
        parts.topology,
        seed=cell.seed,
        settings=settings,
        recorder=recorder,
        coordinators=parts.coordinators,
    )


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
            "reason": "",
            "error": None,
            "configuration": cell.plain,
            "inputs": cell.inputs,
            "unused": cell.configuration.unused,
            **provenance(),
        }
        _write_json(self._file, self._meta)

    def stop(self, error: BaseException, answering_models: AnsweringModels | None) -> None:
        """Say that the user stopped the episode."""
        self._end("error", error, answering_models=answering_models)

    async def finish(
        self,
        folder: EpisodeFolder,
        outcome: str,
        error: BaseException | None = None,
        reason: str = "",
        answering_models: AnsweringModels | None = None,
    ) -> Path:
        """Say how the episode ended, bring its folder to disk and give it its final name; return that.

        To wait for the disk is done beside the event loop, and to its end also when the user stops everything.
        """

        def keep() -> Path:
            self.seal(outcome, error, reason, answering_models)
            return folder.finish()

        return await to_its_end(keep)

    def seal(
        self,
        outcome: str,
        error: BaseException | None = None,
        reason: str = "",
        answering_models: AnsweringModels | None = None,
    ) -> None:
        """Say how the episode ended and who answered in it, and leave a digest of every file: none changes any more."""
        files = sorted(file for file in self._file.parent.iterdir() if file != self._file)
        self._meta["files"] = {file.name: digest(file) for file in files}
        self._end(outcome, error, reason, answering_models)

    def _end(
        self,
        outcome: str,
        error: BaseException | None = None,
        reason: str = "",
        answering_models: AnsweringModels | None = None,
    ) -> None:
        self._meta.update(end=_now(), outcome=outcome, reason=reason)
        if answering_models is not None:
            self._meta.update(answering_models.plain())
        if error is not None:
            interrupted = isinstance(error, KeyboardInterrupt | asyncio.CancelledError)
            self._meta["error"] = {
                "class": "Interrupted" if interrupted else type(error).__qualname__,
                "message": "stopped by the user" if interrupted else mask_passwords(str(error)),
            }
        _write_json(self._file, self._meta)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _write_json(file: Path, data: Mapping[str, Any]) -> None:
    file.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
