"""Shapley values of a game among agents: exact for few, sampled without bias for many.

The value of agent i is the mean, over all orders of the agents, of what it adds to those before it (Shapley 1953). A
game is a function of the set of those who take part. Values of all agents add up to v(all) - v(none).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import factorial, fsum, sqrt

Game = Callable[[frozenset[int]], float]
_NORMAL = 1.959963984540054
"""Quantile of the normal distribution for intervals of 95 %."""


@dataclass(frozen=True, slots=True)
class Share:
    """The value of an agent.

    Attributes:
        value: it, or its estimate.
        low: lower end of its 95 % interval; `value` where it is exact.
        high: upper end of it.
    """

    value: float
    low: float
    high: float


def coalitions(agents: int) -> list[frozenset[int]]:
    """Return all sets of agents: the smaller ones first, each size in order."""
    found = [frozenset(i for i in range(agents) if mask >> i & 1) for mask in range(1 << agents)]
    return sorted(found, key=lambda members: (len(members), sorted(members)))


def exact_shares(values: Mapping[frozenset[int], float], agents: int) -> list[Share]:
    """Return the Shapley values of a game whose every coalition is known.

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
    """Estimate the Shapley values from orders drawn at random, each with its reverse (antithetic pairs).

    The mean of an agent's contributions over an order and its reverse is unbiased, since both are uniform; pairs are
    independent, so the interval is that of their mean, by the normal distribution. Sources: Castro, Gomez and Tejada
    2009 (sampling orders); Mitchell et al. 2022 (antithetic pairs).

    Args:
        game: value of a coalition; it is asked for prefixes of orders only.
        agents: number of agents.
        pairs: orders that are drawn; each is played in both directions; at least 2.
        seed: of what is drawn.
    """
    rng = random.Random(seed)
    sums, squares = [0.0] * agents, [0.0] * agents
    for _ in range(pairs):
        order = list(range(agents))
        rng.shuffle(order)
        added = [0.0] * agents
        for direction in (order, order[::-1]):
            _contribute(game, direction, added)
        for agent, both in enumerate(added):
            sums[agent] += both / 2
            squares[agent] += both * both / 4
    return [_estimate(total, square, pairs) for total, square in zip(sums, squares, strict=True)]


def _contribute(game: Game, order: Sequence[int], added: list[float]) -> None:
    before = game(frozenset())
    for place, agent in enumerate(order):
        after = game(frozenset(order[: place + 1]))
        added[agent] += after - before
        before = after


def _estimate(total: float, square: float, pairs: int) -> Share:
    mean = total / pairs
    variance = max(square - pairs * mean * mean, 0.0) / (pairs - 1)
    half = _NORMAL * sqrt(variance / pairs)
    return Share(mean, mean - half, mean + half)
