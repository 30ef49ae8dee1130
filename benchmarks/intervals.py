"""How often 95 % intervals contain the true value, and tests find false effects: python benchmarks/intervals.py.

Prints the tables of docs/comparing.md as Markdown. Every figure is a share of `--draws` samples with a fixed seed; with
2,000 of them a coverage of 0.95 is measured to 0.01 (two standard errors).
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from quorum.comparison.statistics.flips import sign_flip_interval, sign_flip_test
from quorum.comparison.statistics.intervals import STATISTICS, Name, estimate, t_quantile

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Floats]
LARGE = 4_000_000
"""Number of values from which a true mean is computed."""
BOARDS = (6, 10, 20, 30)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of metric.

    Attributes:
        name: the kind of values.
        draw: draws values of the level on independent boards.
        baseline: draws values of the baseline.
        share: whether values lie between 0 and 1 by their nature.
        limit: upper limit of values from 0 on; None for none.
    """

    name: str
    draw: Draw
    baseline: Draw
    share: bool
    limit: float | None = None


def _steps(mean: float) -> Draw:
    return lambda random, shape: random.normal(mean, 10, shape)


def _skewed(scale: float) -> Draw:
    return lambda random, shape: random.gamma(2, scale, shape)


def _lognormal(scale: float) -> Draw:
    return lambda random, shape: scale * random.lognormal(0, 1, shape)


def _capped(scale: float) -> Draw:
    return lambda random, shape: np.minimum(80, 20 + random.gamma(2, scale, shape))


def _stopped(chance: float, slowest: float = 150) -> Draw:
    return lambda random, shape: np.where(random.random(shape) < chance, 150, random.uniform(20, slowest, shape))


def _thirds(*chances: float) -> Draw:
    return lambda random, shape: random.choice([0, 1 / 3, 2 / 3, 1], p=chances, size=shape)


def _success(chance: float) -> Draw:
    return lambda random, shape: (random.random(shape) < chance).astype(np.float64)


KINDS = (
    Kind("steps, normal", _steps(50), _steps(45), share=False),
    Kind("messages, skewed", _skewed(20), _skewed(15), share=False),
    Kind("steps, cut off at 80", _capped(20), _capped(15), share=False, limit=80),
    Kind("steps, 5 of 10 at the limit", _stopped(0.5), _stopped(0.3), share=False, limit=150),
    Kind("steps, 8 of 10 at the limit", _stopped(0.8), _stopped(0.5), share=False, limit=150),
    Kind("steps, few, 1 of 10 at the limit", _stopped(0.1, 40), _stopped(0.05, 40), share=False, limit=150),
    Kind("tokens, lognormal", _lognormal(1.0), _lognormal(0.7), share=False),
    Kind("completion in thirds", _thirds(0.05, 0.1, 0.25, 0.6), _thirds(0.2, 0.3, 0.3, 0.2), share=True),
    Kind("success, 0.9 and 0.6", _success(0.9), _success(0.6), share=True),
    Kind("success, 0.97 and 0.9", _success(0.97), _success(0.9), share=True),
)


def means(draws: int) -> Iterator[list[str]]:
    """Yield the coverage of the interval of a mean, and its mean width as a multiple of that of Student's."""
    for kind in KINDS:
        random = np.random.default_rng(1)
        truth = float(kind.draw(random, (LARGE,)).mean())
        cells = []
        for boards in (5, *BOARDS):
            values = kind.draw(random, (draws, boards))
            found = [estimate(row, share=kind.share, limit=kind.limit) for row in values]
            width = np.mean([e.high - e.low for e in found if e.low < e.high])
            students = 2 * t_quantile(0.975, boards - 1) * np.mean(values.std(axis=1, ddof=1)) / np.sqrt(boards)
            cells.append(f"{_coverage([(e.low, e.high) for e in found], truth):.3f}, {width / students:.2f}")
        yield [kind.name, *cells]


