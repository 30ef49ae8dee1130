"""A row of the results of a choice probe."""

from __future__ import annotations

from dataclasses import dataclass

from quorum.comparison.statistics.intervals import Estimate


@dataclass(frozen=True, slots=True)
class Row:
    """An arm of a model, over the decisions of all boards.

    Attributes:
        model: the model.
        by: `asked` if the messages ask the agents for the named task, `named` if they only name it.
        arm: the arm.
        decisions: number of decisions.
        probability: mean probability of the task that the heard messages name.
        odds: its log-odds.
        effect: its log-odds as heard, minus those in this arm.
        distance: mean total variation distance between the choices as heard and those of this arm.
    """

    model: str
    by: str
    arm: str
    decisions: int
    probability: float
    odds: Estimate
    effect: Estimate
    distance: float
