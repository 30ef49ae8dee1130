"""Size and power of every effect of `quorum study talk`: python -m benchmarks.validity.studies DIR --out docs/validity.

Draws studies from the boards that `teams` has played, judges each as `quorum study` does, and compares the findings
with the signs known by construction. Writes `studies.csv` and `studies.md`, in a few minutes. `--check` computes the
p-values of the same studies with NumPy and SciPy alone.

The boards of a team form disjoint pools, and a study takes a random part of one pool. Its boards differ, so each study
is one of independent boards, and the shares of findings are unbiased. Studies of one pool share boards, so they are
dependent; pools are not. So the error of a share is its standard error over pools, but at least that of a binomial share
with two findings and two others more (Agresti and Coull 1998, Approximate Is Better than "Exact").
"""

from __future__ import annotations

import argparse
import csv
import math
import resource
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, fields
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks.validity.teams import ARMS, EFFECTS, TEAMS, WORLDS, Played, expected, file_of
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
POOLS = 5
ANY = "any but total"
"""The finding that some effect that a team does not have is called better or worse. `total` is not among them: it is
tested alone, and the others as a family.
"""
_SHOWN = (12, 40)
_EXACT = 12
"""Most boards of a study for which all signs are enumerated."""
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
    played, signs = Played.read(file_of(folder, world, team)), expected(team)
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
    rows.append((ANY, 0, found[:, :, family].any(axis=2)))
    return [_row(world, team, boards, effect, sign, values) for effect, sign, values in rows]


def _findings(effect: Effect, metric: str, truth: float) -> list[bool]:
    """Return the findings of a study about an effect, in the order of `_BETTER` to `_COVERED`."""
    mean, above = effect.difference.mean, effect.verdict is NoiseVerdict.ABOVE
    better = (mean.value < 0) == (METRICS[metric].better == "lower")
    covered = not (mean.low > truth or mean.high < truth)
    return [
        above and better,
        above and not better,
        effect.difference.p_holm <= LEVEL,
        effect.difference.p <= LEVEL,
        covered,
    ]


def _row(world: str, team: str, boards: int, effect: str, sign: int, found: NDArray[np.bool_]) -> Row:
    """Return a row; `found` has shape (pools, studies, 5)."""
    number = found.shape[0] * found.shape[1]
    shares = found.mean(axis=(0, 1))
    called = found[:, :, _BETTER] | found[:, :, _WORSE]
    error = float(called.mean(axis=1).std(ddof=1)) / math.sqrt(len(found))
    moderate = (called.sum() + 2) / (number + 4)
    error = max(error, math.sqrt(moderate * (1 - moderate) / (number + 4)))
    return Row(
        world,
        team,
        boards,
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


# Check, with nothing of the product's statistics


def exact_p(differences: Floats) -> float:
    """Return the two-sided p-value of random signs, over all of them; differences have shape (boards,), up to `_EXACT`."""
    signs = 1 - 2 * (np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences)) & 1)
    sums = np.abs(signs @ differences)
    return float((sums >= abs(differences.sum()) - 1e-9).mean())


def scipy_p(differences: Floats) -> float:
    """Return the p-value of SciPy's permutation test: over all signs up to 13 boards, else over 9,999 draws."""
    found = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=9_999, vectorized=True, rng=1
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
    """Compare p-values before Holm's correction on 20 studies: all with NumPy (up to `_EXACT` boards), some with SciPy."""
    world, team, boards = case
    played = Played.read(file_of(folder, world, team))
    with_numpy: list[tuple[float, float]] = []
    with_scipy: list[tuple[float, float]] = []
    for place, pool in enumerate(pools(played)):
        for number, scores in enumerate(draw(pool, boards, 4, place)):
            for effect in judged(scores, played.metric).effects:
                delta, p = difference(scores, effect.file.name), effect.difference.p
                if boards <= _EXACT:
                    with_numpy.append((p, exact_p(delta)))
                if number == 0:
                    with_scipy.append((p, scipy_p(delta)))
    return Agreement.of(with_numpy), Agreement.of(with_scipy)


# Write


