"""Runs one cell: plays its episode and writes a results folder."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from maeil import World
from maeil.errors import MaeilError
from maeil.metrics import METRICS, Value, compute_metrics
from maeil.outcomes import Outcome
from maeil.trace import Listener, Recorder, read_trace
from maeil.trace.explanation import Sentence, explain_failure
from maeil.world import closing_world
from quorum.agents.llm.errors import LanguageModelError, Unreachable
from quorum.agents.llm.redaction import redact_message
from quorum.agents.llm.spending import Allowance, UnderWay
from quorum.configuration.cell import Cell
from quorum.configuration.inputs import MEMORY_INPUT
from quorum.configuration.team_label import minds_in
from quorum.episode.call_ledger import CALLS, CallLedger
from quorum.episode.episode_folder import EpisodeFolder, is_storage
from quorum.episode.model_pool import ModelPool, model_hint
from quorum.episode.parts import build, play
from quorum.episode.record import AnsweringModels, EpisodeRecord, answering_models, put, put_json
from quorum.episode.rehearsal import announce_compilation, rehearse
from quorum.episode.start import BEGINNING, Start, StartRefused
from quorum.episode.team_memory import MemoryStore, remembered
from quorum.episode.watchdog import TRACEBACK, Watchdog, WatchedEpisode, command_watchdog
from quorum.installation.extension_errors import FailedEpisode, as_extension_error, extension_errors
from quorum.process.event_loop import run_coroutine
from quorum.storage.memory_file import Memory
from quorum_base.user_errors import UserError

_log = logging.getLogger(__name__)

Watch = Callable[[World], Listener]
"""Takes the world of an episode and returns a listener that is called with every event as it happens."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an episode.

    Attributes:
        cell: the cell that ran.
        folder: folder of its files.
        outcome: how it ended.
        reason: why it ended early; empty if it did not.
        answering_models: the language models that answered.
        seconds: wall time of the loop.
        metrics: metrics computed from the trace.
        board: the world at the end, drawn as text.
        why: why it did not succeed, as far as its trace proves it.
        memory: the team's memory for the next episode; None if it keeps none.
    """

    cell: Cell
    folder: Path
    outcome: Outcome
    reason: str
    answering_models: AnsweringModels
    seconds: float
    metrics: Mapping[str, Value]
    board: str
    why: tuple[Sentence, ...] = ()
    memory: Memory | None = None


class Interrupted(KeyboardInterrupt):
    """The user stopped an episode; `folder` holds its files so far."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder


class EpisodeCut(Exception):
    """The sweep's budget ended an episode; with a larger budget, it can continue and reuse its paid answers."""


def run_cell(
    cell: Cell,
    out: Path,
    watch: Watch | None = None,
    under_way: UnderWay | None = None,
    *,
    start: Start = BEGINNING,
    attempts: Sequence[Path] = (),
) -> Result:
    """Run a cell and write its folder.

    Args:
        cell: cell to run.
        out: folder that holds the results of many cells.
        watch: creates a listener for the built world.
        under_way: where to observe its model calls in progress.
        start: how its episode starts; the memory of a store takes precedence over the start's own.
        attempts: folders of earlier attempts that were killed.

    Raises:
        StartRefused: the part before its start cannot be reproduced; nothing is left on disk.
        UserError: `out` cannot be written, or the components cannot be built; nothing is left on disk. Or a language
            model refuses requests; the folder says `error` and has its final name. Or `memory.store` cannot be read or
            replaced.
        Interrupted: the user pressed Ctrl-C; the episode so far stays in its partial folder.
        Exception: any error of a world or a mind; the folder says `error` and has its final name.
    """
    stored = cell.configuration.memory.store
    opened = MemoryStore(Path(stored), cell.inputs.get(MEMORY_INPUT)) if stored is not None else None
    with closing(opened) if opened is not None else nullcontext() as store:
        folder = EpisodeFolder(out, cell.name)

        async def alone() -> Result:
            async with ModelPool(under_way=under_way) as pool:
                known = start if store is None else replace(start, memory=store.before)
                return await run_in_pool(
                    cell, folder, pool, watch, start=known, attempts=attempts, watchdog=command_watchdog()
                )

        try:
            result = run_coroutine(alone())
        except (KeyboardInterrupt, asyncio.CancelledError):
            raise Interrupted(folder.path) from None
        if store is not None and result.memory is not None and result.outcome != Outcome.ERROR:
            store.keep(result.memory)
        return result


