"""Ends the process when code of an episode does not return, such as a world's step that loops forever.

Such code blocks the event loop and every limit that is checked there. So a thread watches for signs of life: a turn of
the event loop, or an event in a trace. After too long a silence, it saves the folder of the episode as `error` with the
code location, and ends the process, because nothing can stop foreign code inside a process. The thread counts its own
ticks, so time during which the process was suspended does not count.

Code that computes without ever releasing the GIL (a regular expression, a compiled kernel) also stops this thread. In
that case a system timer, which the thread resets at every tick, ends the process; a worker's cell then goes to another
worker, as after any death of a worker.
"""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType, TracebackType

from maeil.errors import LimitReached
from maeil.outcomes import Outcome
from maeil.thinking import Thinking
from maeil.trace.events import EpisodeEnd
from maeil.trace.recorder import Now, Recorder
from quorum.agents.llm.redaction import redact_message
from quorum.configuration.cell import Cell
from quorum.episode.episode_folder import EpisodeFolder
from quorum.episode.record import AnsweringModels, EpisodeRecord, put
from quorum.installation.extension_errors import ExtensionError, FailedEpisode, extension_place, print_mistake
from quorum.process.signals import in_command

TRACEBACK = "traceback.txt"
TICK = 0.5
"""Seconds between two checks for a sign of life."""
_LOCKED = 2
"""Multiple of the limit that code may compute while it holds the GIL: it may use several processors."""
_SCORING = 10.0
"""Seconds for the metrics of an episode when its process ends, because a metric may be what does not return."""


class NoReturn(LimitReached):
    """Code of the episode does not return."""


@dataclass(slots=True)
class WatchedEpisode:
    """A running episode, or the preflight check of a cell.

    Attributes:
        cell: the cell that runs.
        folder: folder of the episode; None for a preflight check, which writes nothing.
        score: writes the metrics of its folder, and returns the models that answered in it.
        record: record of the episode; None until its components are built.
        recorder: recorder of its trace; None until it starts.
        began: start time in monotonic seconds.
        kept: its folder with its final name; None until it has that name.
    """

    cell: Cell
    folder: EpisodeFolder | None = None
    score: Callable[[Path], AnsweringModels | None] = lambda _: None
    record: EpisodeRecord | None = None
    recorder: Recorder | None = None
    began: float = 0.0
    kept: Path | None = None

    def begin(self, recorder: Recorder) -> None:
        """Note that the episode starts."""
        self.recorder, self.began = recorder, time.monotonic()

    @property
    def events(self) -> int:
        """Number of events so far."""
        return 0 if self.recorder is None else self.recorder.events

    def limit_over(self, silent: float, *, thinking: bool) -> str:
        """Describe the exceeded limit; empty if there is none.

        Args:
            silent: seconds without a sign of life.
            thinking: whether a mind is at work.
        """
        limits = self.cell.configuration.limits
        spent = {
            "thought_seconds": silent if thinking else 0.0,
            "episode_seconds": time.monotonic() - self.began if self.recorder is not None else 0.0,
            "step_seconds": silent,
        }
        bounds = ((name, getattr(limits, name)) for name in spent)
        return next((f"limits.{name}: {most:g} s" for name, most in bounds if most and spent[name] >= most), "")

    def fail(self, place: str, error: NoReturn) -> ExtensionError:
        """Save its folder as `error` under its final name, unless it already has that; return the message."""
        message = f"{place}: {error}"
        if self.folder is None:
            return ExtensionError(message, "No cell ran.")
        if self.kept is not None:
            return FailedEpisode(message, f"The episode itself is complete; it is in {self.kept}.")
        folder = self.folder.path
        if self.recorder is not None:
            with suppress(ValueError):  # the trace is closed: the episode itself has ended
                t, t_hat = self.recorder.instant
                self.recorder.now = Now(t, t_hat)
                self.recorder.record(EpisodeEnd(Outcome.ERROR, t, f"{type(error).__name__}: {error}"))
                self.recorder.flush()
        put(folder, TRACEBACK, redact_message("".join(traceback.format_exception(error))).encode())
        found: list[AnsweringModels | None] = []
        scoring = threading.Thread(target=lambda: found.append(self.score(folder)), daemon=True)
        scoring.start()
        scoring.join(_SCORING)
        record = self.record or EpisodeRecord(self.cell, folder)
        record.end(Outcome.ERROR, error, answering_models=next(iter(found), None))
        kept = self.folder.finish()
        return FailedEpisode(message, f"The episode has failed; {kept / TRACEBACK} shows where.")


