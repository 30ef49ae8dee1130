"""`quorum export --to preferences`: choose decisions, play their answers as a sweep of branches, and pair them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.providers.config import ProviderConfig
from quorum.configuration.providers.replay import ReplayConfig
from quorum.configuration.providers.simulated import SimulatedConfig
from quorum.configuration.schema import Configuration
from quorum.runs.sweep_file import SweepParent
from quorum.sweeps.command import run_sweep_command, show_plan
from quorum.sweeps.estimate import Forecast
from quorum.sweeps.plan import Planner, SweepPlan
from quorum.sweeps.run import SweepRequest, SweepResult
from quorum.what_if.branch.branches import check_parents, finished_runs
from quorum.what_if.branch.parent import Parent
from quorum.what_if.branch.planned_cell import PlannedBranchCell
from quorum.what_if.preferences.decisions import Decision, decisions_of, digest_of
from quorum.what_if.preferences.experiment import Design, Experiment
from quorum.what_if.preferences.pairs import Pairs
from quorum_base.user_errors import UserError


@dataclass(frozen=True, slots=True)
class AnswerGrid(Planner):
    """Plans the episodes of experiments, as far as their results so far determine them.

    Attributes:
        experiments: the experiments.
        foresees: whether to add plain branches for the episodes that are not known yet, to estimate their cost.
    """

    verb: ClassVar[str] = "export"
    multiplies: ClassVar[bool] = True

    experiments: Sequence[Experiment] = field(kw_only=True)
    foresees: bool = False

    def plan(self, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:  # noqa: ARG002 (nothing is composed)
        """Plan the episodes that are known to be needed.

        Raises:
            UserError: a run cannot be branched.
        """
        if words:
            raise UserError(f"{words[0]}: pairs are of the recorded models, so no key can change", "Leave it out.")
        cells: dict[str, PlannedBranchCell] = {}
        for experiment in self.experiments:
            found = experiment.look()
            more = experiment.placeholders(found.unknown, len(cells)) if self.foresees else []
            cells |= {cell.name: cell for cell in (*found.cells, *more)}
        origins = {(cell.run, cell.origin.instant, cell.origin.prefix): None for cell in cells.values()}
        return SweepPlan(
            experiment=None,
            words=(),
            arms={},
            cells=tuple(cells.values()),
            repeated=0,
            problems=(),
            places={cell.kind: f"{cell.run.name} --at {cell.origin.instant}" for cell in cells.values()},
            metrics=(),
            published=None,
            without_effect="",
            parents=tuple(SweepParent(run=str(run), at=str(at), prefix=prefix) for run, at, prefix in origins),
        )

    def check(self, planned: SweepPlan, folder: Path) -> None:
        """Refuse a sweep whose recorded runs are gone or have changed; see `BranchGrid.check`."""
        check_parents(planned, folder)


def experiments_of(folders: Sequence[Path], design: Design, most: int, place: Path) -> tuple[list[Experiment], int]:
    """Choose decisions of runs; return their experiments, and the number of runs.

    The order in which decisions are chosen is that of the digests of their prompts: as good as random, and a larger
    number keeps those of a smaller one, so that nothing is measured twice.

    Args:
        folders: runs, and sweeps, which include all of their runs that did not fail.
        design: what to measure at each decision.
        most: maximum number of decisions of a run.
        place: folder of the sweep that plays the episodes.

    Raises:
        UserError: a run cannot be branched, a model can give no other answer, or there is no decision.
    """
    found: list[Experiment] = []
    runs = list(finished_runs(folders))
    for run in runs:
        parent = Parent.open(run.absolute())
        for decision in sorted(decisions_of(parent.episode), key=lambda one: digest_of(one.call))[:most]:
            _require_sampling(run, parent.configuration, decision)
            found.append(Experiment(parent, decision, design, place))
    if not found:
        raise UserError(
            f"{', '.join(map(str, folders))}: no answer of a language model committed a plan or sent a message",
            "Give runs of a team that asks a model, for example agents=naive.",
        )
    return found, len(runs)


def _require_sampling(run: Path, configuration: Configuration, decision: Decision) -> None:
    """Refuse a model that can give no other answer to the same prompt."""
    model = configuration.llm_of(decision.agent, decision.call.get("role", ""))
    hint = "Export runs of a model that samples: llm.temperature=1."
    if isinstance(model, ReplayConfig):
        raise UserError(f"{run}: llm=replay has only one answer to each prompt", hint)
    temperature = model.temperature if isinstance(model, ProviderConfig) else None
    if temperature == 0 or (temperature is None and isinstance(model, SimulatedConfig)):
        raise UserError(
            f"{run}: the model of {decision.agent} has temperature {temperature}: it gives the same answer again", hint
        )


@dataclass(frozen=True, slots=True)
class Study:
    """Experiments, and the sweep that plays them.

    Attributes:
        experiments: the experiments.
        runs: number of runs of their decisions.
        design: what they measure.
        request: the sweep, without its planner.
    """

    experiments: Sequence[Experiment]
    runs: int
    design: Design
    request: SweepRequest

    @classmethod
    def of(cls, folders: Sequence[Path], design: Design, most: int, request: SweepRequest) -> Study:
        """Choose the decisions; see `experiments_of`."""
        place = request.folder("").path
        return cls(*experiments_of(folders, design, most, place), design, request)

    def forecast(self) -> Forecast:
        """Return what the sweep is expected to take at most: all sampled answers may differ. Plays nothing."""
        return show_plan(replace(self.request, planner=AnswerGrid(experiments=self.experiments, foresees=True)))

    def play(self, *, quiet: bool) -> SweepResult:
        """Play the episodes that are missing: first those that sample answers, then those that follow from them.

        Returns:
            The result of the last part. If it leaves something, the same request continues.

        Raises:
            UserError: the sweep cannot run, or paid models have no budget.
        """
        request = replace(self.request, planner=AnswerGrid(experiments=self.experiments))
        run = partial(run_sweep_command, request, quiet=quiet)
        result = run()
        while not (result.left or result.failed) and any(one.look().missing for one in self.experiments):
            result = run()
        return result

    def pairs(self) -> Pairs:
        """Return the pairs of all decisions that are measured completely."""
        found = Pairs(self.design, self.runs)
        for number, experiment in enumerate(self.experiments):
            found.add(number, experiment, experiment.look())
        return found
