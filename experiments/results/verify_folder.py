"""`quorum check RUN|SWEEP`: verifies runs, and says what to type where one is damaged."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from maeil.user_errors import UserError
from quorum.experiments.configuration.plugins import load_plugins
from quorum.experiments.results.lines import misfits
from quorum.experiments.results.run_folder import is_run, no_such_folder, runs_inside
from quorum.experiments.results.sweep_file import Sweep, read_sweep
from quorum.experiments.results.verify import Verified, verify_run

_FEW = 100
"""Runs that are verified in this process: to start others takes as long."""


@dataclass(frozen=True, slots=True)
class FolderCheck:
    """What was found in the folder of a run or of a sweep.

    Attributes:
        folder: as it was given.
        runs: what was found of each run, by name.
        missing: names of planned cells of which there is no run.
        advice: what to type, or to do, where something is damaged; empty where nothing is.
    """

    folder: Path
    runs: tuple[Verified, ...]
    missing: tuple[str, ...]
    advice: tuple[str, ...]

    @property
    def damaged(self) -> tuple[Verified, ...]:
        """The runs that are damaged."""
        return tuple(run for run in self.runs if run.problems)

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "folder": str(self.folder),
            "runs": [{key: value for key, value in asdict(run).items() if key != "place"} for run in self.runs],
            "missing": list(self.missing),
            "advice": list(self.advice),
        }

    def lines(self) -> Iterator[str]:
        """Return it for a reader: the damage, then the sum, then what cannot be verified, then what to do."""
        for run in self.damaged:
            for problem in run.problems:
                yield f"damaged: {run.name}: {problem}"
        unfinished = sum(run.unfinished for run in self.runs)
        counts = {
            "whole": len(self.runs) - len(self.damaged) - unfinished,
            "damaged": len(self.damaged),
            "unfinished": unfinished,
            "not run yet": len(self.missing),
        }
        parts = ", ".join(f"{number} {what}" for what, number in counts.items() if number or what == "whole")
        yield f"{self.folder}: {len(self.runs)} run{'' if len(self.runs) == 1 else 's'}: {parts}"
        for reason, number in Counter(reason for run in self.runs for reason in run.unverified).items():
            yield f"not verified in {number} of them: {reason}"
        yield from self.advice


def check_folder(folder: Path, plugins: Sequence[str] = ()) -> FolderCheck:
    """Verify a run, or all runs of a sweep or of a plain folder of runs. Nothing is changed.

    Args:
        folder: of the run or of the sweep.
        plugins: modules that register components and metrics; other processes load them, too.

    Raises:
        UserError: there is no such folder, or it holds no runs.
    """
    if not folder.exists():
        raise no_such_folder(folder)
    if not folder.is_dir():
        raise UserError(f"{folder}: it is a file", f"Give the folder of a run: {folder.parent}.")
    if is_run(folder):
        run = folder.resolve()
        found = verify_run(run)
        return FolderCheck(folder, (found,), (), tuple(_advice(folder.parent, [found], _sweep_of(run))))
    try:
        paths = list(runs_inside(folder))
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror or error}") from error
    sweep = read_sweep(folder)
    if not paths and sweep is None:
        raise UserError(f"{folder}: it holds no runs", "Give the folder of a run or of a sweep.")
    runs = list(_verified(paths, plugins))
    planned = {cell.name: cell.hash for cell in sweep.cells} if sweep is not None else {}
    runs = [_as_planned(run, planned.get(run.name, run.hash)) for run in runs]
    runs = _in_lines(runs)
    missing = tuple(name for name in planned if name not in {run.name for run in runs})
    return FolderCheck(folder, tuple(runs), missing, tuple(_advice(folder, runs, sweep)))


def _sweep_of(run: Path) -> Sweep | None:
    """Return the plan that a run is part of; None where there is none that can be read."""
    with suppress(UserError):
        sweep = read_sweep(run.parent)
        if sweep is not None and run.name in {cell.name for cell in sweep.cells}:
            return sweep
    return None


def _verified(paths: Sequence[Path], plugins: Sequence[str]) -> Iterable[Verified]:
    workers = min(len(os.sched_getaffinity(0)), len(paths) // _FEW)
    if workers < 2:
        return map(verify_run, paths)
    with ProcessPoolExecutor(
        workers, get_context("spawn"), initializer=load_plugins, initargs=(tuple(plugins),)
    ) as processes:
        return list(processes.map(verify_run, paths, chunksize=16))


def _as_planned(run: Verified, digest: str) -> Verified:
    if run.hash in ("", digest):
        return run
    return replace(run, problems=[*run.problems, f"it is the run of another cell, of hash {run.hash[:8]}"])


def _in_lines(runs: Sequence[Verified]) -> list[Verified]:
    """Hold each run of a line against the one before it."""
    wrong = misfits({run.name: run.place for run in runs})
    return [replace(run, problems=[*run.problems, wrong[run.name]]) if run.name in wrong else run for run in runs]


def _advice(folder: Path, runs: Sequence[Verified], sweep: Sweep | None) -> Iterator[str]:
    damaged = [run for run in runs if run.problems]
    for run in damaged:
        if run.metrics_alone:
            yield f"compute the metrics again: quorum results {folder / run.name} --recompute --write"
    if not all(run.metrics_alone for run in damaged):
        if sweep is not None and sweep.command:
            yield f"run the damaged cells again, which sets aside what is left of them: {sweep.command}"
        else:
            yield "run the episode again; quorum view RUN shows what can still be read of a damaged one"