def tables(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the Markdown of the page: for each world a table, then what all studies say together."""
    for world in WORLDS:
        yield f"**{world}**, `{WORLDS[world].words}`:\n"
        yield f"| team | {' | '.join((*EFFECTS, ANY))} |\n|---|{'---|' * (len(EFFECTS) + 1)}"
        for team in TEAMS:
            cells = (_shown(rows, world, team, effect) for effect in (*EFFECTS, ANY))
            yield f"| {team} | {' | '.join(cells)} |"
        yield ""
    yield "**Weak help**, the power for its two effects by boards:\n"
    yield f"| world | effect | {' | '.join(f'{boards} boards' for boards in BOARDS)} |\n|---|---|{'---|' * len(BOARDS)}"
    for world, effect in product(WORLDS, ("total", "content")):
        found = (_only(rows, world, "weak help", effect, boards) for boards in BOARDS)
        yield f"| {world} | {effect} | {' | '.join(f'{row.found:.0%} ({row.error:.0%})' for row in found)} |"
    yield ""
    yield from _sentences(rows)


def _sentences(rows: Sequence[Row]) -> Iterator[str]:
    without = [row for row in rows if not row.expected and row.effect != ANY]
    largest = max(without, key=lambda row: row.called)
    often = [row for row in without if row.too_often]
    yield (
        f"- **Size.** {len(without)} combinations of a world, a team, an effect that the team does not have, and a number "
        f"of boards. {len(often)} of them are called an effect in more than 5 % of studies by more than two errors"
        f"{_listed(often)}. The mean is {_mean(row.called for row in without):.1%}; the largest is "
        f"{largest.called:.1%} (error {largest.error:.1%}; {_named(largest)})."
    )
    for boards in BOARDS:
        some = [row.called for row in without if row.boards == boards]
        corrected = [row.significant for row in without if row.boards == boards]
        yield (
            f"  - {boards} boards: called {_mean(some):.1%} on average; significant after correction, whatever the noise "
            f"floor, {_mean(corrected):.1%}."
        )
    family = [row for row in rows if row.effect == ANY]
    most = max(family, key=lambda row: row.called)
    high = [row for row in family if row.too_often]
    yield (
        f"- **Family-wise.** Some effect that the team does not have is called in {_mean(row.called for row in family):.1%} "
        f"of studies on average, and in at most {most.called:.1%} (error {most.error:.1%}; {_named(most)}). "
        f"{len(high)} of {len(family)} are above 5 % by more than two errors{_listed(high)}. Holm's correction alone "
        f"gives {_mean(row.significant for row in family):.1%}, at most {max(row.significant for row in family):.1%}; "
        f"without correction {_mean(row.alone for row in family):.1%} of studies have some p <= 0.05."
    )
    there = [row for row in rows if row.expected]
    wrong = max(there, key=lambda row: row.worse if row.expected > 0 else row.better)
    yield (
        f"- **Wrong sign.** At most {max(wrong.worse if wrong.expected > 0 else wrong.better, 0):.1%} of studies call an "
        f"effect by the wrong sign ({_named(wrong)})."
    )
    first = [row for row in there if row.boards in _SHOWN and row.team != "weak help"]
    for boards in _SHOWN:
        powers = [row for row in first if row.boards == boards]
        least = min(powers, key=lambda row: row.found)
        yield (
            f"- **Power at {boards} boards**, all teams but weak help: {_mean(row.found for row in powers):.1%} on average, "
            f"at least {least.found:.1%} ({_named(least)})."
        )
    covered = [row for row in rows if row.effect != ANY]
    lowest = min(covered, key=lambda row: row.covered)
    yield (
        f"- **Intervals** contain the effect in {_mean(row.covered for row in covered):.1%} of studies, at least in "
        f"{lowest.covered:.1%} ({_named(lowest)})."
    )


def _shown(rows: Sequence[Row], world: str, team: str, effect: str) -> str:
    """Return the power in bold, or the size; with the larger of few and many boards last."""
    found = [_only(rows, world, team, effect, boards) for boards in _SHOWN]
    text = ", ".join(f"{100 * row.found:.0f}" for row in found)
    return f"**{text}**" if found[0].expected else text


def _only(rows: Sequence[Row], world: str, team: str, effect: str, boards: int) -> Row:
    wanted = (world, team, effect, boards)
    return next(row for row in rows if (row.world, row.team, row.effect, row.boards) == wanted)


def _listed(rows: Sequence[Row]) -> str:
    return f" ({'; '.join(f'{_named(row)}: {row.called:.1%}' for row in rows)})" if rows else ""


def _named(row: Row) -> str:
    return f"{row.world}, {row.team}, {row.effect}, {row.boards} boards"


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def write(folder: Path, out: Path, rows: Sequence[Row], seconds: float) -> None:
    """Write both files, with the commands and the CPU time."""
    played = [Played.read(file_of(folder, *case)) for case in product(WORLDS, TEAMS)]
    minutes = sum(one.seconds for one in played) / 60
    numbers = ", ".join(f"{small.boards:,} in {world}" for world, small in WORLDS.items())
    how = (
        f"`python -m benchmarks.validity.teams DIR` ({minutes:.0f} minutes of CPU), "
        f"`python -m benchmarks.validity.studies DIR --out docs/validity` ({seconds / 60:.0f})"
    )
    what = f"{rows[0].studies} studies a cell; boards of a team: {numbers}; {POOLS} pools"
    out.mkdir(parents=True, exist_ok=True)
    with (out / "studies.csv").open("w", newline="", encoding="utf-8") as file:
        file.write(f"# {how.replace('`', '')}; {what}\n")
        table = csv.writer(file, lineterminator="\n")
        table.writerow(field.name for field in fields(Row))
        for row in rows:
            values = (getattr(row, field.name) for field in fields(Row))
            table.writerow(f"{value:.4f}" if isinstance(value, float) else value for value in values)
    text = "\n".join((f"Measured with {how}: {what}.\n", *tables(rows)))
    (out / "studies.md").write_text(text + "\n", encoding="utf-8")


def main() -> None:
    """Draw and judge the studies, and write what they find; or check their p-values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the played boards")
    parser.add_argument("--out", type=Path, default=Path("docs/validity"))
    parser.add_argument("--studies", type=int, default=400, help="studies of each team, world and number of boards")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="compare p-values with those of NumPy and SciPy")
    chosen = parser.parse_args()
    cases = list(product(WORLDS, TEAMS, BOARDS))
    with ProcessPoolExecutor(chosen.processes) as pool:
        if chosen.check:
            found = list(pool.map(partial(check, chosen.folder), cases))
            for name, place, exact in (("NumPy", 0, True), ("SciPy", 1, True), ("SciPy", 1, False)):
                some = (pair[place] for pair, (*_, boards) in zip(found, cases, strict=True) if (boards <= _EXACT) is exact)
                signs = "all signs" if exact else "9,999 drawn signs"
                print(f"{name}, {signs}: {sum(some, start=Agreement(0, 0.0, 0))}")
            return
        measured = pool.map(partial(measure, chosen.folder, chosen.studies), cases)
        rows = [row for case in measured for row in case]
    write(chosen.folder, chosen.out, rows, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)


if __name__ == "__main__":
    main()
