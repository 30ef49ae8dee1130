"""Size and power of every effect of `quorum study talk`: studies of boards that `teams` has played.

Each study is judged as `quorum study` does, and its findings are compared with the signs known by construction.

The boards of a team form disjoint pools, and a study takes a random part of one pool. Its boards differ, so each study
is one of independent boards, and the shares of findings are unbiased. Studies of one pool share boards, so they are
dependent; pools are not. So the error of a share is its standard error over pools, but at least that of a binomial
share with two findings and two others more (Agresti and Coull 1998, Approximate Is Better than "Exact").
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.validity.teams import ARMS, EFFECTS, Played, expected
from maeil.metrics import METRICS
from quorum.comparison.differences import Cells
from quorum.comparison.statistics.flips import LEVEL
from quorum.study.analysis import Effect, Judged, judge
from quorum.study.noise import NoiseVerdict
from quorum.study.question import EffectFile, load_question

Floats = NDArray[np.float64]
FILES: Mapping[str, EffectFile] = {file.name: file for file in load_question("talk").effects if file.name in EFFECTS}
BOARDS = (6, 12, 20, 40)
"""Numbers of boards of a study."""
POOLS = 4
ANY = "any but total"
"""The finding that some effect that a team does not have is called better or worse. `total` is not among them: it is
tested alone, and the others as a family.
"""
_BETTER, _WORSE, _SIGNIFICANT, _ALONE, _COVERED = range(5)


@dataclass(frozen=True, slots=True)
class Row:
    """What studies of a team find about an effect.

    Attributes:
        world: name of the world.
        team: name of the team.
        boards: number of boards of a study.
        effect: name of the effect; `ANY` for those that the team does not have.
        expected: its sign: 1 better, -1 worse, 0 none.
        studies: number of studies.
        better: share of studies that call it better, above the noise floor.
        worse: share that call it worse.
        called: share that call it either.
        error: standard error of `called`.
        significant: share with p <= 0.05, corrected by Holm except for the first effect, whatever the noise floor.
        alone: share with p <= 0.05 before the correction.
        covered: share whose interval contains the effect: 0, or its mean over the other pools. An interval without an
            end contains all. NaN for `ANY`.
    """

    world: str
    team: str
    boards: int
    effect: str
    expected: int
    studies: int
    better: float
    worse: float
    called: float
    error: float
    significant: float
    alone: float
    covered: float

    @property
    def found(self) -> float:
        """The power for an effect: the share that find its sign. The size for none: the share that find any."""
        return {1: self.better, -1: self.worse, 0: self.called}[self.expected]

    @property
    def too_often(self) -> bool:
        """Whether more than 5 % of studies find an effect that does not exist, by more than two errors."""
        return not self.expected and self.called > LEVEL + 2 * self.error


def judged(scores: Floats, metric: str) -> Judged:
    """Analyse a study with one run of each arm on each board, shape (arms, boards)."""
    cells: dict[str, Cells] = {
        arm: {(board,): [score] for board, score in enumerate(row)}
        for arm, row in zip(ARMS, scores.tolist(), strict=True)
    }
    return judge([FILES[effect] for effect in EFFECTS], cells, METRICS[metric])


def pools(played: Played) -> list[Floats]:
    """Return the disjoint pools of boards of a team, each of shape (arms, boards)."""
    return np.array_split(played.scores, POOLS, axis=1)


def draw(pool: Floats, boards: int, studies: int, place: int) -> Iterator[Floats]:
    """Yield the scores of studies of some boards of a pool, each of shape (arms, boards).

    Raises:
        ValueError: the pool has too few boards.
    """
    random = np.random.default_rng((boards, place))
    for _ in range(studies):
        yield pool[:, random.choice(pool.shape[1], boards, replace=False)]


def difference(scores: Floats, effect: str) -> Floats:
    """Return the differences of the two arms of an effect, shape (boards,)."""
    file = FILES[effect]
    return np.asarray(scores[ARMS.index(file.plus)] - scores[ARMS.index(file.minus)])


def measure(folder: Path, studies: int, case: tuple[str, str, int]) -> list[Row]:
    """Return the rows of a team in a world, for studies of a number of boards."""
    world, team, boards = case
    played, signs = Played.read(folder, world, team), expected(team)
    found = np.empty((POOLS, studies // POOLS, len(EFFECTS), 5), dtype=np.bool_)
    parts = pools(played)
    for place, pool in enumerate(parts):
        others = np.concatenate([part for part in parts if part is not pool], axis=1)
        truths = [float(difference(others, effect).mean()) if signs[effect] else 0.0 for effect in EFFECTS]
        for number, scores in enumerate(draw(pool, boards, studies // POOLS, place)):
            effects = {effect.file.name: effect for effect in judged(scores, played.metric).effects}
            found[place, number] = [
                _findings(effects[name], played.metric, truth) for name, truth in zip(EFFECTS, truths, strict=True)
            ]
    family = [place for place, effect in enumerate(EFFECTS) if not signs[effect] and effect != EFFECTS[0]]
    rows = [(effect, signs[effect], found[:, :, place]) for place, effect in enumerate(EFFECTS)]
    rows.append((ANY, 0, np.asarray(found[:, :, family].any(axis=2))))
    return [_row(case, effect, sign, values) for effect, sign, values in rows]


def _findings(effect: Effect, metric: str, truth: float) -> list[bool]:
    """Return the findings of a study about an effect, in the order of `_BETTER` to `_COVERED`."""
    mean, found = effect.difference.mean, effect.verdict is NoiseVerdict.FOUND
    better = (mean.value < 0) == (METRICS[metric].better == "lower")
    covered = not (mean.low > truth or mean.high < truth)
    return [
        found and better,
        found and not better,
        effect.difference.p_holm <= LEVEL,
        effect.difference.p <= LEVEL,
        covered,
    ]


def _row(case: tuple[str, str, int], effect: str, sign: int, found: NDArray[np.bool_]) -> Row:
    """Return a row; `found` has shape (pools, studies, 5)."""
    number = found.shape[0] * found.shape[1]
    shares = found.mean(axis=(0, 1))
    called = found[:, :, _BETTER] | found[:, :, _WORSE]
    error = float(called.mean(axis=1).std(ddof=1)) / math.sqrt(len(found))
    moderate = (called.sum() + 2) / (number + 4)
    error = max(error, math.sqrt(moderate * (1 - moderate) / (number + 4)))
    return Row(
        *case,
        effect,
        sign,
        number,
        better=float(shares[_BETTER]),
        worse=float(shares[_WORSE]),
        called=float(called.mean()),
        error=error,
        significant=float(shares[_SIGNIFICANT]),
        alone=float(shares[_ALONE]),
        covered=math.nan if effect == ANY else float(shares[_COVERED]),
    )
