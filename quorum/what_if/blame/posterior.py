"""The probability that each suspect is the cause, given its trials: a hierarchical Beta-Binomial model.

1. A change of a turn that has no own effect saves the run with a probability specific to the turn, drawn from a
  Beta distribution. All turns of a run share its mean and concentration, which are unknown and integrated out (Gelman
  et al., Bayesian Data Analysis, 3rd edition, section 5.3).
2. A correction that helps saves the run if a placebo would, and otherwise with its own probability (noisy or: Pearl,
  Probabilistic Reasoning in Intelligent Systems, 1988, section 4.3.2).
3. The correction of the cause helps. That of another turn helps with a probability that the turns of a run share: where
  a team is near its goal, or its outcome is luck, many changes help although nothing was wrong. A turn that the
  reference decides in the same way counts as one in which it does not help. The probability comes from a Beta
  distribution, estimated from failures in which nobody decided wrongly (Efron, Large-Scale Inference, 2010,
  chapter 6: an empirical null).
4. At most one suspect is the cause, so Bayes' rule gives the probability of each, and of none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from math import hypot, sqrt

import numpy as np
from numpy.typing import NDArray

NORMAL = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""
CONCENTRATIONS = (0.3, 1.0, 4.0, 16.0)
"""Equally probable concentrations of the Beta distribution; its mean is uniform."""
HELPS = 3
"""The probability that a correction that helps saves the run is drawn from Beta(HELPS, 1)."""
NOBODY = 0.65
"""The prior probability that no single decision is the cause. `python -m benchmarks.attribution prior` estimates it
from failures with and without a fault, which weigh the same: docs/attribution.md."""
ANYWAY = (0.1, 1.0)
"""The shape of the Beta distribution of the probability that a correction helps although its turn is not the cause,
from the same command: 0.09 on average, nearly 0 in most runs, and large in teams that act at random."""
_CHANCES = (np.arange(50) + 0.5) / 50


@dataclass(frozen=True, slots=True)
class Tally:
    """Successes among the trials of an arm.

    Attributes:
        wins: successes.
        draws: trials.
    """

    wins: int
    draws: int

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.wins + other.wins, self.draws + other.draws)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the share of successes (Wilson 1927); 0 to 1 without trials."""
        if not self.draws:
            return 0.0, 1.0
        n, share, z = self.draws, self.wins / self.draws, NORMAL
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        return max(middle - half, 0.0), min(middle + half, 1.0)


UNTRIED = Tally(0, 0)
"""No trials yet."""


def gain(corrected: Tally, placebo: Tally) -> tuple[float, float]:
    """Return the 95 % interval of P(success | corrected) - P(success | placebo) (Newcombe 1998, method 10).

    An arm without trials may have any share.
    """
    (low, high), (least, most) = corrected.interval, placebo.interval
    if not (corrected.draws and placebo.draws):
        return low - most, high - least
    share, other = corrected.wins / corrected.draws, placebo.wins / placebo.draws
    return share - other - hypot(share - low, most - other), share - other + hypot(high - share, other - least)


@cache
def _shapes() -> NDArray[np.float64]:
    """Return the Beta distributions on the grid; (chances, means x concentrations)."""
    means, sizes = (part.ravel()[:, None] for part in np.meshgrid(_CHANCES, CONCENTRATIONS))
    shapes = _CHANCES ** (means * sizes - 1) * (1 - _CHANCES) ** ((1 - means) * sizes - 1)
    found: NDArray[np.float64] = (shapes / shapes.sum(1, keepdims=True)).T
    return found


def posterior(
    arms: Sequence[tuple[Tally, Tally]], prior: Sequence[float], same: int = 0, anyway: tuple[float, float] = ANYWAY
) -> list[float]:
    """Return the probability of each suspect, and last the probability of none.

    Args:
        arms: the corrected and the placebo trials of each suspect, which may be empty.
        prior: prior probability of each suspect; the rest is that of none.
        same: number of turns that the reference decides in the same way, so that it does not help there.
        anyway: shape of the Beta distribution of the probability that a correction helps though it is not the cause.
    """
    helpful, useless = likelihoods(arms)
    points, weights = beta(anyway)
    others = helpful[..., None] * points + useless[..., None] * (1 - points)  # (suspects, shapes, points)
    none = np.full((1, *others.shape[1:]), 1 - sum(prior))
    odds = np.concatenate([np.array(prior)[:, None, None] * helpful[..., None] / others, none])
    evidence: NDArray[np.float64] = np.log(others).sum(0) + same * np.log1p(-points) + np.log(weights)
    found = (odds * np.exp(evidence - evidence.max())).sum((1, 2))
    return [float(one) for one in found / found.sum()]


def beta(shape: tuple[float, float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points and weights that stand for a Beta distribution, which may have most of its mass near 0."""
    edges = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 40)])
    points = (edges[1:] + edges[:-1]) / 2
    weights = np.diff(edges ** shape[0]) * (1 - points) ** (shape[1] - 1)
    return points, weights / weights.sum()


def likelihoods(arms: Sequence[tuple[Tally, Tally]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the likelihood of the trials of each suspect, if its correction helps and if not; (suspects, shapes)."""
    counts = [(c.wins, c.draws - c.wins, p.wins, p.draws - p.wins) for c, p in arms]
    wins, losses, saved, lost = np.array(counts, dtype=float).reshape(-1, 4).T[..., None]
    weights = _CHANCES ** (HELPS - 1) / (_CHANCES ** (HELPS - 1)).sum()
    fails = np.outer(1 - _CHANCES, 1 - _CHANCES)  # (chances, helps)
    corrected = ((1 - fails) ** wins[..., None] * fails ** losses[..., None]) @ weights
    placebo = _CHANCES**saved * (1 - _CHANCES) ** lost  # (suspects, chances)
    return (placebo * corrected) @ _shapes(), (placebo * _CHANCES**wins * (1 - _CHANCES) ** losses) @ _shapes()