def others(draws: int) -> Iterator[list[str]]:
    """Yield the coverage of the intervals of the median and of the interquartile mean."""
    names: tuple[Name, ...] = ("median", "iqm")
    for name in names:
        for kind in (kind for kind in KINDS if not kind.share):
            random = np.random.default_rng(2)
            cells = []
            for boards in BOARDS:
                # The statistic of this many values estimates that of the distribution, up to the rounding of n / 4.
                truth = float(STATISTICS[name](kind.draw(random, (LARGE,))))
                found = [estimate(row, name) for row in kind.draw(random, (draws, boards))]
                cells.append(f"{_coverage([(e.low, e.high) for e in found], truth):.3f}")
            yield [f"{name}, {kind.name}", *cells]


def differences(draws: int) -> Iterator[list[str]]:
    """Yield coverage of a difference's interval, how often it exists, and the error of the test without an effect."""
    for kind in KINDS:
        random = np.random.default_rng(3)
        truth = float(kind.draw(random, (LARGE,)).mean() - kind.baseline(random, (LARGE,)).mean())
        cells = []
        for boards in BOARDS:
            shape = (draws, boards)
            delta = kind.draw(random, shape) - kind.baseline(random, shape)
            ends = [sign_flip_interval(row, share=kind.share) for row in delta]
            null = kind.draw(random, shape) - kind.draw(random, shape)
            error = np.mean([sign_flip_test(row) <= 0.05 for row in null])
            there = np.mean([not math.isnan(low) for low, _ in ends])
            cells.append(f"{_coverage(ends, truth):.3f} ({there:.0%}), {error:.3f}")
        yield [kind.name, *cells]


def crossed(draws: int) -> Iterator[list[str]]:
    """Yield coverage and error on 12 boards under 8 combinations of crossed factors, by board and by run.

    A share of the variance of a run is its board's, independent in both arms, so pairing gains nothing.
    """
    boards, repeats = 12, 8
    number = np.repeat(np.arange(boards), repeats)
    for share in (0.0, 0.2, 0.4, 0.6, 0.8):
        random = np.random.default_rng(4)
        held: dict[str, list[bool]] = {"board": [], "run": []}
        found: dict[str, list[bool]] = {"board": [], "run": []}
        for _ in range(draws):
            own = np.sqrt(share) * random.normal(size=(2, boards, 1))
            values = 50 + 10 * (own + np.sqrt(1 - share) * random.normal(size=(2, boards, repeats)))
            delta = values[0] - values[1]
            by_board = estimate(values[0].ravel(), boards=number)
            by_run = estimate(values[0].ravel())
            held["board"].append(by_board.low <= 50 <= by_board.high)
            held["run"].append(by_run.low <= 50 <= by_run.high)
            found["board"].append(sign_flip_test(delta.mean(axis=1)) <= 0.05)
            found["run"].append(sign_flip_test(delta.ravel()) <= 0.05)
        yield [f"{share:.1f}", *(f"{np.mean(made[unit]):.3f}" for made in (held, found) for unit in ("board", "run"))]


def _coverage(ends: Sequence[tuple[float, float]], truth: float) -> float:
    """Return how many of the intervals contain the true value."""
    there = np.array([pair for pair in ends if not math.isnan(pair[0])])
    return float(np.mean((there[:, 0] <= truth + 1e-9) & (truth - 1e-9 <= there[:, 1]))) if len(there) else float("nan")


def main() -> None:
    """Print every table."""
    parser = argparse.ArgumentParser(description="Measure coverage and type-I error.")
    parser.add_argument("--draws", type=int, default=2_000)
    draws: int = parser.parse_args().draws
    by_boards = [f"{boards} boards" for boards in BOARDS]
    _print(
        "Coverage of the interval of a mean, its width by Student's", ["values", "5 boards", *by_boards], means(draws)
    )
    _print("Coverage of the intervals of other statistics", ["values", *by_boards], others(draws))
    _print(
        "Differences: coverage (samples that have an interval), type-I error of p <= 0.05",
        ["values", *by_boards],
        differences(draws),
    )
    _print(
        "12 boards, each met under 8 combinations of crossed factors",
        ["the board's share of variance", "coverage", "... by run", "type-I error", "... by run"],
        crossed(draws),
    )


def _print(title: str, header: Sequence[str], rows: Iterator[list[str]]) -> None:
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
