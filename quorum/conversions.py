"""Converts arguments and results between Python programs and the verbs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from quorum.configuration.plugins import load_plugins
from quorum.installation.extension_errors import extension_errors
from quorum.sweeps.command import run_sweep_command
from quorum.sweeps.run import SweepRequest, SweepResult
from quorum.sweeps.stopping import Stop
from quorum_base.user_errors import UserError

Folder = str | PathLike[str]
T = TypeVar("T")


def answer(kind: Callable[..., T], found: Any) -> T:
    """Convert data to another class with the same fields and more methods."""
    return kind(**{one.name: getattr(found, one.name) for one in fields(found)})


def swept(request: SweepRequest, *, progress: bool) -> SweepResult:
    """Run a sweep.

    Raises:
        UserError, KeyboardInterrupt: see `quorum.sweep`.
    """
    load_plugins(request.plugins)
    with extension_errors():
        result = run_sweep_command(request, quiet=not progress)
    if result.stop is Stop.INTERRUPTED:
        raise KeyboardInterrupt
    if result.stop is Stop.STUCK:
        raise UserError(result.reason)
    return result


def paths(folders: Folder | Sequence[Folder]) -> tuple[Path, ...]:
    """Return one folder or several as a tuple of paths."""
    return (Path(folders),) if isinstance(folders, str | PathLike) else tuple(map(Path, folders))


def names(given: str | Sequence[str]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (given,) if isinstance(given, str) else tuple(given)
