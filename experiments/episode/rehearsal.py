"""Compiles the kernels of a cell before any clock starts, so that no figure holds the time that it takes.

Numba compiles a kernel when it is first called with arrays of a kind. So short episodes are played in memory which call
what longer ones call; `tests/experiments/episode/test_rehearsal.py` holds them to that. Where everything is compiled
already it is loaded, in a fraction of a second, once a process.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

from quorum.experiments.configuration.cell import Cell

_EPISODES = {
    "cube": ("n=2 agents=negotiator topology=debate max_steps=12", "n=2 agents=heuristic max_steps=12"),
    "transport": ("env=transport n=4 agents=heuristic max_steps=4",),
    "crafter": ("env=crafter_coop n=2 agents=heuristic max_steps=4",),
}
"""The episodes that rehearse each world that has kernels."""
_WITH_MINDS = {("cube", "planner"): ("n=2 agents=planner max_steps=3",)}
"""Those that rehearse minds with kernels of their own."""
_log = logging.getLogger(__name__)

Play = Callable[[Cell], None]
"""Plays an episode without a language model and keeps nothing of it."""


def rehearse(world: str, minds: str, play: Play) -> None:
    """Compile, or load, the kernels that an episode calls.

    A line tells it where something has to be compiled: as a log record, which Python prints on standard error.

    Args:
        world: by name.
        minds: by name.
        play: plays a cell.
    """
    for words in (*_EPISODES.get(world, ()), *_WITH_MINDS.get((world, minds), ())):
        _once(words, play)


@contextmanager
def announce_compilation(world: str) -> Iterator[None]:
    """Tell it where something has to be compiled while the context lasts, for an episode that is not rehearsed.

    Args:
        world: by name.
    """
    if world not in _EPISODES:
        yield
        return
    from maeil.compilation.watching import on_first_compilation  # noqa: PLC0415 (Numba)

    with on_first_compilation(_tell):
        yield


def compile_all(play: Play) -> float:
    """Compile, or load, all kernels; return the seconds that it took."""
    begin = time.perf_counter()
    for episodes in (*_EPISODES.values(), *_WITH_MINDS.values()):
        for words in episodes:
            _once(words, play)
    return time.perf_counter() - begin


@cache
def _once(words: str, play: Play) -> None:
    from maeil.compilation.kernels import COMPILES  # noqa: PLC0415 (Numba, which worlds without kernels do without)
    from maeil.compilation.watching import on_first_compilation  # noqa: PLC0415

    if COMPILES:
        with on_first_compilation(_tell), _unlogged():
            play(Cell.compose(words.split()))


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep what happens in a rehearsal out of the log; it is no part of what the user runs."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(before)


@cache
def _tell() -> None:
    _log.warning("compiling kernels, once: about 30 s")