_EPISODE: ContextVar[WatchedEpisode | None] = ContextVar("episode", default=None)
"""The episode of a context."""


class Watchdog:
    """Watches the episodes of one process, all of which run in one thread at a time.

    Args:
        end: ends the process; receives the message for the user.
    """

    def __init__(self, end: Callable[[ExtensionError], object]) -> None:
        self._end = end
        self._episodes: list[WatchedEpisode] = []
        self._turns = 0
        self._watched = 0
        self._thread: threading.Thread | None = None

    @contextmanager
    def watching(self, episode: WatchedEpisode) -> Iterator[None]:
        """Watch an episode while the context lasts, on the running event loop."""
        self._watched = threading.get_ident()
        self._episodes.append(episode)
        token = _EPISODE.set(episode)
        beat = asyncio.get_running_loop().create_task(self._beat())
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="quorum-watchdog", daemon=True)
            self._thread.start()
        try:
            yield
        finally:
            beat.cancel()
            _EPISODE.reset(token)
            self._episodes.remove(episode)

    async def _beat(self) -> None:
        while True:
            self._turns += 1
            await asyncio.sleep(TICK)

    def _watch(self) -> None:
        silent, seen = 0.0, (-1, -1)
        faulthandler.register(signal.SIGPROF, file=2, chain=True)  # prints the code location before the end
        while True:
            signal.setitimer(signal.ITIMER_PROF, self._processor_seconds())
            time.sleep(TICK)
            signs = self._turns, sum(episode.events for episode in tuple(self._episodes))
            silent = silent + TICK if signs == seen else 0.0
            seen = signs
            if silent > TICK:
                self._judge(silent)

    def _processor_seconds(self) -> float:
        """Return how long this process may compute without a turn of the watchdog thread; 0 for no limit."""
        limits = [episode.cell.configuration.limits.step_seconds or 0.0 for episode in tuple(self._episodes)]
        return _LOCKED * max(limits) if limits and all(limits) else 0.0

    def _judge(self, silent: float) -> None:
        # Frames decide only once a limit has passed. CPython 3.11 may crash when those of a running thread are read
        # (python/cpython#111363).
        if not any(episode.limit_over(silent, thinking=True) for episode in tuple(self._episodes)):
            return
        frames = _stack(sys._current_frames().get(self._watched))
        episode = _episode_of(frames)
        if episode is None:
            return
        thinking = any(frame.f_code is Thinking.run.__code__ for frame in frames)
        if not (limit := episode.limit_over(silent, thinking=thinking)):
            return
        step = "" if episode.recorder is None else f" in step {episode.recorder.instant[0]}"
        error = NoReturn(f"{limit} have passed{step}, and this code has not returned")
        error.__traceback__ = _as_traceback(frames)
        place = extension_place(error) or f"{frames[0].f_code.co_filename}:{frames[0].f_lineno}"
        self._end(episode.fail(str(place), error))


def _stack(frame: FrameType | None) -> list[FrameType]:
    """Return a frame and its callers, the innermost first."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames


def _episode_of(frames: list[FrameType]) -> WatchedEpisode | None:
    """Return the episode in whose context the event loop runs a callback; None if it runs none."""
    for frame in frames:
        # A handle forgets itself once its callback has returned, a moment before its frame ends.
        if frame.f_code is asyncio.Handle._run.__code__ and (handle := frame.f_locals.get("self")) is not None:
            context: Mapping[ContextVar[WatchedEpisode | None], WatchedEpisode | None] = handle._context
            return context.get(_EPISODE)
    return None


def _as_traceback(frames: list[FrameType]) -> TracebackType | None:
    """Return a stack as a traceback."""
    made: TracebackType | None = None
    for frame in frames:
        made = TracebackType(made, frame, frame.f_lasti, frame.f_lineno or 1)
    return made


def command_watchdog() -> Watchdog | None:
    """Return a watchdog that ends this process with a message; None in a program, which only its user may end."""
    return _command_watchdog() if in_command() else None


@cache
def _command_watchdog() -> Watchdog:
    def end(error: ExtensionError) -> None:
        print_mistake(error)
        exit_now(error.exit_code)

    return Watchdog(end)


def exit_now(code: int) -> None:
    """End the process without waiting for its threads."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    os._exit(code)
