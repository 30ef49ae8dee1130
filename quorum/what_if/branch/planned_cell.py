"""Branches as cells of a sweep: what a plan stores of each, and how a worker prepares it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import orjson

from quorum.configuration.cell import kind_of
from quorum.configuration.inputs import refuse_changed
from quorum.episode.expected import Rest
from quorum.episode.planned_cell import PlannedCell, Shared
from quorum.what_if.branch.branching import BranchStart
from quorum.what_if.branch.change import Change
from quorum.what_if.branch.origin import BranchOrigin
from quorum.what_if.branch.parent import Parent, PlannedBranch
from quorum_base.user_errors import UserError

_KEPT = 8
"""Number of runs that a process keeps in memory; others are read again."""


@dataclass(frozen=True, slots=True)
class PlannedBranchCell(PlannedCell):
    """A compact, picklable branch, so that a plan can hold many. It belongs to no line of episodes.

    Attributes:
        run: folder of its run, absolute.
        origin: its run and its branch point.
        change: what it changes.
        rest: cost of its run from the branch point on.
    """

    run: Path = field(kw_only=True)
    origin: BranchOrigin = field(kw_only=True)
    change: Change = field(kw_only=True)
    rest: Rest = field(kw_only=True)

    @classmethod
    def of_branch(cls, branch: PlannedBranch, run: Path, change: Change, draw: int) -> PlannedBranchCell:
        """Make the cell of a branch.

        Args:
            branch: its draw 0.
            run: folder of its run.
            change: what it changes.
            draw: number of the sample.
        """
        origin = replace(branch.origin, draw=draw)
        cell = replace(branch.cell, origin=origin)
        return cls(
            name=cell.name,
            hash=cell.hash,
            kind=kind_of(cell.plain, origin.t, origin.t_hat, origin.told),
            arm=None,
            uses_models=cell.configuration.uses_models,
            configuration=orjson.dumps(cell.plain),
            inputs=cell.inputs,
            run=run.absolute(),
            origin=origin,
            change=change,
            rest=branch.rest(),
        )

    def start(self, shared: Shared) -> BranchStart:
        """Return the start of its episode; this reads the recorded answers of its models again.

        Raises:
            UserError: its run is gone, or has changed since the branch was planned.
            InputsChanged: a template, a plug-in or a file has changed since.
        """
        parents: Parents = shared.setdefault(Parents, Parents())
        try:
            found = parents.open(self.run).branch(self.origin.instant, self.change, self.origin.draw)
        except UserError as error:
            raise UserError(f"{self.name}: its parent run: {error.message}", error.hint) from error
        refuse_changed(self.name, self.inputs, found.cell.inputs)
        if found.origin.prefix != self.origin.prefix or replace(found.cell, origin=self.origin).hash != self.hash:
            raise UserError(
                f"{self.name}: its parent run has changed since the plan was made: {self.run}",
                "Restore the run, or start a separate sweep: --name NAME.",
            )
        return found.start


class Parents:
    """Cache of the runs that this process has read."""

    def __init__(self) -> None:
        self._read = lru_cache(_KEPT)(Parent.open)
        self._reading = threading.Lock()

    def open(self, run: Path) -> Parent:
        """Return a run.

        Args:
            run: its folder, absolute.

        Raises:
            UserError: there is no such run, or it cannot be replayed.
        """
        with self._reading:  # otherwise, branches of one run that start together would all read it
            return self._read(run)
