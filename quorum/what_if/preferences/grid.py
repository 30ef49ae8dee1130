"""Plans the episodes of experiments as a sweep of branches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from quorum.configuration.option_folders import ConfigDir
from quorum.sweeps.plan import Planner, SweepPlan
from quorum.what_if.branch.branches import check_parents, plan_of
from quorum.what_if.branch.planned_cell import PlannedBranchCell
from quorum.what_if.preferences.experiment import Experiment


@dataclass(frozen=True, slots=True)
class AnswerGrid(Planner):
    """Plans the episodes of experiments, as far as their results determine them.

    Attributes:
        experiments: the experiments.
        foresees: whether to add plain branches for the episodes that are not known yet, to estimate their cost.
    """

    verb: ClassVar[str] = "export"
    multiplies: ClassVar[bool] = True

    experiments: Sequence[Experiment] = field(kw_only=True)
    foresees: bool = False

    def plan(self, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:  # noqa: ARG002 (no grid)
        """Plan the episodes that are known to be needed.

        Raises:
            UserError: a run cannot be branched.
        """
        cells: dict[str, PlannedBranchCell] = {}
        for experiment in self.experiments:
            found = experiment.look()
            more = experiment.placeholders(found.unknown, len(cells)) if self.foresees else []
            cells |= {cell.name: cell for cell in (*found.cells, *more)}
        return plan_of(
            cells.values(), {cell.kind: f"{cell.run.name} --at {cell.origin.instant}" for cell in cells.values()}
        )

    def check(self, planned: SweepPlan, folder: Path) -> None:
        """Refuse a sweep whose recorded runs are gone or have changed; see `BranchGrid.check`."""
        check_parents(planned, folder)
