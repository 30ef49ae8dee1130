"""The probability that each suspect is the cause, given its trials: a hierarchical Beta-Binomial model.

1. A change of a turn that is not the cause saves the run with a probability specific to the turn, drawn from a Beta
  distribution. All turns of a run share its mean and concentration, which are unknown and integrated out (Gelman et
  al., Bayesian Data Analysis, 3rd edition, section 5.3).
2. The correction of the cause saves the run if a placebo would, and otherwise with its own probability (noisy or:
  Pearl, Probabilistic Reasoning in Intelligent Systems, 1988, section 4.3.2), which is 1 if re-runs are deterministic.
3. At most one suspect is the cause, so Bayes' rule gives the probability of each, and of none.
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
"""In a run with luck, the probability that the correction of the cause saves it is drawn from Beta(HELPS, 1)."""
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


def posterior(arms: Sequence[tuple[Tally, Tally]], prior: Sequence[float], *, exact: bool) -> list[float]:
    """Return the probability of each suspect, and last the probability of none.

    Args:
        arms: the corrected and the placebo trials of each suspect, which may be empty.
        prior: prior probability of each suspect; the rest is that of none.
        exact: whether the same change always ends the same way.
    """
    counts = [(c.wins, c.draws - c.wins, p.wins, p.draws - p.wins) for c, p in arms]
    wins, losses, saved, lost = np.array(counts, dtype=float).reshape(-1, 4).T[..., None]
    shapes = _shapes()
    helps = np.ones(1) if exact else _CHANCES
    weights = helps ** (HELPS - 1) / (helps ** (HELPS - 1)).sum()
    fails = np.outer(1 - _CHANCES, 1 - helps)  # (chances, helps)
    corrected = ((1 - fails) ** wins[..., None] * fails ** losses[..., None]) @ weights
    placebo = _CHANCES**saved * (1 - _CHANCES) ** lost  # (suspects, chances)
    innocent = (placebo * _CHANCES**wins * (1 - _CHANCES) ** losses) @ shapes
    guilty = (placebo * corrected) @ shapes
    odds = np.vstack([np.array(prior)[:, None] * guilty / innocent, np.full((1, shapes.shape[1]), 1 - sum(prior))])
    evidence: NDArray[np.float64] = np.log(innocent).sum(0)
    found = odds @ np.exp(evidence - evidence.max())
    return [float(one) for one in found / found.sum()]
