"""The share of each agent in a failure, and the smallest sets of agents that must be corrected together.

Shares are Shapley values: the value of agent i is the mean, over all orders of the agents, of what it adds to those
before it (Shapley 1953). The game is the success, or the grade, of the run when the reference decides for a coalition.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import factorial, fsum, sqrt
from typing import Any

from maeil.trace import Instant
from quorum.experiments.blame.attempts import Attempts, BudgetSpent
from quorum.experiments.blame.ending import Ending
from quorum.experiments.blame.posterior import NORMAL
from quorum.experiments.blame.reruns import Correction

LARGEST_EXACT = 8
"""Agents of which all 2^n coalitions are played."""

Game = Callable[[frozenset[int]], float]
Flips = Callable[[frozenset[int]], bool]


@dataclass(frozen=True, slots=True)
class Share:
    """The share of an agent.

    Attributes:
        value: its Shapley value, or the estimate of it.
        low: lower end of the 95 % interval; `value` if it is exact.
        high: upper end.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares and minimal sets of the agents of a run.

    Attributes:
        players: names of the agents.
        at: when the reference starts to decide for a coalition.
        exact: whether all coalitions were played.
        success: share of each agent in the gain of the reference, in successes.
        graded: the same in the graded measure.
        sets: minimal sets whose correction flips the run: all of them if exact, else one.
        why_cut: why a part is missing; empty for nothing.
    """

    players: tuple[str, ...]
    at: Instant
    exact: bool = True
    success: tuple[Share, ...] = ()
    graded: tuple[Share, ...] = ()
    sets: tuple[tuple[str, ...], ...] = ()
    why_cut: str = ""

    def plain(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""

        def of(shares: Sequence[Share]) -> dict[str, Any]:
            return {name: asdict(share) for name, share in zip(self.players, shares, strict=False)}

        return {
            "from": str(self.at),
            "exact": self.exact,
            "success": of(self.success),
            "graded": of(self.graded),
            "sets": [list(names) for names in self.sets],
            "why_cut": self.why_cut,
        }


def find_shares(players: Sequence[str], attempts: Attempts, at: Instant, *, pairs: int, seed: int) -> Shares:
    """Let the reference decide for coalitions of agents, and share out what that improves.

    Args:
        players: names of the agents.
        attempts: plays corrections.
        at: when the reference starts to decide.
        pairs: pairs of orders to sample for teams larger than `LARGEST_EXACT`.
        seed: of the sampling.
    """
    names = tuple(players)

    def ending(members: frozenset[int]) -> Ending:
        return attempts.ending(Correction(at, _named(names, members)))

    def flips(members: frozenset[int]) -> bool:
        return attempts.success.met(ending(members))

    def grade(members: frozenset[int]) -> float:
        return attempts.success.grade(ending(members), attempts.longest)

    exact = len(names) <= LARGEST_EXACT
    sets: tuple[tuple[str, ...], ...] = ()
    try:
        if exact:
            everything = coalitions(len(names))
            successes = {members: float(flips(members)) for members in everything}
            grades = {members: grade(members) for members in everything}
            found = minimal_sets(members for members, flip in successes.items() if flip)
            success, graded = (exact_shares(values, len(names)) for values in (successes, grades))
            return Shares(names, at, exact, tuple(success), tuple(graded), tuple(_named(names, one) for one in found))
        everybody = tuple(range(len(names)))
        if flips(frozenset(everybody)):
            sets = (_named(names, reduced_set(flips, everybody)),)
        success = sampled_shares(lambda members: float(flips(members)), len(names), pairs, seed)
        return Shares(names, at, exact, tuple(success), tuple(sampled_shares(grade, len(names), pairs, seed)), sets)
    except BudgetSpent as spent:
        return Shares(names, at, exact, sets=sets, why_cut=str(spent))


def _named(names: Sequence[str], members: frozenset[int]) -> tuple[str, ...]:
    return tuple(names[index] for index in sorted(members))


def coalitions(agents: int) -> list[frozenset[int]]:
    """Return all sets of agents: the smaller ones first, each size in order."""
    found = [frozenset(i for i in range(agents) if mask >> i & 1) for mask in range(1 << agents)]
    return sorted(found, key=lambda members: (len(members), sorted(members)))


def exact_shares(values: Mapping[frozenset[int], float], agents: int) -> list[Share]:
    """Return the Shapley values of a game with known coalitions.

    Args:
        values: of all 2^n coalitions.
        agents: n.
    """
    weights = [factorial(size) * factorial(agents - size - 1) / factorial(agents) for size in range(agents)]
    found = []
    for agent in range(agents):
        share = fsum(
            weights[len(members)] * (values[members | {agent}] - value)
            for members, value in values.items()
            if agent not in members
        )
        found.append(Share(share, share, share))
    return found


def sampled_shares(game: Game, agents: int, pairs: int, seed: int) -> list[Share]:
    """Estimate the Shapley values from random orders, each with its reverse (antithetic pairs).

    The mean of an agent's contributions over an order and its reverse is unbiased, since both are uniform; pairs are
    independent, so the interval is that of their mean, by the normal distribution. Sources: Castro, Gomez and Tejada
    2009 (sampling orders); Mitchell et al. 2022 (antithetic pairs).

    Args:
        game: value of a coalition; called with prefixes of orders only.
        agents: number of agents.
        pairs: orders to draw, each played in both directions; at least 2.
        seed: of the draws.
    """
    rng = random.Random(seed)
    sums, squares = [0.0] * agents, [0.0] * agents
    for _ in range(pairs):
        order = list(range(agents))
        rng.shuffle(order)
        added = [0.0] * agents
        for direction in (order, order[::-1]):
            before = game(frozenset())
            for place, agent in enumerate(direction):
                after = game(frozenset(direction[: place + 1]))
                added[agent] += after - before
                before = after
        for agent, both in enumerate(added):
            sums[agent] += both / 2
            squares[agent] += both * both / 4
    return [_estimate(total, square, pairs) for total, square in zip(sums, squares, strict=True)]


def _estimate(total: float, square: float, pairs: int) -> Share:
    mean = total / pairs
    variance = max(square - pairs * mean * mean, 0.0) / (pairs - 1)
    half = NORMAL * sqrt(variance / pairs)
    return Share(mean, mean - half, mean + half)


def minimal_sets(successes: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return the sets that flip and have no smaller part that flips, the smaller ones first.

    Args:
        successes: all sets that flip.
    """
    found: list[frozenset[int]] = []
    for members in sorted(successes, key=lambda members: (len(members), sorted(members))):
        if not any(smaller <= members for smaller in found):
            found.append(members)
    return found


def reduced_set(flips: Flips, agents: Sequence[int]) -> frozenset[int]:
    """Reduce a set that flips to one from which no single agent can be left out, by delta debugging.

    This is ddmin (Zeller and Hildebrandt 2002, section 3): it tries parts and their complements in ever smaller pieces.
    The result is 1-minimal: every set with one agent less fails. Other sets, even smaller ones, may flip too.

    Args:
        flips: whether a set flips.
        agents: a set that flips.
    """
    kept, pieces = list(agents), 2
    while len(kept) > 1:
        size = -(-len(kept) // pieces)
        parts = [kept[start : start + size] for start in range(0, len(kept), size)]
        part = next((part for part in parts if flips(frozenset(part))), None) if pieces <= len(kept) else None
        if part is not None:
            kept, pieces = part, 2
            continue
        others = [[one for one in kept if one not in part] for part in parts]
        other = next((other for other in others if len(parts) > 2 and flips(frozenset(other))), None)
        if other is not None:
            kept, pieces = other, max(pieces - 1, 2)
        elif pieces < len(kept):
            pieces = min(2 * pieces, len(kept))
        else:
            break
    return frozenset(kept)
