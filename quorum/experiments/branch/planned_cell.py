"""Branches as cells of a sweep: what a plan keeps of one, and how a worker makes it ready to run."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import orjson

from maeil.trace import Instant
from maeil.user_errors import UserError
from quorum.experiments.branch.change import Change
from quorum.experiments.branch.parent import Parent, PlannedBranch
from quorum.experiments.configuration.cell import Branch, Cell, PlannedCell, kind_of
from quorum.experiments.configuration.inputs import recorded, refuse_changed
from quorum.experiments.configuration.schema import validate
from quorum.experiments.episode.expected import Rest

_KEPT = 8
"""Runs that a process keeps in memory; another one is read again."""


@dataclass(frozen=True, slots=True)
class PlannedBranchCell(PlannedCell):
    """A branch in few bytes, so that a plan can hold many; it can be pickled. It is in no line of episodes.

    Attributes:
        run: folder of its run, absolute.
        branch: its run and its branch point.
        change: what it changes.
        rest: what its run took from the branch point on.
    """

    run: Path = field(kw_only=True)
    branch: Branch = field(kw_only=True)
    change: Change = field(kw_only=True)
    rest: Rest = field(kw_only=True)

    @classmethod
    def of_branch(cls, cell: Cell, run: Path, change: Change, rest: Rest) -> PlannedBranchCell:
        """Make one of a branch.

        Args:
            cell: the branch.
            run: folder of its run.
            change: what it changes.
            rest: what its run took from the branch point on.
        """
        branch = cell.branch
        if branch is None:
            raise TypeError(f"{cell.name} is no branch")
        return cls(
            name=cell.name,
            hash=cell.hash,
            kind=kind_of(cell.plain, branch.t, branch.t_hat, branch.told),
            arm=None,
            uses_models=cell.configuration.uses_models,
            configuration=orjson.dumps(cell.plain),
            inputs=cell.inputs,
            run=run.absolute(),
            branch=branch,
            change=change,
            rest=rest,
        )

    @property
    def instant(self) -> Instant:
        """Its branch point."""
        return Instant(self.branch.t, self.branch.t_hat)

    def cell(self) -> Cell:
        """Return the cell itself. This does not read its run."""
        configuration = validate(orjson.loads(self.configuration), recorded=True)
        return Cell(configuration, configuration.plain(), recorded(self.inputs)(configuration), self.branch)


class Parents:
    """The runs that this process has read, each once as long as branches ask for it."""

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
        with self._reading:  # or else branches of one run that start together would all read it
            return self._read(run)

    def branch(self, planned: PlannedBranchCell) -> PlannedBranch:
        """Make a planned branch ready to run; this reads the recorded answers of its models again.

        Raises:
            UserError: its run is gone, or has changed since the branch was planned.
            InputsChanged: a template, a plug-in or a file has changed since.
        """
        try:
            found = self.open(planned.run).branch(planned.instant, planned.change, planned.branch.draw)
        except UserError as error:
            raise UserError(f"{planned.name}: its run: {error.message}", error.hint) from error
        refuse_changed(planned.name, planned.inputs, found.cell.inputs)
        cell = replace(found.cell, branch=planned.branch)
        if found.cell.branch is None or found.cell.branch.prefix != planned.branch.prefix or cell.hash != planned.hash:
            raise UserError(
                f"{planned.name}: its run has changed since it was planned: {planned.run}",
                "Restore the run, or start a separate sweep: --name NAME.",
            )
        return replace(found, cell=cell)
