"""The rules of a study, implemented again by code that shares nothing with Quorum: NumPy and SciPy alone.

The share of the room, the bets of `--until`, the noise floor, the verdict, and `--plan`, from their definitions.
`benchmarks/verdicts.py` measures how far they are from the truth; `tests/benchmarks/test_verdicts.py` compares them
with Quorum's on random studies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
_SIGNS = 1_999
_BLOCK = 1 << 23


@cache
def sign_patterns(boards: int) -> Floats:
    """Return all patterns of signs up to 12 boards, else random ones and the observed one, shape (patterns, boards)."""
    if boards <= 12:
        return 1.0 - 2 * (np.arange(2**boards)[:, None] >> np.arange(boards) & 1)
    drawn = np.random.default_rng(1).choice([-1.0, 1.0], (_SIGNS, boards))
    return np.concatenate([np.ones((1, boards)), drawn])


def sign_flip_p(differences: Floats) -> Floats:
    """Return the share of sign patterns whose sum is at least as far from 0, shape (studies,).

    Over more than 60 boards, which only plans have, Student's test stands for it.
    """
    if differences.shape[1] > 60:
        return np.asarray(stats.ttest_1samp(differences, 0, axis=1).pvalue)
    signs = sign_patterns(differences.shape[1])
    found = np.empty(len(differences))
    rows = max(1, _BLOCK // len(signs))
    for start in range(0, len(differences), rows):
        block = differences[start : start + rows]
        seen = np.abs(block.sum(axis=1)) - 1e-9 * np.abs(block).sum(axis=1)
        found[start : start + rows] = (np.abs(block @ signs.T) >= seen[:, None]).mean(axis=1)
    return found


class Room(NamedTuple):
    """Shares of the room, each shape (studies,)."""

    share: Floats
    """NaN where the room is not significantly above 0."""
    covers: Bools
    """Whether the interval contains the truth, or has no end."""


def room_rule(gain: Floats, room: Floats, truth: float) -> Room:
    """Return the share that gains are of the room, and whether the test of `gain - truth * room` accepts the truth."""
    there = (sign_flip_p(room) <= 0.05) & (room.mean(axis=1) > 0)
    share = np.where(there, gain.mean(axis=1) / room.mean(axis=1), math.nan)
    return Room(share, ~there | (sign_flip_p(gain - truth * room) > 0.05))


def room_interval(gain: Floats, room: Floats) -> tuple[float, float]:
    """Return the outermost shares that the test accepts in one study, by trying all shares at which it can change.

    Args:
        gain: shape (boards,), few.
        room: the same shape.
    """
    members = (1 - sign_patterns(len(gain))) / 2
    tops, bottoms = members @ gain, members @ room
    ratios = np.unique(tops[np.abs(bottoms) > 1e-9] / bottoms[np.abs(bottoms) > 1e-9])
    between = (ratios[1:] + ratios[:-1]) / 2
    accepted = between[sign_flip_p(gain - between[:, None] * room) > 0.05]
    return ratios[np.searchsorted(ratios, accepted.min()) - 1], ratios[np.searchsorted(ratios, accepted.max())]


class Planned(NamedTuple):
    """What a gambler expects before the first board."""

    effect: float
    deviation: float


def bets(differences: Floats, bound: float, planned: Planned | None, centre: float = 0.0) -> Floats:
    """Return the money of a gambler who starts with 1, after each board, shape (studies, boards).

    Each board d multiplies the money on a bet by 1 + tanh(size / spread) (d - centre) / (bound + |centre|), or by 1
    minus this, where the spread is that of the boards before, in units of the bound.
    """
    x = differences / bound
    c = centre / bound
    sizes = np.array([0.25, 0.5, 1, 2])
    money = np.full(4, 0.25)
    first, weight = 1.0, 1
    up = 0.5
    if planned is not None:
        sizes = sizes * abs(planned.effect) / planned.deviation
        money = np.array([0.04, 0.04, 0.9, 0.02])
        first, weight = planned.deviation / bound, 5
        up = 0.75 if planned.effect >= centre else 0.25
    high, low = (np.tile(money * side, (len(x), 1)) for side in (up, 1 - up))
    path = np.empty_like(x)
    mean, around = np.zeros(len(x)), np.zeros(len(x))  # of the boards before (Welford 1962)
    for board, value in enumerate(x.T):
        spread = np.sqrt((weight * first**2 + around) / (weight + max(board - 1, 0)))
        step = np.tanh(sizes / spread[:, None]) * ((value - c) / (1 + abs(c)))[:, None]
        high, low = high * (1 + step), low * (1 - step)
        path[:, board] = high.sum(axis=1) + low.sum(axis=1)
        away = value - mean
        mean = mean + away / (board + 1)
        around = around + away * (value - mean)
    return path


def floor_rule(noise: Floats) -> Floats:
    """Return the noise floors, shape (studies,); NaN where the noise cannot bound it."""
    boards = noise.shape[1]
    squares = (noise**2).sum(axis=1)
    known = squares > 0
    shape = np.where(known, (noise**4).sum(axis=1) / np.where(known, squares, 1) ** 2, boards) * (boards + 2)
    freedom = np.minimum(boards / 2, boards / np.maximum(shape - 1, 1e-9))
    below = np.clip(np.floor(freedom), 1, 99)
    high, low = stats.t.ppf(0.975, below), stats.t.ppf(0.975, below + 1)
    part = np.clip((1 / freedom - 1 / (below + 1)) / (1 / below - 1 / (below + 1)), 0, 1)
    return np.where(known & (freedom >= 1), (low + part * (high - low)) * np.sqrt(squares) / boards, math.nan)


def verdict_rule(differences: Floats, noise: Floats, tests: int = 1) -> Bools:
    """Return whether each study finds the effect, shape (studies,)."""
    return (sign_flip_p(differences) * tests <= 0.05) & ~(np.abs(differences.mean(axis=1)) <= floor_rule(noise))


class Pilot(NamedTuple):
    """What a pilot of some boards with two draws each shows."""

    effect: float
    between: float
    within: float
    boards: int = 8


def assurance(pilot: Pilot, boards: int, tests: int, studies: int = 2_000) -> float:
    """Return the mean power over the posterior of what a pilot leaves open, with one draw a board."""
    random = np.random.default_rng(7)
    within = pilot.within**2 * pilot.boards / random.chisquare(pilot.boards, studies)
    of_means = (pilot.between**2 + pilot.within**2 / 2) * (pilot.boards - 1)
    means = of_means / random.chisquare(pilot.boards - 1, studies)
    effect = random.normal(pilot.effect, np.sqrt(means / pilot.boards))
    deviation = np.sqrt(np.maximum(means - within / 2, 0) + within)
    differences = random.normal(effect[:, None], deviation[:, None], (studies, boards))
    return float(verdict_rule(differences, random.normal(0, np.sqrt(within)[:, None], (studies, boards)), tests).mean())


def planned_boards(power: Callable[[int], float], wanted: float, most: int = 1_000) -> int:
    """Return the fewest boards with this power; the most if they do not suffice."""
    low, high = 5, 6
    while high < most and power(high) < wanted:
        low, high = high, min(most, math.ceil(1.5 * high))
    while high - low > max(1, high // 40):
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= wanted else (middle, high)
    return high
