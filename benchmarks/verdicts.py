"""Whether the verdicts of studies hold, by code that shares nothing with Quorum: python -m benchmarks.verdicts.

It draws studies of known truth, and measures how far the rules of `benchmarks/verdict_rules.py` are from it: the share
of the room, the bets of `--until`, the noise floor, the verdict, and `--plan`.

Prints Markdown tables; `--csv FILE` also writes all figures. With 2,000 studies, a share of 0.05 is measured to 0.010,
and one of 0.9 to 0.013 (two standard errors).
"""

from __future__ import annotations

import argparse
import csv
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

from benchmarks.verdict_rules import (
    Bools,
    Floats,
    Pilot,
    Planned,
    assurance,
    bets,
    floor_rule,
    planned_boards,
    room_rule,
    sign_flip_p,
    sign_patterns,
    verdict_rule,
)

Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
BOARDS = (6, 12, 20, 40)


def _ties(differ: float) -> Draw:
    """Return draws of outcomes of 0 or 1: on this share of the boards two draws can differ, and do in half of cases."""

    def draw(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        chance = np.where(random.random(shape[1:]) < 2 * differ, 0.5, random.integers(0, 2, shape[1:]))
        return np.asarray(random.random(shape) < chance, dtype=np.float64)

    return draw


def _some(differ: float) -> Draw:
    """Return draws that vary, by a normal amount, on this share of the boards only."""

    def draw(random: np.random.Generator, shape: tuple[int, ...]) -> Floats:
        return np.where(random.random(shape[1:]) < differ, random.normal(size=shape), 0.0)

    return draw


DRAWS: Mapping[str, Draw] = {
    "normal": lambda random, shape: random.normal(size=shape),
    "t, 3 degrees of freedom": lambda random, shape: random.standard_t(3, shape) / math.sqrt(3),
    "exponential": lambda random, shape: random.exponential(size=shape) - 1,
    "lognormal": lambda random, shape: (random.lognormal(size=shape) - math.exp(0.5)) / math.sqrt(math.e**2 - math.e),
}
"""Draws of one arm on a board, with the mean 0 and the standard deviation 1; shape (arms, studies, boards)."""
TIED: Mapping[str, Draw] = {
    "0 or 1, 60 % of boards tie": _ties(0.4),
    "0 or 1, 80 % of boards tie": _ties(0.2),
    "0 or 1, 90 % of boards tie": _ties(0.1),
    "normal, 60 % of boards tie": _some(0.4),
    "normal, 90 % of boards tie": _some(0.1),
}


class Null(NamedTuple):
    """Differences with the mean 0, and their bound."""

    draw: Draw
    bound: float


def _capped(variable: stats.rv_continuous, most: float) -> Null:
    """Return a variable from 0 on, cut at a most value, minus its mean."""
    mean = variable.expect(lambda x: x, lb=0, ub=most) + most * variable.sf(most)
    return Null(lambda random, shape: np.minimum(variable.rvs(shape, random_state=random), most) - mean, most)


def _choice(values: Sequence[float], chances: Sequence[float], bound: float) -> Null:
    return Null(lambda random, shape: random.choice(values, p=chances, size=shape), bound)


NULLS: Mapping[str, Null] = {
    "normal, at most 4": Null(lambda random, shape: np.clip(random.normal(size=shape), -4, 4), 4),
    "t, 3 degrees of freedom, at most 9": Null(lambda random, shape: np.clip(random.standard_t(3, shape), -9, 9), 9),
    "exponential, at most 10": _capped(stats.expon(), 10),
    "lognormal, at most 20": _capped(stats.lognorm(1), 20),
    "nine boards -1, one +9": _choice((-1.0, 9.0), (0.9, 0.1), 9),
    "nine boards +1, one -9": _choice((1.0, -9.0), (0.9, 0.1), 9),
    "-1, 0 or 1, 80 % tie": _choice((-1.0, 0.0, 1.0), (0.1, 0.8, 0.1), 1),
}
LOOKS = (6, 12, 20, 40, 150, 500)
EFFECTS = (1.0, 0.7, 0.5)
LIMITS = (2.0, 4.0, 10.0, 40.0)


@dataclass(frozen=True, slots=True)
class Row:
    """A measured figure.

    Attributes:
        table: what it is about.
        case: what was drawn.
        boards: number of boards of a study.
        what: name of the figure.
        value: the figure.
        studies: number of studies behind it.
    """

    table: str
    case: str
    boards: int
    what: str
    value: float
    studies: int


def _row(table: str, case: str, boards: int, what: str, values: Floats | Bools) -> Row:
    return Row(table, case, boards, what, float(np.mean(values)) if len(values) else math.nan, len(values))


def rooms(studies: int) -> Iterator[Row]:
    """Yield how the share of the room errs: bias of the median, coverage, and shares that should not be stated."""
    for number, (name, draw) in enumerate(DRAWS.items()):
        for size in (0.0, 0.5, 1.0, 3.0):
            for truth in (0.0, 0.5, 1.0) if size else (0.0,):
                for boards in BOARDS:
                    random = np.random.default_rng([11, number, boards])
                    arm, silent, reference = draw(random, (3, studies, boards))
                    gain, room = truth * size + arm - silent, size + reference - silent
                    found = room_rule(gain, room, truth)
                    stated = ~np.isnan(found.share)
                    case = f"{name}; room {size:g}, share {truth:g}"
                    wrong = stated if size == 0 else stated & ~found.covers  # without room, any share is wrong
                    yield _row("room", case, boards, "states a share", stated)
                    yield _row("room", case, boards, "states an interval without the truth", wrong)
                    if size and stated.sum() >= 100:
                        bias = float(np.median(found.share[stated])) - truth
                        yield Row("room", case, boards, "bias of the stated share", bias, int(stated.sum()))
                        yield _row("room", case, boards, "coverage of the stated interval", found.covers[stated])
                    with np.errstate(invalid="ignore"):
                        chosen = np.where(room > 0, gain, 0).sum(axis=1) / np.where(room > 0, room, 0).sum(axis=1)
                    bias = float(np.nanmedian(chosen)) - truth
                    yield Row("room", case, boards, "bias over boards chosen by the same runs", bias, studies)


PLANS: Mapping[str, Planned | None] = {
    "no plan": None,
    "planned: +0.5 deviations": Planned(0.5, 1.0),
    "planned: -2 deviations": Planned(-2.0, 1.0),
}


def looks(studies: int) -> Iterator[Row]:
    """Yield how often a study without an effect is significant at some look, with a look after every board."""
    for number, (name, null) in enumerate(NULLS.items()):
        drawn = null.draw(np.random.default_rng([12, number]), (studies, LOOKS[-1]))
        deviation = float(drawn.std())
        for plan, planned in PLANS.items():
            units = Planned(planned.effect * deviation, planned.deviation * deviation) if planned else None
            for shift in (0.0, 0.5):  # the truth is rejected as often where it is not 0
                moved, bound = drawn + shift * deviation, null.bound + shift * deviation
                ever = np.maximum.accumulate(bets(moved, bound, units, shift * deviation), axis=1) >= 20
                for boards in LOOKS:
                    what = f"{plan}; rejects the true mean, {'0' if not shift else '0.5 deviations'}"
                    yield _row("until", name, boards, what, ever[:, boards - 1])


def costs(studies: int) -> Iterator[Row]:
    """Yield the boards of a study that stops when it is significant, against those of a fixed design of power 0.9."""
    for effect in EFFECTS:
        fixed = planned_boards(lambda n, e=effect: _power_of_test(e, n), 0.9)
        for limit in LIMITS:
            random = np.random.default_rng([13, round(10 * effect), round(limit)])
            drawn = np.clip(random.normal(effect, 1, (studies, 4 * fixed)), -limit, limit)
            reached = bets(drawn, limit, Planned(effect, 1.0)) >= 20
            ever = reached.any(axis=1)
            stop = np.where(ever, reached.argmax(axis=1) + 1, 4 * fixed)
            case = f"effect {effect:g} deviations, range {limit:g} deviations"
            yield Row("cost", case, fixed, "median boards / fixed boards", float(np.median(stop)) / fixed, studies)
            yield _row("cost", case, fixed, "found within 1.5 times the fixed boards", stop <= 1.5 * fixed)
            yield _row("cost", case, fixed, "found within 4 times the fixed boards", ever)


def _power_of_test(effect: float, boards: int) -> float:
    return float((sign_flip_p(np.random.default_rng(14).normal(effect, 1, (2_000, boards))) <= 0.05).mean())


def _sign_quantile(noise: Floats) -> Floats:
    """Return the 95 % quantile of |mean| over random signs, the floor before: it is that of these boards alone."""
    means = np.abs(noise @ sign_patterns(noise.shape[1]).T) / noise.shape[1]
    place = math.ceil(0.95 * means.shape[1]) - 1
    return np.asarray(np.partition(means, place, axis=1)[:, place])


def floors(studies: int) -> Iterator[Row]:
    """Yield how often the mean difference of two equal arms exceeds the noise floor, and is called an effect."""
    for number, (name, draw) in enumerate({**DRAWS, **TIED}.items()):
        for boards in BOARDS:
            treatment, again, equal, fourth = draw(np.random.default_rng([15, number, boards]), (4, studies, boards))
            noise, shared, other = again - treatment, treatment - equal, equal - fourth
            floor = floor_rule(noise)
            known = ~np.isnan(floor)
            tiny = 1e-9 * np.abs(noise).max()
            for what, effect in (("the treatment and an equal arm", shared), ("two other equal arms", other)):
                beyond = np.abs(effect.mean(axis=1)) > floor + tiny
                yield _row("floor", name, boards, f"{what} differ by more", beyond[known])
            before = np.abs(shared.mean(axis=1)) > _sign_quantile(noise) + tiny
            yield _row("floor", name, boards, "differ by more than the quantile over signs", before)
            yield _row("floor", name, boards, "floor unknown", ~known)
            yield _row("floor", name, boards, "an equal arm called an effect", verdict_rule(shared, noise))


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth of studies whose boards are planned.

    Attributes:
        effect: mean difference, in standard deviations of the differences over boards.
        of_draws: share of their variance that draws have; boards have the rest.
        tests: number of tests for which p is corrected.
    """

    effect: float
    of_draws: float
    tests: int

    def studies(self, random: np.random.Generator, studies: int, boards: int, draws: int = 1) -> tuple[Floats, Floats]:
        """Draw differences of single draws, shape (studies, boards, draws), and of other draws, (studies, boards)."""
        one = math.sqrt(self.of_draws / 2)
        treatment, other = random.normal(0, one, (2, studies, boards, draws))
        again = random.normal(0, one, (studies, boards))
        own = random.normal(self.effect, math.sqrt(1 - self.of_draws), (studies, boards, 1))
        return own + treatment - other, again - treatment[..., 0]

    def power(self, boards: int, studies: int, seed: int) -> float:
        """Return how often studies of this many boards find the effect."""
        differences, noise = self.studies(np.random.default_rng([seed, boards]), studies, boards)
        return float(verdict_rule(differences[..., 0], noise, self.tests).mean())


def plans(studies: int, truth: Truth) -> Iterator[Row]:
    """Yield the power of studies whose boards were planned for 0.9: from the truth as stated, and from pilots."""
    case = f"effect {truth.effect:g} deviations, {truth.of_draws:.0%} of the variance from draws, {truth.tests} tests"
    known = replace(truth, of_draws=1.0)  # whoever states a deviation does not say what draws have of it
    stated = planned_boards(lambda boards: known.power(boards, 2_000, 16), 0.9)
    yield Row("plan", case, stated, "boards as stated", stated, studies)
    yield Row("plan", case, stated, "found as stated", truth.power(stated, studies, 17), studies)
    one_test = planned_boards(lambda boards: _power_of_test(truth.effect, boards), 0.9)
    yield Row("plan", case, one_test, "planned for one test: found", truth.power(one_test, studies, 18), studies)
    boards, power = map(np.array, zip(*pilots(truth, max(20, studies // 20)), strict=True))
    median = int(np.median(boards))
    yield Row("plan", case, median, "boards after pilots", median, len(boards))
    yield _row("plan", case, median, "found after pilots", power)


def pilots(truth: Truth, number: int) -> Iterator[tuple[int, float]]:
    """Yield the planned boards, and the power that a study of this many boards has, for some pilots of 8 boards."""
    random = np.random.default_rng(19)
    for differences in truth.studies(random, number, 8, draws=2)[0]:
        means = differences.mean(axis=1)
        within = float(((differences - means[:, None]) ** 2).sum() / 8)
        between = math.sqrt(max(0.0, float(means.var(ddof=1)) - within / 2))
        pilot = Pilot(float(means.mean()), between, math.sqrt(within))
        boards = planned_boards(lambda n, p=pilot: assurance(p, n, truth.tests, 1_000), 0.9, most=400)
        yield boards, truth.power(boards, 500, 20)


# Tables.

Lines = Iterator[tuple[str, ...]]


class Figures:
    """Measured figures, looked up by name."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def of(self, table: str, *, case: str = "", boards: int | None = None, what: str = "") -> list[float]:
        """Return the figures of a table with this case, these boards, and a name that begins so."""
        return [
            row.value
            for row in self._rows
            if row.table == table
            and case in ("", row.case)
            and boards in (None, row.boards)
            and row.what.startswith(what)
        ]

    def cases(self, table: str) -> list[str]:
        """Return the cases of a table."""
        return list(dict.fromkeys(row.case for row in self._rows if row.table == table))


def room_table(found: Figures) -> Lines:
    """Yield what is stated about the share of the room, for normal draws; then the worst over all kinds of draws."""
    for size in (0.0, 0.5, 1.0, 3.0):
        for truth in (0.0, 0.5, 1.0) if size else (0.0,):
            case = f"normal; room {size:g}, share {truth:g}"
            yield f"{size:g}", f"{truth:g}" if size else "none", *(_room_cell(found, case, n) for n in BOARDS)
    for what in ("states an interval without the truth", "coverage of the stated interval"):
        worst = min if "coverage" in what else max
        figures = (found.of("room", boards=boards, what=what) or [math.nan] for boards in BOARDS)
        yield f"worst of all draws: {what}", "", *(f"{worst(own):.1%}" for own in figures)


def _room_cell(found: Figures, case: str, boards: int) -> str:
    stated, bias, coverage, chosen = (
        found.of("room", case=case, boards=boards, what=what)
        for what in ("states a share", "bias of", "coverage", "bias over boards chosen")
    )
    known = f": {bias[0]:+.2f}, {coverage[0]:.0%}" if bias else ""
    return f"{stated[0]:.0%}{known} ({chosen[0]:+.2f})"


def until_table(found: Figures) -> Lines:
    """Yield the greatest error over all plans and true means, at some look up to each number of boards."""
    for case in found.cases("until"):
        yield case, *(f"{max(found.of('until', case=case, boards=n)):.1%}" for n in LOOKS)


def cost_table(found: Figures) -> Lines:
    """Yield the median boards as a multiple of those of a fixed design, and the share found within four times them."""
    for effect in EFFECTS:
        cells = []
        for limit in LIMITS:
            case = f"effect {effect:g} deviations, range {limit:g} deviations"
            (median,), (ever,) = (found.of("cost", case=case, what=what) for what in ("median", "found within 4"))
            cells.append(f"{median:.2f} ({ever:.0%})")
        yield f"{effect:g}", *cells


def floor_table(found: Figures) -> Lines:
    """Yield how often equal arms differ by more than the floor and the quantile over signs, and unknown floors."""
    for case in found.cases("floor"):
        cells = []
        for boards in BOARDS:
            names = ("the treatment and", "floor unknown", "differ by more than", "an equal arm")
            (beyond,), (unknown,), (before,), (error,) = (
                found.of("floor", case=case, boards=boards, what=what) for what in names
            )
            cells.append(f"{beyond:.1%}, {unknown:.0%} ({before:.0%}; {error:.1%})")
        yield case, *cells


_PLANNED = ("boards as stated", "found as stated", "boards after pilots", "found after pilots")


def plan_table(found: Figures) -> Lines:
    """Yield the boards that were planned for a power of 0.9, and the power that studies of these boards have."""
    for case in found.cases("plan"):
        cells = [found.of("plan", case=case, what=what)[0] for what in _PLANNED]
        before = found.of("plan", case=case, what="planned for one test: found")[0]
        yield case, f"{cells[0]:.0f}", f"{cells[1]:.2f}", f"{cells[2]:.0f}", f"{cells[3]:.2f}", f"{before:.2f}"


class TableOf(NamedTuple):
    """A table of the report."""

    title: str
    header: tuple[str, ...]
    lines: Callable[[Figures], Lines]


_BY_BOARDS = tuple(f"{boards} boards" for boards in BOARDS)
TABLES = (
    TableOf(
        "Share of the room, normal draws: studies that state one: bias of its median, coverage of its interval"
        " (bias over boards that are chosen by the same runs)",
        ("room in SD of a draw", "true share", *_BY_BOARDS),
        room_table,
    ),
    TableOf(
        "`--until`: studies that ever reject the true mean, a look after every board; the worst of three plans",
        ("differences", *(f"up to {boards} boards" for boards in LOOKS)),
        until_table,
    ),
    TableOf(
        "`--until`: median boards as a multiple of a fixed design of power 0.9 (studies that find the effect within"
        " four times its boards)",
        ("effect in SD", *(f"range {limit:g} SD" for limit in LIMITS)),
        cost_table,
    ),
    TableOf(
        "Noise floor: equal arms that differ by more, studies whose floor is unknown (equal arms that differ by more"
        " than the quantile over signs; equal arms called an effect)",
        ("draws", *_BY_BOARDS),
        floor_table,
    ),
    TableOf(
        "`--plan` for a power of 0.9: boards, and the power that they have",
        ("truth", "boards, as stated", "power", "median boards after a pilot", "power", "power if one test is planned"),
        plan_table,
    ),
)
PARTS: tuple[Callable[[int], Iterator[Row]], ...] = (
    *(partial(plans, truth=Truth(*truth)) for truth in product(EFFECTS, (0.5, 1.0), (1, 7))),
    *(rooms, looks, costs, floors),
)


def _measured(studies: int, part: int) -> list[Row]:
    return list(PARTS[part](studies))


def main() -> None:
    """Measure, print every table, and write the figures."""
    parser = argparse.ArgumentParser(description="Measure the verdicts of studies on known truth.")
    parser.add_argument("--studies", type=int, default=2_000)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--csv", type=Path, help="write all figures to this file")
    arguments = parser.parse_args()
    with ProcessPoolExecutor(arguments.processes) as pool:
        found = pool.map(partial(_measured, arguments.studies), range(len(PARTS)))
        rows = [row for part in found for row in part]
    for table in TABLES:
        print(f"\n{table.title}:\n\n| {' | '.join(table.header)} |\n|{'---|' * len(table.header)}")
        for line in table.lines(Figures(rows)):
            print(f"| {' | '.join(line)} |")
    if arguments.csv is not None:
        with arguments.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["table", "case", "boards", "what", "value", "studies"])
            writer.writerows([r.table, r.case, r.boards, r.what, f"{r.value:.4f}", r.studies] for r in rows)
    print(f"\n{arguments.studies:,} studies, {sum(os.times()[:4]) / 60:.1f} minutes of CPU time")


if __name__ == "__main__":
    main()
