"""Estimates what cells take: plays pilots of each kind within a time limit, and extrapolates to the other kinds.

The first board of each kind is played, small teams first, so that larger teams can be extrapolated if time runs out:
`law` fits a power law of the team size to the nearest sizes. The remaining time goes to further boards where they
reduce the uncertainty of the totals most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import expm1, gcd, inf, log, pow, sqrt
from random import Random
from statistics import stdev
from typing import Any

import orjson

from quorum.configuration.cell import kind_of
from quorum.configuration.team_label import team_label
from quorum.episode.expected import PILOT_SECONDS
from quorum.episode.pilot import Pilot, Taken, effort, mean_of, play_pilot, within
from quorum.episode.planned_cell import PlannedCell

SECONDS = 20.0
"""Computing time for all pilots together; one pilot takes at most `PILOT_SECONDS`."""
_ENOUGH = 0.1
"""No more boards are played once twice the standard error of total tokens is below this share of them."""
_SCATTER = 0.5
"""Assumed standard deviation between boards, as a share of the mean, if fewer than three were played."""
_LEAST = 0.025
"""Minimum share of the time for the first pilot of a kind, however many kinds there are.

A team that no other pilot covers gets this share even after the time is up: otherwise its cells would be unknown and
missing from the totals.
"""
_STEEPEST = 1.5
"""Largest exponent of the power law."""
_MOST_STEPS = 0.5
"""Once a pilot has played this share of an episode, it predicts the rest better than smaller teams do."""

_FEWEST = 3
"""Minimum steps of a pilot for estimating what a step takes."""

PLAYED = "played"
PARTIAL = "partial"
EXTRAPOLATED = "extrapolated"


@dataclass(frozen=True, slots=True)
class Guess:
    """Estimate for a kind of cell.

    Attributes:
        taken: what one cell takes.
        source: `PLAYED`, `PARTIAL` (pilots that were stopped) or `EXTRAPOLATED` (from other kinds).
        sizes: team sizes of those other kinds.
    """

    taken: Taken
    source: str
    sizes: tuple[int, ...] = ()


@dataclass(slots=True)
class _World:
    """How often episodes of a world end before their step limit, over the pilots of all teams.

    Attributes:
        ends: pilots that ended early.
        steps: total steps of all pilots.
    """

    ends: int = 0
    steps: int = 0

    def add(self, pilot: Pilot, max_steps: int) -> None:
        self.ends += pilot.whole and pilot.steps < max_steps
        self.steps += pilot.steps

    def more(self, left: int) -> float:
        """Return how many of `left` steps a stopped episode would play, at a constant rate of endings."""
        rate = self.ends / max(self.steps, 1)
        return -expm1(-rate * left) / rate if rate else left


@dataclass(slots=True)
class _Kind:
    world: _World
    n: int
    max_steps: int
    budget: Mapping[str, float | None]
    teams: tuple[bytes, ...]
    cells: list[PlannedCell] = field(default_factory=list)
    pilots: list[Pilot] = field(default_factory=list)
    playable: bool = True

    @property
    def taken(self) -> Taken | None:
        """The mean over its pilots."""
        plain = {"max_steps": self.max_steps, "budget": self.budget}
        found = [one.extrapolated(plain, self._steps(one)) for one in self.pilots]
        return mean_of(found) if found else None

    def _steps(self, pilot: Pilot) -> float:
        """Return the expected steps of a partly played episode, assuming that goals continue at the same pace."""
        if pilot.reached:
            return min(pilot.steps / pilot.reached, self.max_steps)
        return pilot.steps + self.world.more(self.max_steps - pilot.steps)

    @property
    def whole(self) -> bool:
        """Whether its pilots were played to the end."""
        return bool(self.pilots) and all(one.whole for one in self.pilots)

    @property
    def shows_most(self) -> bool:
        """Whether its pilots cover most of an episode."""
        most = _MOST_STEPS * self.max_steps
        return bool(self.pilots) and all(one.whole or one.steps >= most for one in self.pilots)

    @property
    def scatter(self) -> float:
        """The standard deviation of tokens between its boards."""
        values = [one.taken.tokens + one.taken.answers for one in self.pilots]
        mean = sum(values) / len(values)
        return stdev(values) if len(values) > 2 else _SCATTER * mean

    @property
    def variance(self) -> float:
        """The variance of the sum over its cells; 0 if all of them were played."""
        number, played = len(self.cells), len(self.pilots)
        return number * (number - played) / played * self.scatter**2 if played < number else 0.0

    @property
    def seconds(self) -> float:
        """Seconds of one pilot."""
        return sum(one.taken.seconds for one in self.pilots) / len(self.pilots)


class Pilots:
    """Pilots of cells; each kind is played once and shared by all callers.

    Args:
        seconds: computing time for all pilots; 0: play none. Only pilots of teams that no other pilot covers may
            exceed it.
        clock: returns seconds.
    """

    def __init__(self, seconds: float = SECONDS, clock: Callable[[], float] = effort) -> None:
        self._left = seconds
        self._least = _LEAST * seconds
        self._clock = clock
        self._kinds: dict[str, _Kind] = {}
        self._worlds: dict[bytes, _World] = {}
        self._teams: dict[bytes, list[_Kind]] = {}
        self._known: dict[bytes, Mapping[int, Taken]] = {}

    def play(self, cells: Sequence[PlannedCell]) -> None:
        """Play pilots of cells as far as time allows; kinds that were played before are unchanged."""
        new: dict[str, _Kind] = {}
        for cell in cells:
            name = _kind(cell)
            if name not in self._kinds:
                if name not in new:
                    new[name] = _describe(cell, self._worlds)
                new[name].cells.append(cell)
        self._kinds |= new
        for kind in new.values():
            for team in kind.teams:
                self._teams.setdefault(team, []).append(kind)
        waiting = _smallest_first(new.values())
        for place, kind in enumerate(waiting):
            bound = min(max(self._least, 3 * self._left / (len(waiting) - place)), self._left)
            known = any(self._by_size(team) for team in kind.teams)
            self._pilot(kind, bound if known else max(bound, self._least))
        self._known.clear()
        asking = [kind for kind in waiting if kind.whole and kind.cells[0].uses_models]
        while asking and self._left > 0 and not _certain(asking):
            kind = max(asking, key=lambda one: one.variance / len(one.pilots) / max(one.seconds, 1e-3))
            if kind.variance == 0 or not self._pilot(kind, self._left):
                asking.remove(kind)

    def expected(self, cell: PlannedCell) -> Guess | None:
        """Return the estimate for a cell; None if neither its kind nor a similar one could be played."""
        kind = self._kinds.get(_kind(cell))
        if kind is None or not kind.playable:
            return None
        taken = kind.taken
        if taken is not None and kind.shows_most:
            return Guess(taken, PLAYED if kind.whole else PARTIAL)
        for team in kind.teams:
            known = self._by_size(team)
            if not known or (taken is not None and kind.n in known):
                continue
            found = law(kind.n, known, kind.max_steps)
            if taken is not None and kind.pilots[0].steps >= _FEWEST:
                plain = {"max_steps": kind.max_steps, "budget": kind.budget}
                return Guess(kind.pilots[0].extrapolated(plain, found.steps), PARTIAL)
            return Guess(within(kind.budget, found), EXTRAPOLATED, tuple(nearest(kind.n, known)))
        return Guess(taken, PARTIAL) if taken is not None else None

    def _by_size(self, team: bytes) -> Mapping[int, Taken]:
        """Return what such teams take by size, preferably from pilots that cover most of an episode."""
        if team not in self._known:
            found: dict[int, list[Taken]] = {}
            kinds = [kind for kind in self._teams[team] if kind.shows_most]
            for kind in kinds or self._teams[team]:
                if (taken := kind.taken) is not None:
                    found.setdefault(kind.n, []).append(taken)
            self._known[team] = {n: mean_of(several) for n, several in found.items()}
        return self._known[team]

    def _pilot(self, kind: _Kind, seconds: float) -> bool:
        """Play the next board of a kind for at most `seconds`; return whether it finished."""
        if seconds <= 0:
            return False
        cell = kind.cells[_spread(len(kind.pilots), len(kind.cells))].cell()
        begin = self._clock()
        pilot = play_pilot(cell, min(PILOT_SECONDS, seconds), self._clock)
        self._left -= self._clock() - begin
        for team in kind.teams:
            self._known.pop(team, None)
        if pilot is None:
            kind.playable = False
            return False
        if pilot.whole or not kind.pilots:
            kind.pilots.append(pilot)
            kind.world.add(pilot, kind.max_steps)
        return pilot.whole


def nearest(n: int, known: Mapping[int, Any]) -> list[int]:
    """Return the two sizes with the nearest ratio to `n`, in order."""
    return sorted(sorted(known, key=lambda size: abs(log(size / n)))[:2])


def law(n: int, known: Mapping[int, Taken], max_steps: float = inf) -> Taken:
    """Return what a team of `n` agents takes.

    Steps, and usage per step, follow the power law through the two nearest sizes; with few boards, its exponent is
    bounded. With one known size, usage per step is proportional to the size.

    Args:
        n: number of agents.
        known: usage by team size, at least one.
        max_steps: maximum steps of an episode.
    """
    sizes = nearest(n, known)
    small, large = known[sizes[0]], known[sizes[-1]]
    grows = log(sizes[-1] / sizes[0]) if len(sizes) > 1 else 0.0

    def power(low: float, high: float) -> float:
        if low <= 0 or high <= 0:
            return max(low, high)
        exponent = log(high / low) / grows if grows else 1.0
        return high * pow(n / sizes[-1], min(max(exponent, -_STEEPEST), _STEEPEST))

    before, after = max(small.steps, 1.0), max(large.steps, 1.0)
    steps = min(power(before, after) if grows else after, max_steps)
    rates = {name: power(getattr(small, name) / before, getattr(large, name) / after) for name in Taken.__slots__}
    return Taken(**{name: steps * rate for name, rate in rates.items()} | {"steps": steps})


def _certain(kinds: Sequence[_Kind]) -> bool:
    """Whether total tokens over all cells are certain enough."""
    total = sum(len(kind.cells) * (kind.taken.tokens + kind.taken.answers) for kind in kinds if kind.taken is not None)
    return 2 * sqrt(sum(kind.variance for kind in kinds)) <= _ENOUGH * total


def _smallest_first(kinds: Iterable[_Kind]) -> list[_Kind]:
    """Order kinds: the smallest of each team, then the next size; kinds that call no models come last."""
    by_team: dict[bytes, list[_Kind]] = {}
    for kind in kinds:
        by_team.setdefault(kind.teams[0], []).append(kind)
    ranked: list[tuple[int, _Kind]] = []
    for several in by_team.values():
        ranked += enumerate(sorted(several, key=lambda kind: kind.n))
    Random(0).shuffle(ranked)
    ranked.sort(key=lambda one: (not one[1].cells[0].uses_models, one[0]))
    return [kind for _, kind in ranked]


def _spread(number: int, cells: int) -> int:
    """Return the index of the next cell to play, spread evenly over all cells without repeats."""
    step = max(1, round(cells * 0.618))
    while gcd(step, cells) != 1:
        step += 1
    return number * step % cells


def _kind(cell: PlannedCell) -> str:
    """Return the key of a cell's pilot: cells with the same configuration share it wherever they start."""
    return kind_of(orjson.loads(cell.configuration)) if cell.origin is not None else cell.kind


def _describe(cell: PlannedCell, worlds: dict[bytes, _World]) -> _Kind:
    raw: dict[str, Any] = orjson.loads(cell.configuration)
    own = {key: value for key, value in raw["env"].items() if isinstance(value, str | bool)}
    minds, topology = raw["agents"], raw["topology"]
    alike = [cell.arm, minds, topology, raw["llm"], raw.get("extension"), own]
    roughly = [team_label(minds), topology["name"], raw["env"]["name"]]
    world = worlds.setdefault(orjson.dumps(own), _World())
    return _Kind(world, raw["n"], raw["max_steps"], raw["budget"], tuple(map(orjson.dumps, (alike, roughly))))
