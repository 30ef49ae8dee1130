"""Plan the cells of a study: those of its arms, in turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import ClassVar

from quorum.configuration.option_folders import ConfigDir
from quorum.episode.planned_cell import PlannedCell
from quorum.sweeps.experiment_file import Experiment
from quorum.sweeps.plan import Planner, SweepPlan, plan_experiment


@dataclass(frozen=True, slots=True)
class ArmsPlanner(Planner):
    """Plans the arms of a study.

    Attributes:
        experiment: the arms, as an experiment.
    """

    estimate: ClassVar[str] = "--plan --expect EFFECT,DEVIATION"

    experiment: Experiment

    def plan(self, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
        """Plan the cells. Control arms may have arguments without an effect."""
        planned = plan_experiment(self.experiment, words, config_dir)
        return replace(planned, without_effect="", cells=tuple(_board_by_board(planned.cells)))


def _board_by_board(cells: Sequence[PlannedCell]) -> Iterator[PlannedCell]:
    """Yield cells of arms in turns, so that a study that is stopped early has all arms on the same boards."""
    arms: dict[str | None, list[PlannedCell]] = {}
    for cell in cells:
        arms.setdefault(cell.arm, []).append(cell)
    for turn in zip_longest(*arms.values()):
        yield from (cell for cell in turn if cell is not None)
