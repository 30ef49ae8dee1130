"""Branches as cells of a sweep: what a plan holds of one, and how a worker brings its beginning back."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from pathlib import Path

import orjson

from maeil.trace import Instant
from maeil.user_errors import UserError
from quorum.experiments.branch.change import Change
from quorum.experiments.branch.parent import Parent, PlannedBranch
from quorum.experiments.configuration.cell import Branch, Cell, PlannedCell
from quorum.experiments.configuration.inputs import recorded, refuse_changed
from quorum.experiments.configuration.schema import validate

_KEPT = 8
"""Runs that a process keeps as it has read them; one that is asked for again later is read again."""


@dataclass(frozen=True, slots=True)
class PlannedBranchCell(PlannedCell):
    """A branch in so few bytes that a plan can hold many; it can be pickled. It is in no line.

    Attributes:
        run: folder of the run that it branches off, absolute.
        branch: what it branches off.
        change: what is another from the instant on.
        left: thoughts that its run has from the instant on.
    """

    run: Path = field(kw_only=True)
    branch: Branch = field(kw_only=True)
    change: Change = field(kw_only=True)
    left: int = field(kw_only=True)

    @classmethod
    def of_branch(cls, cell: Cell, run: Path, change: Change, left: int) -> PlannedBranchCell:
        """Keep what a plan needs of a branch.

        Args:
            cell: the branch.
            run: folder of its run.
            change: what is another in it.
            left: thoughts that its run has from the instant on.
        """
        branch = cell.branch
        if branch is None:
            raise TypeError(f"{cell.name} is no branch")
        what = [{**cell.plain, "seed": None, "episode": None}, branch.t, branch.t_hat, branch.told]
        return cls(
            name=cell.name,
            hash=cell.hash,
            kind=hashlib.sha256(orjson.dumps(what)).hexdigest(),
            arm=None,
            uses_models=cell.configuration.uses_models,
            configuration=orjson.dumps(cell.plain),
            inputs=cell.inputs,
            run=run.absolute(),
            branch=branch,
            change=change,
            left=left,
        )

    @property
    def instant(self) -> Instant:
        """From which on it is live."""
        return Instant(self.branch.t, self.branch.t_hat)

    def cell(self) -> Cell:
        """Return the cell itself, without its beginning: its run is not read."""
        configuration = validate(orjson.loads(self.configuration), recorded=True)
        return Cell(configuration, configuration.plain(), recorded(self.inputs)(configuration), self.branch)


class Parents:
    """The runs that branches come off, as this process has read them: each once, while it is asked for."""

    def __init__(self) -> None:
        self._read: OrderedDict[Path, Parent] = OrderedDict()
        self._reading = threading.Lock()

    def open(self, run: Path) -> Parent:
        """Return a run.

        Args:
            run: its folder, absolute.

        Raises:
            UserError: there is no such run, or it cannot be brought back.
        """
        with self._reading:
            parent = self._read.pop(run, None) or Parent.open(run)
            self._read[run] = parent
            if len(self._read) > _KEPT:
                self._read.popitem(last=False)
            return parent

    def branch(self, planned: PlannedBranchCell) -> PlannedBranch:
        """Return a planned branch with the beginning that it has; what its models answered is read anew.

        Raises:
            UserError: its run is gone, or is not what it was when the branch was planned.
            InputsChanged: a template, a plug-in or a file is not what it was then.
        """
        try:
            found = self.open(planned.run).branch(planned.instant, planned.change, planned.branch.draw)
        except UserError as error:
            raise UserError(f"{planned.name}: the run that it branches off: {error.message}", error.hint) from error
        refuse_changed(planned.name, planned.inputs, found.cell.inputs)
        cell = replace(found.cell, branch=planned.branch)
        if found.cell.branch is None or found.cell.branch.prefix != planned.branch.prefix or cell.hash != planned.hash:
            raise UserError(
                f"{planned.name}: the run that it branches off has changed since: {planned.run}",
                "Bring the run back as it was, or start a sweep of the present one: --name NAME.",
            )
        return replace(found, cell=cell)