async def run_in_pool(
    cell: Cell,
    folder: EpisodeFolder,
    pool: ModelPool,
    watch: Watch | None = None,
    *,
    played: Callable[[], Awaitable[None]] | None = None,
    start: Start = BEGINNING,
    attempts: Sequence[Path] = (),
    allowance: Allowance | None = None,
    watchdog: Watchdog | None = None,
) -> Result:
    """Run a cell together with others of the same process.

    Args:
        cell: cell to run.
        folder: new folder for this cell.
        pool: resources shared by the episodes of the process.
        watch: creates a listener for the built world.
        played: called once only disk writes remain.
        start: how its episode starts.
        attempts: folders of earlier attempts: their paid answers are reused, and the folders are removed once the
            episode has reused them all.
        allowance: what the episode may draw from the sweep's budget; None: no limit.
        watchdog: ends the process if code of the episode does not return; None: no watchdog.

    Raises:
        EpisodeCut: it exceeds its allowance; its folder keeps its temporary name.
        asyncio.CancelledError, KeyboardInterrupt: the episode was stopped; its folder keeps its temporary name.
        Unwritable: nothing more can be written; nothing is left of the episode.
        UserError, Exception: see `run_cell`.
    """
    watched = WatchedEpisode(cell, folder, _score_what_there_is)
    guard = watchdog.watching(watched) if watchdog is not None else nullcontext()
    with folder.guarded(), guard, ExitStack() as in_use:
        books = CallLedger(cell.configuration, folder.path, attempts, allowance)
        models = start.models(cell, pool, books)
        try:
            with extension_errors():
                for mind in () if _replays(cell, start) else minds_in(cell.plain["agents"]):
                    rehearse(cell.configuration.env.name, mind)
                METRICS.load()  # report a metric that cannot be imported before the episode, not after it
                parts = build(cell, models, start)
                in_use.enter_context(closing_world(parts.world))
        except BaseException:
            folder.discard()
            raise
        watched.record = record = EpisodeRecord(cell, folder.path, parts.several, start.memory, start.parent)
        after: Memory | None = None
        try:
            listeners = [watch(parts.world)] if watch is not None else []
            with (
                Recorder(folder.path / "trace.jsonl", [*start.listeners, *listeners]) as recorder,
                closing(books),
                start.checked(),
                announce_compilation(cell.configuration.env.name) if _replays(cell, start) else nullcontext(),
            ):
                _log.info("%s begins", cell.name)
                watched.begin(recorder)
                begin = time.perf_counter()
                end = await play(cell, parts, recorder, start)
                if allowance is not None and allowance.cut:
                    raise EpisodeCut(allowance.cut)
                seconds = time.perf_counter() - begin
            if cell.configuration.remembers:
                after = remembered(parts.team)
                record.remember(after)
            metrics, found, why = _score(folder.path)
        except (KeyboardInterrupt, asyncio.CancelledError, EpisodeCut) as error:
            record.end(Outcome.ERROR, error, answering_models=_score_what_there_is(folder.path), whole=False)
            raise
        except StartRefused:
            folder.discard()
            raise
        except LanguageModelError as error:
            if isinstance(error, Unreachable) and not books.spending.tokens:  # no answer arrived, so nothing is lost
                folder.discard()
                raise UserError(f"llm: {error}", model_hint(error, cell.configuration.llm)) from None
            kept = await record.finish(folder, Outcome.ERROR, error, answering_models=_score_what_there_is(folder.path))
            where = f"The incomplete episode is in {kept}."
            raise UserError(f"llm: {error}", f"{model_hint(error, cell.configuration.llm)} {where}".lstrip()) from None
        except UserError as error:  # a template error, found when it is rendered
            if not (folder.path / CALLS).exists():  # no model was called, so nothing is lost
                folder.discard()
                raise
            kept = await record.finish(folder, Outcome.ERROR, error, answering_models=_score_what_there_is(folder.path))
            where = f"The episode has failed; its incomplete results are in {kept}."
            raise FailedEpisode(error.message, f"{error.hint} {where}".lstrip()) from error
        except BaseException as error:
            if is_storage(error):
                raise
            text = redact_message("".join(traceback.format_exception(error)))
            put(folder.path, TRACEBACK, text.encode())
            kept = await record.finish(folder, Outcome.ERROR, error, answering_models=_score_what_there_is(folder.path))
            if (mistake := as_extension_error(error)) is not None:
                where = f"The episode has failed; {kept / TRACEBACK} has the traceback."
                raise FailedEpisode(mistake.message, where) from error
            raise
        _log.info("%s ended: %s after %s steps in %.2f s", cell.name, end.outcome, end.steps, seconds)
        if played is not None:
            await played()
        watched.kept = kept = await record.finish(folder, end.outcome, reason=end.reason, answering_models=found)
        if end.outcome != Outcome.ERROR:  # the next attempt at a failed episode gets them, too
            books.settle()
        try:
            board = parts.world.ansi()
        except Exception as error:
            if (mistake := as_extension_error(error)) is None:
                raise
            raise FailedEpisode(mistake.message, f"The episode itself is complete; it is in {kept}.") from error
        return Result(cell, kept, end.outcome, end.reason, found, seconds, metrics, board, why, after)


def _replays(cell: Cell, start: Start) -> bool:
    """Whether replaying a recorded run compiles what the episode needs; no measured clock runs during the replay."""
    limits = cell.configuration.limits
    return start.parent is not None and limits.thought_seconds is None and limits.episode_seconds is None


def _score(folder: Path) -> tuple[Mapping[str, Value], AnsweringModels, tuple[Sentence, ...]]:
    """Write an episode's metrics; return them, the models that answered, and why it did not succeed."""
    trace = read_trace(folder)
    metrics = compute_metrics(trace)
    put_json(folder, "metrics.json", metrics)
    return metrics, answering_models(trace), explain_failure(trace)


def _score_what_there_is(folder: Path) -> AnsweringModels | None:
    """Write the metrics of a failed episode, as its calls were paid for. Returns None if there is no trace."""
    try:
        return _score(folder)[1]
    except (MaeilError, OSError) as error:
        _log.info("%s cannot be scored: %s", folder, error)
        return None


def leave_error(cell: Cell, folder: EpisodeFolder, error: BaseException) -> None:
    """Write a folder that says why a cell could not run, so that a sweep does not retry it forever."""
    with folder.guarded():
        EpisodeRecord(cell, folder.path).end(Outcome.ERROR, error)
        folder.finish()
