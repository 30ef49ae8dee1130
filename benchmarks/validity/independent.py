"""The p-values of the same studies by NumPy and SciPy alone: python -m benchmarks.validity.independent DIR."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.validity.studies import BOARDS, difference, draw, judged, pools
from benchmarks.validity.teams import TEAMS, WORLDS, Played

Floats = NDArray[np.float64]
LEVEL = 0.05
EXACT = 12
"""Most boards of a study for which all signs are enumerated."""
STUDIES = 4
"""Studies of a pool; SciPy computes the first."""


def exact_p(differences: Floats) -> float:
    """Return the two-sided p-value of random signs over all of them.

    Args:
        differences: one per board, shape (boards,), at most `EXACT`.
    """
    signs = 1 - 2 * (np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences)) & 1)
    sums = np.abs(signs @ differences)
    return float((sums >= abs(differences.sum()) - 1e-9).mean())


def _rounded(differences: Floats, axis: int) -> Floats:
    return np.asarray(np.round(differences.sum(axis=axis), 9))


def scipy_p(differences: Floats) -> float:
    """Return the p-value of SciPy's permutation test: over all signs up to 13 boards, else over 9,999 draws.

    Sums are rounded, so that equal sums of fractions in different orders are equal.
    """
    found = stats.permutation_test(
        (differences,), _rounded, permutation_type="samples", n_resamples=9_999, vectorized=True, rng=1
    )
    return float(found.pvalue)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far p-values of the product are from others.

    Attributes:
        tests: number of tests.
        apart: the largest distance.
        decisions: how many tests are significant in one and not in the other.
    """

    tests: int
    apart: float
    decisions: int

    @classmethod
    def of(cls, pairs: Sequence[tuple[float, float]]) -> Agreement:
        """Compare pairs of p-values."""
        apart = max((abs(one - other) for one, other in pairs), default=0.0)
        return cls(len(pairs), apart, sum((one <= LEVEL) != (other <= LEVEL) for one, other in pairs))

    def __add__(self, other: Agreement) -> Agreement:
        tests, decisions = self.tests + other.tests, self.decisions + other.decisions
        return Agreement(tests, max(self.apart, other.apart), decisions)

    def __str__(self) -> str:
        return f"{self.tests:,} tests, p at most {self.apart:.1e} apart, {self.decisions} decide otherwise"


def check(folder: Path, case: tuple[str, str, int]) -> tuple[Agreement, Agreement]:
    """Compare p-values before Holm's correction with NumPy's, up to `EXACT` boards, and some with SciPy's."""
    world, team, boards = case
    played = Played.read(folder, world, team)
    with_numpy: list[tuple[float, float]] = []
    with_scipy: list[tuple[float, float]] = []
    for place, pool in enumerate(pools(played)):
        for number, scores in enumerate(draw(pool, boards, STUDIES, place)):
            for effect in judged(scores, played.metric).effects:
                delta, p = difference(scores, effect.file.name), effect.difference.p
                if boards <= EXACT:
                    with_numpy.append((p, exact_p(delta)))
                if number == 0:
                    with_scipy.append((p, scipy_p(delta)))
    return Agreement.of(with_numpy), Agreement.of(with_scipy)


def main() -> None:
    """Compare the studies of all teams."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the played boards")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    cases = list(product(WORLDS, TEAMS, BOARDS))
    with ProcessPoolExecutor(chosen.processes) as pool:
        found = list(pool.map(partial(check, chosen.folder), cases))
    for name, place, exact in (("NumPy", 0, True), ("SciPy", 1, True), ("SciPy", 1, False)):
        some = (pair[place] for pair, (*_, boards) in zip(found, cases, strict=True) if (boards <= EXACT) is exact)
        print(f"{name}, {'all' if exact else '9,999 drawn'} signs: {sum(some, start=Agreement(0, 0.0, 0))}")


if __name__ == "__main__":
    main()
