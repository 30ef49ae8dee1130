"""The teams that know nothing of the task and play a published figure too: chance and echo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quorum.configuration.option_folders import ConfigDir
from quorum.study.arms import replaced
from quorum.study.reproduce.figure_file import ExperimentPart
from quorum.study.reproduce.points import CHANCE, ECHO
from quorum.sweeps.experiment_file import Experiment, load
from quorum.sweeps.plan import Planner, SweepPlan, plan_experiment

MODELS: Mapping[str, str] = {CHANCE: "random", ECHO: "echo"}
"""The provider of each team. Both are free, and send nothing to a service."""


@dataclass(frozen=True, slots=True)
class ControlPlanner(Planner):
    """Plans the judged arms of an experiment with other answers, on the same boards.

    Teams of rules ask no model: for chance they draw plans at random, and echo has none of them.

    Attributes:
        team: `chance` or `echo`.
        part: the experiment, as a part of a figure.
    """

    team: str
    part: ExperimentPart

    def plan(self, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
        """Plan the cells. Arguments of the figure's own model may have no effect."""
        experiment = load(self.part.experiment, config_dir)
        model = f"llm={MODELS[self.team]}"
        arms = {arm: [*own, model] for arm, own in _judged(self.part, experiment).items()}
        planned = plan_experiment(experiment.model_copy(update={"arms": arms}), words, config_dir)
        rules = {str(cell.arm) for cell in planned.cells if not cell.uses_models}
        if rules:
            drawn = {arm: replaced(arms[arm], ["agents=random", "topology=individual"]) for arm in rules}
            arms = {**{arm: own for arm, own in arms.items() if arm not in rules}, **(drawn if self.team == CHANCE else {})}
            planned = plan_experiment(experiment.model_copy(update={"arms": arms}), words, config_dir)
        return replace(planned, without_effect="")


def _judged(part: ExperimentPart, experiment: Experiment) -> Mapping[str, Sequence[str]]:
    """Return the arms that some point compares; all if a claim pools over arms."""
    if any((claim.by or part.by) != "arm" for claim in part.claims):
        return experiment.arms
    named = {level for claim in part.claims for one, _, other in claim.pairs for level in (one, other)}
    if part.numbers and experiment.published is not None:
        place = [*experiment.published.factors].index("arm")
        named |= {str(row[place]) for row in experiment.published.rows}
    return {arm: own for arm, own in experiment.arms.items() if arm in named}
