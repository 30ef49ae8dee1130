"""The folder of a sweep: one folder per cell, and `sweep.json`, which holds the plan.

<out>/<sweep>/
    sweep.json
    results.csv
    <cell>/...
    .lock, .workers     see `quorum.sweeps.engines.locks`
    .budget             see `quorum.sweeps.ledger`
    .in_flight          see `quorum.sweeps.in_flight`
    .retried/           failed or damaged attempts that were repeated, and the paid answers of dropped ones
"""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import orjson

from quorum.agents.llm.spending import Spent
from quorum.episode.episode_folder import PARTIAL
from quorum.episode.planned_cell import PlannedCell
from quorum.runs.finished import RETRIED, FinishedCell, finished_cell, read_finished, read_paid
from quorum.runs.results_folder import RESULTS
from quorum.runs.sweep_file import PLAN, SCHEMA, DamagedPlan, Sweep, read_sweep
from quorum.storage.files import require_file, write_all
from quorum.storage.outputs import require_writable
from quorum.storage.run_files import DamagedFile
from quorum.sweeps.accounts import Amounts
from quorum.sweeps.in_flight import IN_FLIGHT, charge_killed
from quorum.sweeps.ledger import LEDGER
from quorum.sweeps.plan import SweepPlan
from quorum_base.inside import list_inside, make_inside, move_inside, remove_inside
from quorum_base.user_errors import UserError

_HALF_WRITTEN = (f".{PLAN}.", f".{RESULTS}.", f".{LEDGER}.", f".{IN_FLIGHT}.")
"""Prefixes of temporary files."""
_PACKED = "packed"
_READ_AT_ONCE = 8
"""Cells that are read in parallel from a file system that makes readers wait."""
_SAMPLE = 32
"""Cells whose reading shows whether it does."""


