"""How many boards a study needs, planned and with looks, and how often it errs: python benchmarks/sequential.py.

Prints Markdown tables. Every figure comes from `--studies` simulated studies with a fixed seed; with 4,000 of them, a
share of 0.05 is measured to 0.007, and one of 0.9 to 0.01 (two standard errors).
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
from quorum.study.noise import NoiseVerdict, noise_verdict
from quorum.study.power import Sampler, binary, boards_for_half_width, boards_for_power, normal, power

Floats = NDArray[np.float64]
POWER = 0.9
MOST = 1.5
"""Boards at which a sequential study ends at the latest, as a multiple of those of the fixed design."""


@dataclass(frozen=True, slots=True)
class Case:
    """Differences on boards with a true effect.

    Attributes:
        name: kind of the differences.
        kind: draws them.
        effect: their mean.
        deviation: their standard deviation.
        share: whether they are differences of shares.
    """

    name: str
    kind: Callable[[float, float], Sampler]
    effect: float
    deviation: float
    share: bool = False

    @property
    def sampler(self) -> Sampler:
        """Return a function that draws them."""
        return self.kind(self.effect, self.deviation)

    def boards(self, wanted: float = POWER) -> int:
        """Return the boards of the fixed design."""
        return boards_for_power(self.sampler, about_boards(self.effect, self.deviation, wanted), wanted)


CASES = (
    Case("normal, 1 deviation", normal, 1.0, 1.0),
    Case("normal, 0.7 deviations", normal, 0.7, 1.0),
    Case("normal, 0.5 deviations", normal, 0.5, 1.0),
    Case("normal, 0.4 deviations", normal, 0.4, 1.0),
    Case("normal, 0.3 deviations", normal, 0.3, 1.0),
    Case("normal, 0.2 deviations", normal, 0.2, 1.0),
    Case("success, +0.5", binary, 0.5, 0.6, share=True),
    Case("success, +0.3", binary, 0.3, 0.6, share=True),
    Case("success, +0.15", binary, 0.15, 0.5, share=True),
)
NULLS: dict[str, tuple[Sampler, bool]] = {
    "normal": (lambda random, shape: random.normal(0, 1, shape), False),
    "Student's t, 2 degrees of freedom": (lambda random, shape: random.standard_t(2, shape), False),
    "Cauchy": (lambda random, shape: random.standard_cauchy(shape), False),
    "gamma, minus such": (lambda random, shape: random.gamma(0.5, 2, shape) - random.gamma(0.5, 2, shape), False),
    "success: -1, 0 or 1": (lambda random, shape: random.choice([-1.0, 0.0, 1.0], p=[0.2, 0.6, 0.2], size=shape), True),
    "success, rarely differs": (
        lambda random, shape: random.choice([-1.0, 0.0, 1.0], p=[0.03, 0.94, 0.03], size=shape),
        True,
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
    draw, share = NULLS[name]
    differences = draw(np.random.default_rng(1), (studies, boards))
    return float((evidence_path(differences, plan, share=share).max(axis=1) >= LIMIT).mean())


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
    differences = case.sampler(random, (studies, most))
    if not effect:
        differences *= random.choice([-1.0, 1.0], size=differences.shape)
    plan = Plan(planned * case.effect, case.deviation)
    significant = evidence_path(differences, plan, share=case.share) >= LIMIT
    ends = np.stack([_first(significant), _first(futile(differences, plan)), np.full(studies, most)])
    ends = -(-ends // block) * block
    stop = ends.min(axis=0)
    return Outcome(float(stop.mean()) / fixed, float((ends[0] <= stop)[significant.any(axis=1)].sum()) / studies)


def _first(marks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the number of the first marked board; one more than the last if none is marked."""
    return np.where(marks.any(axis=1), marks.argmax(axis=1) + 1, marks.shape[1] + 1)


def coverage(draw: Sampler, truth: float, plan: Plan | None, studies: int, *, share: bool, width: float) -> float:
    """Return how often the interval contains the true value if a study of at most 60 boards stops at a half-width."""
    random = np.random.default_rng(3)
    held = 0
    for row in draw(random, (studies, 60)):
        for boards in range(10, 61, 10):
            low, high = anytime_interval(row[:boards], plan, share=share)
            if (high - low) / 2 < width:
                break
        held += not (truth < low or truth > high)
    return held / studies


def actual_power(case: Case, boards: int, studies: int) -> float:
    """Return how often the test itself finds an effect over this many boards, in samples that no plan has seen."""
    samples = case.sampler(np.random.default_rng(4), (studies, boards))
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
        held += [found.low <= truth <= found.high] if found.low <= found.high else []
    return float(np.mean(held))


def same_called_above(boards: int, studies: int) -> float:
    """Return how often an arm equal to two others exceeds their noise floor, with unequal draws."""
    random = np.random.default_rng(6)
    draws = np.where(np.arange(boards) % 2, 1, 3)
    above = 0
    for _ in range(studies):
        treatment, again, other = (random.gamma(4, 5 / np.sqrt(draws)) - 20 / np.sqrt(draws) for _ in range(3))
        effect = treatment - other
        verdict = noise_verdict(
            float(effect.mean()), sign_flip_test(effect), int(np.count_nonzero(effect)), again - treatment
        )
        above += verdict is NoiseVerdict.ABOVE
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
            stated, actual = power(case.sampler, boards), actual_power(case, boards, studies)
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
    print(f"\nEqual arms called above the noise floor: {same}")
    width = boards_for_half_width(1.0, 0.4)
    held = coverage(NULLS["normal"][0], 0.0, Plan(0.4, 1.0, directed=False), studies // 8, share=False, width=0.4)
    print(f"\nStopped at a half-width of 0.4 deviations (fixed: {width} boards): interval holds the mean in {held:.3f}")


def _print(title: str, header: Sequence[str], rows: Iterator[list[str]]) -> None:
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
