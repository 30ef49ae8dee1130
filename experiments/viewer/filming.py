"""Replays runs in a process of its own: to read a large episode and to replay it take seconds each, side by side."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock

import orjson

from experiments.viewer.episode import read_recorded
from experiments.viewer.frames import Film, film
from experiments.viewer.uncollected import uncollected


def reel(folder: Path) -> bytes:
    """Replay a run; give its pictures as JSON (`experiments.viewer.frames`)."""
    with uncollected():
        recorded = read_recorded(folder)
        return orjson.dumps(film(recorded.reading, recorded.configuration).reel())


class Filmer:
    """The process. It ends with the one that has made it, and does not hear its Ctrl-C. Made in the main thread alone.

    Args:
        plugins: modules of third parties that it must know too.
    """

    def __init__(self, plugins: Sequence[str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, tuple(plugins)), daemon=True)
        self._asking = Lock()
        earlier = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which the new process inherits
        try:
            self._process.start()
        finally:
            signal.signal(signal.SIGINT, earlier)
        theirs.close()

    def reel(self, folder: Path) -> bytes:
        """Replay a run, as `reel` does; without pictures, and with the reason, when the process has died of it."""
        with self._asking:
            try:
                self._ours.send(folder)
                return self._ours.recv_bytes()
            except (EOFError, OSError):
                dead = Film(None, {}, ("The process that replays the world has died, so it is not drawn.",))
                return orjson.dumps(dead.reel())


def _work(asked: Connection, plugins: Sequence[str]) -> None:
    from experiments.plugins import load_plugins  # noqa: PLC0415 - in the new process alone

    load_plugins(plugins)
    while True:
        try:
            folder = asked.recv()
        except EOFError:
            return
        asked.send_bytes(reel(folder))
