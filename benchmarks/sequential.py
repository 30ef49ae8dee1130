"""How many boards a study needs, planned and with looks, and how often it errs: python benchmarks/sequential.py.

Prints Markdown tables. `benchmarks/verdicts.py` measures the same rules by code that shares nothing with Quorum. Every
figure comes from `--studies` simulated studies with a fixed seed; with 4,000 of them, a share of 0.05 is measured to
0.007, and one of 0.9 to 0.01 (two standard errors).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quorum.comparison.statistics.flips import about_boards, sign_flip_test
from quorum.comparison.statistics.room import room_closed
from quorum.study.anytime import LIMIT, Plan, anytime_interval, evidence_path, futile
from quorum.study.noise import NoiseVerdict, noise_floor, noise_verdict
from quorum.study.power import binary, boards_for_half_width, boards_for_power, power

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
POWER = 0.9
MOST = 1.5
"""Boards at which a sequential study ends at the latest, as a multiple of those of the fixed design."""


@dataclass(frozen=True, slots=True)
class Case:
    """Differences on boards with a true effect.

    Attributes:
        name: kind of the differences.
        effect: their mean.
        deviation: their standard deviation.
        bound: the largest possible size of a difference: 1 for those of success, which are -1, 0 or 1.
    """

    name: str
    effect: float
    deviation: float
    bound: float

    def draw(self, random: np.random.Generator, shape: tuple[int, int]) -> Floats:
        """Draw differences."""
        if self.bound == 1:
            return binary(random, *shape, self.effect, np.array(self.deviation**2))
        return np.clip(random.normal(self.effect, self.deviation, shape), -self.bound, self.bound)

    def studies(self, random: np.random.Generator, studies: int, boards: int) -> tuple[Floats, Floats]:
        """Draw studies of a deterministic team, whose verdict rests on the test alone."""
        return self.draw(random, (studies, boards)), np.zeros((studies, boards))

    def boards(self, wanted: float = POWER) -> int:
        """Return the boards of the fixed design."""
        found = boards_for_power(self.studies, about_boards(self.effect, self.deviation, wanted), wanted)
        assert found is not None
        return found


CASES = (
    *(Case(f"normal, {effect} deviations, range 4", effect, 1.0, 4.0) for effect in (1.0, 0.7, 0.5, 0.4, 0.3, 0.2)),
    Case("normal, 0.5 deviations, range 10", 0.5, 1.0, 10.0),
    Case("normal, 0.5 deviations, range 40", 0.5, 1.0, 40.0),
    Case("success, +0.5", 0.5, 0.6, 1.0),
    Case("success, +0.3", 0.3, 0.6, 1.0),
    Case("success, +0.15", 0.15, 0.5, 1.0),
)
NULLS: dict[str, tuple[Draw, float]] = {
    "normal": (lambda random, shape: np.clip(random.normal(0, 1, shape), -4, 4), 4),
    "Student's t, 2 degrees of freedom": (lambda random, shape: np.clip(random.standard_t(2, shape), -20, 20), 20),
    "nine boards -1, one +9": (lambda random, shape: random.choice([-1.0, 9.0], p=[0.9, 0.1], size=shape), 9),
    "nine boards +1, one -9": (lambda random, shape: random.choice([1.0, -9.0], p=[0.9, 0.1], size=shape), 9),
    "success: -1, 0 or 1": (lambda random, shape: random.choice([-1.0, 0.0, 1.0], p=[0.2, 0.6, 0.2], size=shape), 1),
    "success, rarely differs": (
        lambda random, shape: random.choice([-1.0, 0.0, 1.0], p=[0.03, 0.94, 0.03], size=shape),
        1,
    ),
}
PLANS = {
    "as planned": Plan(0.5, 1.0),
    "planned too small": Plan(0.2, 0.5),
    "planned too large": Plan(2.0, 3.0),
    "no plan": None,
}


def error(name: str, plan: Plan | None, studies: int, boards: int = 150) -> float:
    """Return how often a study without an effect is ever significant, with a look after every board."""
    draw, bound = NULLS[name]
    differences = draw(np.random.default_rng(1), (studies, boards))
    return float((evidence_path(differences, bound, plan).max(axis=1) >= LIMIT).mean())


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of sequential studies.

    Attributes:
        boards: mean number of boards, as a multiple of those of the fixed design.
        found: share of significant studies.
    """

    boards: float
    found: float


