"""Compiles the kernels of a cell before any clock starts, so that no measured time includes compilation.

Numba compiles a kernel on its first call with arrays of a given type. So short episodes are played in memory that call
the same kernels as longer ones; `tests/episode/test_rehearsal.py` checks that they do. A marker file next to the
compiled kernels lets later processes skip this.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from maeil.trace import Recorder
from maeil.world import closing_world
from quorum.configuration.cell import Cell
from quorum.configuration.registry import kernels
from quorum.episode.building import no_models
from quorum.episode.parts import build, play
from quorum.process.event_loop import run_coroutine

if TYPE_CHECKING:
    from quorum_base.compilation.kernels import KernelSet

_log = logging.getLogger(__name__)


def rehearse(world: str, minds: str) -> None:
    """Compile the kernels of a world and its minds, if necessary; no clock runs meanwhile.

    If anything must be compiled, a log record says so, which Python prints on standard error.

    Args:
        world: name of the world.
        minds: name of the minds.
    """
    for name in (world, f"{world}_{minds}"):
        if name in kernels.names():
            _rehearse(kernels.get(name))


def _rehearse(found: KernelSet) -> None:
    mark = _mark(found)
    if mark is None or not mark.exists():
        for words in found.rehearsal:
            _once(words)
        if mark is not None and mark.parent.is_dir():
            mark.touch()


@cache
def _mark(found: KernelSet) -> Path | None:
    """Return the marker file of kernels rehearsed by this Python and Numba on such a machine; None without a cache."""
    from quorum_base.compilation import numba  # noqa: PLC0415

    machine = (sys.version, numba.__version__, numba.core.codegen.ll.get_host_cpu_name())
    digest = hashlib.sha256(repr((found.rehearsal, machine)).encode()).hexdigest()
    return found.folder / f"rehearsed-{digest[:16]}" if found.folder is not None else None


@contextmanager
def announce_compilation(world: str) -> Iterator[None]:
    """Announce compilations while the context lasts, for an episode that is not rehearsed.

    Args:
        world: name of the world.
    """
    if world not in kernels.names():
        yield
        return
    from quorum_base.compilation.watching import on_first_compilation  # noqa: PLC0415 (Numba)

    with on_first_compilation(_tell):
        yield


def compile_all() -> float:
    """Compile or load all kernels; return the seconds that it took."""
    begin = time.perf_counter()
    for name in kernels.names():
        for words in kernels.get(name).rehearsal:
            _once(words)
    return time.perf_counter() - begin


@cache
def _once(words: str) -> None:
    from quorum_base.compilation.kernels import COMPILES  # noqa: PLC0415 (Numba, which worlds without kernels do without)
    from quorum_base.compilation.watching import on_first_compilation  # noqa: PLC0415

    if COMPILES:
        with on_first_compilation(_tell), unlogged():
            cell = Cell.compose(words.split())
            parts = build(cell, no_models)
            with closing_world(parts.world), Recorder(None) as recorder:
                run_coroutine(play(cell, parts, recorder))
                parts.world.observe(0).text()  # for prompts: no mind that reads one rehearses


@contextmanager
def unlogged() -> Iterator[None]:
    """Suppress the log of episodes that are not part of what the user runs."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        yield
    finally:
        logging.disable(before)


@cache
def _tell() -> None:
    _log.warning("compiling kernels, once: about 30 s")
