"""Shapley values against their definition, and sets of agents against all there are."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest

from quorum.what_if.blame.shares import coalitions, exact_shares, minimal_sets

Game = Callable[[frozenset[int]], float]


def drawn(agents: int, seed: int) -> Game:
    """Return a game whose coalitions are worth what is drawn for each."""
    rng = random.Random(seed)
    values = {members: rng.uniform(-1, 1) for members in coalitions(agents)}
    return values.__getitem__


def by_definition(game: Game, agents: int) -> list[float]:
    """Return the mean of what each adds, over all orders."""
    orders = list(itertools.permutations(range(agents)))
    added = [0.0] * agents
    for order in orders:
        for place, agent in enumerate(order):
            added[agent] += game(frozenset(order[: place + 1])) - game(frozenset(order[:place]))
    return [total / len(orders) for total in added]


def gloves(members: frozenset[int]) -> float:
    """One left glove, two right ones: a pair is worth 1. The shares are known: 2/3, 1/6, 1/6."""
    return float(0 in members and bool(members & {1, 2}))


def majority(members: frozenset[int]) -> float:
    return float(len(members) >= 3)


@pytest.mark.parametrize("agents", [1, 2, 3, 5])
def test_exact_shares_are_the_mean_over_all_orders(agents: int) -> None:
    game = drawn(agents, seed=agents)
    shares = exact_shares({members: game(members) for members in coalitions(agents)}, agents)
    assert shares == pytest.approx(by_definition(game, agents))
    assert sum(shares) == pytest.approx(game(frozenset(range(agents))) - game(frozenset()))


def test_known_games_have_their_known_shares() -> None:
    shares = exact_shares({members: gloves(members) for members in coalitions(3)}, 3)
    assert shares == pytest.approx([2 / 3, 1 / 6, 1 / 6])
    shares = exact_shares({members: majority(members) for members in coalitions(5)}, 5)
    assert shares == pytest.approx([0.2] * 5)


@pytest.mark.parametrize("seed", range(5))
def test_minimal_sets_are_those_without_a_smaller_part_that_flips(seed: int) -> None:
    rng = random.Random(seed)
    flips = {members for members in coalitions(4) if rng.random() < 0.4}
    found = minimal_sets(flips)
    assert set(found) == {members for members in flips if not any(other < members for other in flips)}
