"""The teams without a mind that play a published figure too: chance and echo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from quorum.agents.simulated import CHANCE, ECHO
from quorum.comparison.floors import with_example
from quorum.configuration.option_folders import ConfigDir
from quorum.study.arms import replaced
from quorum.study.reproduce.figure_file import ExperimentPart
from quorum.sweeps.experiment_file import Experiment, load
from quorum.sweeps.plan import Planner, SweepPlan, plan_experiment

MODELS: Mapping[str, str] = {CHANCE: "llm=random", ECHO: "llm=echo"}
"""The argument that makes each floor. Both are free, and send nothing to a service."""


@dataclass(frozen=True, slots=True)
class FloorPlanner(Planner):
    """Plans the judged arms of an experiment without a mind, on the same boards.

    Teams of rules ask no model: for chance they draw plans at random, and there is no echo of them.

    Attributes:
        floor: `chance` or `echo`.
        part: the experiment, as a part of a figure.
    """

    floor: str
    part: ExperimentPart

    def plan(self, words: Sequence[str], config_dir: ConfigDir = ()) -> SweepPlan:
        """Plan the cells."""
        experiment = load(self.part.experiment, config_dir)
        words = with_example(words)
        arms = {
            arm: (*with_example(own), MODELS[self.floor]) for arm, own in judged_arms(self.part, experiment).items()
        }
        planned = plan_experiment(experiment.model_copy(update={"arms": arms}), words, config_dir)
        if rules := {str(cell.arm) for cell in planned.cells if not cell.uses_models}:
            arms = {arm: own if arm not in rules else replaced(own, ["agents=random", "topology=individual"])
                    for arm, own in arms.items() if arm not in rules or self.floor == CHANCE}  # fmt: skip
            planned = plan_experiment(experiment.model_copy(update={"arms": arms}), words, config_dir)
        return replace(planned, without_effect="")


def judged_arms(part: ExperimentPart, experiment: Experiment) -> Mapping[str, Sequence[str]]:
    """Return the arms that some point compares; all if a claim pools over them."""
    if any((claim.by or part.by) != "arm" for claim in part.claims):
        return experiment.arms
    named = {level for claim in part.claims for one, _, other in claim.pairs for level in (one, other)}
    if part.numbers and experiment.published is not None:
        named |= {str(row[experiment.published.factors.index("arm")]) for row in experiment.published.rows}
    return {arm: own for arm, own in experiment.arms.items() if arm in named}