def played(case: Case, fixed: int, block: int, studies: int, *, effect: bool = True, planned: float = 1.0) -> Outcome:
    """Play studies that add blocks until they are significant or futile, or have `MOST` times the fixed boards.

    Args:
        case: the true differences.
        fixed: boards of the fixed design.
        block: number of boards that are added at a time.
        studies: number of studies.
        effect: whether there is one; otherwise signs are drawn.
        planned: the planned effect as a multiple of the true one; below 0 for the wrong direction.
    """
    random = np.random.default_rng(2)
    most = -(-round(MOST * fixed) // block) * block
    differences = case.draw(random, (studies, most))
    if not effect:
        differences *= random.choice([-1.0, 1.0], size=differences.shape)
    plan = Plan(planned * case.effect, case.deviation)
    significant = evidence_path(differences, case.bound, plan) >= LIMIT
    ends = np.stack([_first(significant), _first(futile(differences, plan)), np.full(studies, most)])
    ends = -(-ends // block) * block
    stop = ends.min(axis=0)
    return Outcome(float(stop.mean()) / fixed, float((ends[0] <= stop)[significant.any(axis=1)].sum()) / studies)


def _first(marks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of the first marked board; one more than the last if none is marked."""
    return np.where(marks.any(axis=1), marks.argmax(axis=1) + 1, marks.shape[1] + 1)


def coverage(draw: Draw, bound: float, plan: Plan | None, studies: int, width: float) -> float:
    """Return how often the interval contains 0, the truth, if a study of at most 60 boards stops at a half-width."""
    random = np.random.default_rng(3)
    held = 0
    for row in draw(random, (studies, 60)):
        for boards in range(10, 61, 10):
            low, high = anytime_interval(row[:boards], bound, plan)
            if (high - low) / 2 < width:
                break
        held += not (low > 0 or high < 0)
    return held / studies


def actual_power(case: Case, boards: int, studies: int) -> float:
    """Return how often the test itself finds an effect over this many boards, in samples that no plan has seen."""
    samples = case.draw(np.random.default_rng(4), (studies, boards))
    return float(np.mean([sign_flip_test(row) <= 0.05 for row in samples]))


Gains = Callable[[np.random.Generator, int], tuple[Floats, Floats]]
ROOMS: dict[str, tuple[Gains, float]] = {
    "a share of the room, with noise": (
        lambda random, n: _gains(random.gamma(4, 5, n), 0.5, random.normal(0, 4, n)),
        0.5,
    ),
    "a share that differs": (lambda random, n: _gains(random.gamma(2, 10, n), random.beta(2, 2, n), np.zeros(n)), 0.5),
    "shares of tasks": (
        lambda random, n: _gains(1 - random.binomial(4, 0.4, n) / 4, random.binomial(1, 0.5, n), np.zeros(n)),
        0.5,
    ),
    "a share of the room, with skewed noise": (
        lambda random, n: _gains(random.gamma(4, 5, n), 0.3, random.gamma(1, 4, n) - 4),
        0.3,
    ),
}


def _gains(room: Floats, share: Floats | float, noise: Floats) -> tuple[Floats, Floats]:
    return share * room + noise, room


def room_coverage(name: str, boards: int, studies: int) -> float:
    """Return how often the interval of the share of the room contains the true value, if it exists."""
    draw, truth = ROOMS[name]
    random = np.random.default_rng(5)
    held = []
    for _ in range(studies):
        gains, rooms = draw(random, boards)
        found = room_closed(gains, np.zeros(boards), rooms, lower_is_better=False).share
        held += [found.low <= truth <= found.high] if found.low <= found.high else []  # else no share is stated
    return float(np.mean(held))


def same_called_above(boards: int, studies: int) -> float:
    """Return how often an arm equal to two others is called an effect, with unequal draws."""
    random = np.random.default_rng(6)
    draws = np.where(np.arange(boards) % 2, 1, 3)
    above = 0
    for _ in range(studies):
        treatment, again, other = (random.gamma(4, 5 / np.sqrt(draws)) - 20 / np.sqrt(draws) for _ in range(3))
        effect, floor = treatment - other, float(noise_floor(again - treatment))
        above += noise_verdict(float(effect.mean()), sign_flip_test(effect), boards, floor) is NoiseVerdict.FOUND
    return above / studies


def errors(studies: int) -> Iterator[list[str]]:
    """Yield how often studies without an effect are ever significant."""
    for name in NULLS:
        yield [name, *(f"{error(name, plan, studies):.3f}" for plan in PLANS.values())]


def savings(studies: int) -> Iterator[list[str]]:
    """Yield boards as a multiple of those of the fixed design, and power."""
    for case in CASES:
        fixed = case.boards()
        cells = []
        for block in (1, max(2, round(fixed / 10))):
            cells.append(_written(played(case, fixed, block, studies)))
        cells += [_written(played(case, fixed, 1, studies, planned=planned)) for planned in (-1.0, 0.5, 2.0)]
        cells.append(_written(played(case, fixed, 1, studies, effect=False)))
        yield [case.name, str(fixed), *cells]


def _written(found: Outcome) -> str:
    return f"{found.boards:.2f}, {found.found:.2f}"


def powers(studies: int) -> Iterator[list[str]]:
    """Yield the boards for a power, the power that the plan states, and the actual one."""
    for case in CASES:
        cells = []
        for wanted in (0.8, 0.9):
            boards = case.boards(wanted)
            stated, actual = power(case.studies, boards), actual_power(case, boards, studies)
            about = about_boards(case.effect, case.deviation, wanted)
            cells.append(f"{boards} ({about}): {stated:.3f}, {actual:.3f}")
        yield [case.name, *cells]


def rooms(studies: int) -> Iterator[list[str]]:
    """Yield the coverage of the interval of the share of the room."""
    for name in ROOMS:
        yield [name, *(f"{room_coverage(name, boards, studies):.3f}" for boards in (6, 10, 20, 40))]


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description="Measure boards, power and errors of studies.")
    parser.add_argument("--studies", type=int, default=4_000)
    studies: int = parser.parse_args().studies
    _print(
        "Studies without an effect that are ever significant, a look after each of 150 boards",
        ["differences", *PLANS],
        errors(studies),
    )
    _print(
        "Mean boards by those of the fixed design, and power; at most 1.5 times the fixed boards",
        [
            "differences",
            "fixed",
            "block of 1",
            "of a tenth",
            "other direction",
            "half planned",
            "twice planned",
            "no effect",
        ],
        savings(studies),
    )
    _print("Boards (normal approximation): power stated, actual", ["differences", "0.8", "0.9"], powers(studies))
    _print("Coverage of the share of the room", ["gains", *(f"{n} boards" for n in (6, 10, 20, 40))], rooms(studies))
    same = ", ".join(f"{same_called_above(boards, studies):.3f} ({boards} boards)" for boards in (6, 10, 20, 40))
    print(f"\nEqual arms called an effect: {same}")
    width = boards_for_half_width(1.0, 0.4)
    held = coverage(*NULLS["normal"], Plan(0.4, 1.0, directed=False), studies // 8, 0.4)
    print(f"\nStopped at a half-width of 0.4 deviations (fixed: {width} boards): interval holds the mean in {held:.3f}")


def _print(title: str, header: Sequence[str], rows: Iterator[list[str]]) -> None:
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
