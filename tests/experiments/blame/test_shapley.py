"""Shapley values against their definition, and sets of agents against all there are."""

from __future__ import annotations

import itertools
import random

import pytest

from quorum.experiments.blame.shares import Game, coalitions, exact_shares, minimal_sets, reduced_set, sampled_shares


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
    assert [share.value for share in shares] == pytest.approx(by_definition(game, agents))
    assert sum(share.value for share in shares) == pytest.approx(game(frozenset(range(agents))) - game(frozenset()))


def test_known_games_have_their_known_shares() -> None:
    shares = exact_shares({members: gloves(members) for members in coalitions(3)}, 3)
    assert [share.value for share in shares] == pytest.approx([2 / 3, 1 / 6, 1 / 6])
    shares = exact_shares({members: majority(members) for members in coalitions(5)}, 5)
    assert [share.value for share in shares] == pytest.approx([0.2] * 5)


def test_sampled_shares_are_unbiased_and_their_intervals_hold_the_exact_ones() -> None:
    game = drawn(5, seed=9)
    exact = by_definition(game, 5)
    runs = [sampled_shares(game, 5, pairs=20, seed=seed) for seed in range(200)]
    for agent in range(5):
        mean = sum(run[agent].value for run in runs) / len(runs)
        assert mean == pytest.approx(exact[agent], abs=0.02)
        inside = sum(run[agent].low <= exact[agent] <= run[agent].high for run in runs)
        assert inside >= 0.88 * len(runs)


def test_sampled_shares_add_up_and_a_symmetric_game_is_exact_in_pairs() -> None:
    game = drawn(6, seed=1)
    shares = sampled_shares(game, 6, pairs=3, seed=0)
    assert sum(share.value for share in shares) == pytest.approx(game(frozenset(range(6))) - game(frozenset()))
    additive = sampled_shares(lambda members: float(sum(members)), 6, pairs=2, seed=0)
    assert [share.value for share in additive] == pytest.approx([0, 1, 2, 3, 4, 5])


@pytest.mark.parametrize("seed", range(5))
def test_minimal_sets_are_those_without_a_smaller_part_that_flips(seed: int) -> None:
    rng = random.Random(seed)
    flips = {members for members in coalitions(4) if rng.random() < 0.4}
    found = minimal_sets(flips)
    assert set(found) == {members for members in flips if not any(other < members for other in flips)}


@pytest.mark.parametrize("wanted", [{3}, {0, 7}, {1, 4, 6}, set(range(8))])
def test_what_is_left_of_a_large_set_is_the_cause(wanted: set[int]) -> None:
    asked: list[frozenset[int]] = []

    def flips(members: frozenset[int]) -> bool:
        asked.append(members)
        return wanted <= members

    assert reduced_set(flips, range(8)) == wanted
    assert len(asked) < 64


def test_of_a_game_that_is_not_monotone_no_single_agent_can_be_left_out() -> None:
    def flips(members: frozenset[int]) -> bool:
        return len(members) in (6, 4) or {1, 5} == members

    found = reduced_set(flips, range(6))
    assert flips(found)
    assert not any(flips(found - {agent}) for agent in found)
