"""What coordination costs and gains against a single mind, as in "Towards a science of scaling agent systems".

arXiv 2512.08296 defines, with T for the reasoning turns of a run:

| measure | formula |
|---|---|
| efficiency, E_c | success / (T / T of the single mind) |
| overhead, O | (T - T of the single mind) / T of the single mind |
| error amplification, A_e | error / error of the single mind, where an error is a run without success |
| synergy | completion of the team minus that of the single mind: its best member, if that one acts alone |

All of them are computed from means over the boards that both have. A turn is a call of a language model, or a thought
if either side makes no calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist, fmean

import numpy as np

from quorum.comparison.groups import Group
from quorum.comparison.statistics.flips import sign_flip_interval
from quorum.comparison.statistics.intervals import BLOCK, RESAMPLES, TAIL, Estimate, Floats, agree, t_quantile
from quorum.configuration.origin import Scalar

_TURNS = ("model.calls", "decision.thoughts")
_SUCCESS, _COMPLETION = "outcome.success", "outcome.completion"
_ONE_MIND = "cmas"
"""The kind of team in which a single mind calls a language model."""
_SINGLE_ARM = "solo"
_SEED = 20_261_126


@dataclass(frozen=True, slots=True)
class Coordination:
    """A team against a single mind on the same boards; intervals of ratios are percentiles of resampled boards.

    Attributes:
        efficiency: E_c.
        overhead: O, as a share.
        amplification: A_e; NaN if the single mind makes no error. Its upper end is infinite if the single mind makes no
            error in enough resamples.
        synergy: difference in completion, with the interval of the sign-flip test.
    """

    efficiency: Estimate
    overhead: Estimate
    amplification: Estimate
    synergy: Estimate


def is_single_mind(group: Group) -> bool:
    """Whether the runs of a group have a single mind: the arm `solo`, a team of one, or one mind for all agents."""
    return group.level == _SINGLE_ARM or all(
        row.factors.get("n") == 1 or row.factors.get("agents.name") == _ONE_MIND for row in group.rows
    )


def coordination(team: Group, single: Group) -> Coordination | None:
    """Measure a team against a single mind; None if they share no board, or if either has no turns."""
    turns = next((name for name in _TURNS if all(group.values(name).any() for group in (team, single))), None)
    if turns is None:
        return None
    metrics = (turns, _SUCCESS, _COMPLETION)
    found = [_by_board(group, metric) for group in (team, single) for metric in metrics]
    boards = [board for board in found[0] if all(board in one for one in found)]
    if not boards:
        return None
    values = np.array([[one[board] for board in boards] for one in found])
    t, success, completion, t_single, success_single, completion_single = values
    delta = completion - completion_single
    ends = sign_flip_interval(delta, share=True)
    return Coordination(
        efficiency=_of_means(lambda success, t, t_single: success * t_single / t, success, t, t_single),
        overhead=_of_means(lambda t, t_single: t / t_single - 1, t, t_single),
        amplification=_of_means(lambda error, error_single: error / error_single, 1 - success, 1 - success_single),
        synergy=Estimate(float(delta.mean()), *ends, len(boards), len(boards)),
    )


def _by_board(group: Group, metric: str) -> dict[Scalar, float]:
    """Return the mean of a metric on each board that defines it, as the mean of its cell means."""
    values: dict[Scalar, list[float]] = {}
    for cell, own in group.cells(metric).items():
        values.setdefault(cell[0], []).append(fmean(own))
    return {board: fmean(own) for board, own in values.items()}


def _of_means(compute: Callable[..., Floats], *columns: Floats) -> Estimate:
    """Return a function of means over boards, with a percentile bootstrap interval adjusted for few boards."""
    values = np.stack(columns)
    boards = values.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(compute(*values.mean(axis=1)))
        if not math.isfinite(value):
            return Estimate(math.nan, math.nan, math.nan, boards, boards)
        random, rows = np.random.default_rng(_SEED), max(1, BLOCK // boards)
        sizes = [(min(rows, RESAMPLES - begin), boards) for begin in range(0, RESAMPLES, rows)]
        means = [values[:, random.integers(0, boards, size)].mean(axis=2) for size in sizes]
        found = compute(*np.concatenate(means, axis=1))
    found = found[~np.isnan(found)]
    if boards < 2 or agree(found):
        return Estimate(value, math.nan, math.nan, boards, boards)
    tail = NormalDist().cdf(-math.sqrt(boards / (boards - 1)) * t_quantile(1 - TAIL, boards - 1))
    low, high = np.quantile(found, [tail, 1 - tail], method="nearest").tolist()
    return Estimate(value, low, high, boards, boards)