class SweepFolder:
    """The folder of a sweep.

    Args:
        out: the folder that holds all results.
        name: name of the sweep.
    """

    def __init__(self, out: Path, name: str) -> None:
        self.path = out.absolute() / name
        self.name = name

    def check(self) -> None:
        """Check that the sweep can be written, before anything runs. Creates nothing.

        Raises:
            UserError: its folder cannot be created or written, or one of its file names belongs to something that is
                not a file.
        """
        require_writable(self.path, f"--out {self.path.parent}", "Give another folder: --out DIR.")
        for name in (PLAN, RESULTS):
            require_file(self.path / name, "Give the sweep another name: --name NAME.")
        if os.path.lexists(self.path / _PACKED):
            hint = f"Unpack each archive with tar xzf FILE -C {self.path}, then remove the folder."
            raise UserError(f"{self.path / _PACKED}: an older Quorum packed cells into this folder", hint)

    def look(self, cells: Iterable[PlannedCell]) -> tuple[dict[str, FinishedCell], dict[str, str]]:
        """Read and verify the existing cells; return the finished ones, and the reasons why others are damaged."""
        present = self._folders()
        there = [cell for cell in cells if cell.name in present]
        begin, used = time.perf_counter(), time.thread_time()
        found = [self._look_at(cell) for cell in there[:_SAMPLE]]
        # On a network, reads wait; on a fast disk they compute, and threads would only get in each other's way.
        waits = time.perf_counter() - begin > 2 * (time.thread_time() - used)
        if waits:
            with ThreadPoolExecutor(_READ_AT_ONCE) as threads:
                found += threads.map(self._look_at, there[_SAMPLE:])
        else:
            found += map(self._look_at, there[_SAMPLE:])
        return (
            {cell.name: one for cell, one in zip(there, found, strict=True) if isinstance(one, FinishedCell)},
            {cell.name: one for cell, one in zip(there, found, strict=True) if isinstance(one, str)},
        )

    def spent_elsewhere(self, cells: Iterable[PlannedCell]) -> Spent:
        """Return the spending of cells in the folder that belong to earlier plans."""
        names = {cell.name for cell in cells}
        earlier = (cell.name for cell in self._planned_before().cells if cell.name not in names)
        found = (read_finished(self.path / name) for name in earlier)
        return sum((done.spent for done in found if done is not None), Spent())

    def _folders(self) -> set[str]:
        """Return the names of the existing folders."""
        try:
            return set(os.listdir(self.path))
        except (FileNotFoundError, NotADirectoryError):  # `check` reports what stands in its place
            return set()

    def _look_at(self, cell: PlannedCell) -> FinishedCell | str:
        try:
            done = finished_cell(self.path / cell.name)
        except DamagedFile as damage:
            return damage.brief
        return done if done.hash == cell.hash else f"it is the run of another cell, with hash {done.hash[:8]}"

    def clear(self) -> dict[str, Amounts]:
        """Remove files that killed commands and workers left half-written. Call only while no worker is running.

        Answers in flight are charged first, while the record of answers that did arrive still exists.

        Returns:
            The most expensive answer of a killed command, by kind of cell; empty if no command was killed.
        """
        dearest = charge_killed(self.path)
        for entry in list(os.scandir(self.path)):
            if PARTIAL in entry.name and (entry.is_symlink() or entry.is_dir()):
                clear_partial(Path(entry.path))
            elif entry.name.startswith(_HALF_WRITTEN):
                remove_inside(self.path, entry.name)
        remove_inside(self.path, LEDGER)
        return dearest

    def retire(self, cell: PlannedCell) -> None:
        """Set aside the folder of a failed or damaged cell that is to run again, if it exists."""
        here = self.path / cell.name
        if os.path.lexists(here):
            _put_aside(here, cell.name)

    def write_manifest(self, plan: SweepPlan, arguments: Sequence[str] = (), command: str = "") -> bool:
        """Write `sweep.json`: this plan, followed by the finished parts of earlier plans.

        Returns:
            Whether it names the same cells as before.

        Raises:
            UserError: an arm of this plan had another meaning before, a newer Quorum wrote the file, or it cannot be
                written.
        """
        before = self._planned_before()
        for name, words in plan.arms.items():
            if list(words) != list(before.arms.get(name, words)):
                raise UserError(
                    f"{self.path / PLAN}: the arm {name!r} was {shlex.join(before.arms[name])} in this sweep",
                    "Give the sweep another name: --name NAME.",
                )
        names, present = {cell.name for cell in plan.cells}, self._folders()
        earlier = [cell for cell in before.cells if cell.name not in names and cell.name in present]
        used = {cell.arm for cell in earlier}
        cells = [
            *({"name": cell.name, "hash": cell.hash, "arm": cell.arm} for cell in plan.cells),
            *(cell.model_dump() for cell in earlier),
        ]
        data = {
            "schema": SCHEMA,
            "name": self.name,
            "experiment": plan.experiment,
            "arguments": arguments,
            "command": command,
            "arms": {**{name: words for name, words in before.arms.items() if name in used}, **plan.arms},
            "metrics": plan.metrics,
            "published": plan.published.model_dump() if plan.published is not None else None,
            **({"parents": parents} if (parents := self._parents(plan, before)) else {}),
            "cells": cells,
        }
        write_all(self.path, {PLAN: orjson.dumps(data, option=orjson.OPT_INDENT_2) + b"\n"})
        return [cell.model_dump() for cell in before.cells] == cells

    def _parents(self, plan: SweepPlan, before: Sweep) -> list[dict[str, str]]:
        """Return the runs from which cells branch, relative to this folder: this plan's, then earlier plans'."""
        here = os.path.realpath(self.path)
        now = [{**p.model_dump(), "run": os.path.relpath(os.path.realpath(p.run), here)} for p in plan.parents]
        earlier = [parent.model_dump() for parent in before.parents]
        return [*now, *(parent for parent in earlier if parent not in now)]

    def _planned_before(self) -> Sweep:
        """Read the earlier plan; empty if there is none or the file is damaged, in which case it is rewritten."""
        with suppress(DamagedPlan, DamagedFile):
            if (before := read_sweep(self.path)) is not None:
                return before
        return Sweep(schema=SCHEMA, name=self.name, cells=())


def clear_partials(folder: Path, name: str) -> Spent:
    """Remove what a dead worker left of a cell; return what the cell had spent."""
    left = [entry.path for entry in os.scandir(folder) if entry.name.startswith(f"{name}{PARTIAL}")]
    return sum((clear_partial(Path(path)) for path in sorted(left)), Spent())


def clear_partial(folder: Path) -> Spent:
    """Remove a half-written folder, or set it aside if it holds paid answers.

    Returns:
        What the attempt had spent.
    """
    spent = read_paid(folder)
    if spent.answers:
        _put_aside(folder, folder.name.partition(PARTIAL)[0])
    else:
        remove_inside(folder.parent, folder.name)
    return spent


def _put_aside(folder: Path, name: str) -> None:
    """Move the folder of an attempt to the cell's other attempts that are kept."""
    aside = f"{RETRIED}/{name}"
    make_inside(folder.parent, aside)
    move_inside(folder.parent, folder.name, f"{aside}/{len(list_inside(folder.parent, aside)) + 1}")
