"""Runs that several tests read: each is played once in a session of the tests, by the worker that asks first.

`recorded_run` gives the folder of the run, which must stay as it is; `copied_run` gives a copy to change.
"""

from __future__ import annotations

import asyncio
import atexit
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from quorum.configuration.cell import Cell
from quorum.episode.runner import run_cell

_PREFIX = "quorum-recorded-"


def recorded_run(*words: str) -> Path:
    """Return the folder of the run with this configuration, alone in its parent folder. It must stay as it is.

    Args:
        words: `KEY=VALUE`, as on the command line.
    """
    own = _session_folder() / hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]
    with _locked(own.with_suffix(".lock")):
        if not (own / "runs").exists():
            shutil.rmtree(own, ignore_errors=True)
            _play(words, own / "playing")
            (own / "playing").rename(own / "runs")
    (folder,) = (own / "runs").iterdir()
    return folder


def copied_run(parent: Path, *words: str, name: str | None = None) -> Path:
    """Copy the run with this configuration into a folder, under its own name or another; you may change the copy."""
    run = recorded_run(*words)
    return Path(shutil.copytree(run, parent / (name or run.name)))


def _play(words: tuple[str, ...], out: Path) -> None:
    try:
        asyncio.get_running_loop()  # a test with a browser has one, and an episode needs its own
    except RuntimeError:
        run_cell(Cell.compose(list(words)), out)
    else:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lambda: run_cell(Cell.compose(list(words)), out)).result()


@cache
def _session_folder() -> Path:
    """Return the folder that all workers of this session share. The last of them to end removes it."""
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"{os.getpid()}-{os.urandom(4).hex()}"
    parent = Path(tempfile.gettempdir())
    for other in parent.glob(f"{_PREFIX}*"):
        _remove_unused(other)
    folder = parent / f"{_PREFIX}{session}"
    while True:
        folder.mkdir(exist_ok=True)
        with suppress(FileNotFoundError):  # it was removed in between
            held = os.open(folder, os.O_RDONLY)
            fcntl.flock(held, fcntl.LOCK_SH)
            if folder.exists() and os.path.samestat(os.fstat(held), folder.stat()):
                break
            os.close(held)
    atexit.register(_release, held, folder)
    return folder


def _release(held: int, folder: Path) -> None:
    os.close(held)
    _remove_unused(folder)


def _remove_unused(folder: Path) -> None:
    with suppress(OSError):
        found = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(found, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder)
        finally:
            os.close(found)


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("w") as opened:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
