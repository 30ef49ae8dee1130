"""Edges from scores (DyTopo): the threshold, how many an agent hears, no cycle, an order; and the control of it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil import Seeds, TopologyContext
from quorum.methods.dytopo.descriptors import Affinity
from quorum.methods.dytopo.topology import Dytopo, DytopoConfig, RandomEdges, in_order, strongest, without_cycles

START = SimpleNamespace(t=0, found_by=lambda _: [])


@st.composite
def affinities(draw: st.DrawFn) -> Affinity:
    agents = draw(st.lists(st.integers(0, 20), min_size=2, max_size=9, unique=True))
    score = st.sampled_from([0.0, 0.2, 0.3, 0.5, 0.5, 1.0])
    rows = [[0.0 if i == j else draw(score) for j in range(len(agents))] for i in range(len(agents))]
    return Affinity(tuple(sorted(agents)), tuple(map(tuple, rows)))


def routed(affinity: Affinity, inputs: int = 3, threshold: float = 0.3) -> list[tuple[int, int]]:
    config = DytopoConfig(name="dytopo", matcher="typed", threshold=threshold, inputs=inputs, rounds=1)
    return list(Dytopo(config).route(affinity, START))


def drawn(affinity: Affinity, inputs: int = 3, seed: int = 0, t: int = 0) -> list[tuple[int, int]]:
    config = DytopoConfig(name="random", matcher="typed", threshold=0.3, inputs=inputs, rounds=1)
    topology = RandomEdges(config, TopologyContext(30, Seeds(seed, "topology")))
    return list(topology.route(affinity, SimpleNamespace(t=t, found_by=lambda _: [])))


def is_acyclic(affinity: Affinity, edges: list[tuple[int, int]]) -> bool:
    return len(in_order(affinity.agents, edges)) == len(affinity.agents)


@given(affinities(), st.integers(1, 4))
def test_edges_reach_the_threshold_and_an_agent_hears_no_more_than_its_inputs(affinity: Affinity, inputs: int) -> None:
    edges = routed(affinity, inputs)
    assert all(affinity.of(sender, recipient) >= 0.3 for sender, recipient in edges)
    assert all(sum(b == agent for _, b in edges) <= inputs for agent in affinity.agents)
    assert all(a != b for a, b in edges)
    assert len(set(edges)) == len(edges)


@given(affinities())
def test_edges_have_no_cycle_and_none_is_missing_that_would_close_none(affinity: Affinity) -> None:
    before, edges = strongest(affinity, 0.3, 3), routed(affinity)
    assert set(edges) <= set(before)
    assert is_acyclic(affinity, edges)
    if is_acyclic(affinity, before):
        assert edges == before


@given(affinities())
def test_in_the_order_every_sender_comes_before_those_it_writes_to(affinity: Affinity) -> None:
    edges = routed(affinity)
    place = {agent: index for index, agent in enumerate(in_order(affinity.agents, edges))}
    assert all(place[sender] < place[recipient] for sender, recipient in edges)


@given(affinities(), st.integers(1, 4), st.integers(0, 5))
def test_the_control_has_as_many_edges_and_as_many_to_an_agent_and_no_cycle(
    affinity: Affinity, inputs: int, seed: int
) -> None:
    chosen, edges = routed(affinity, inputs), drawn(affinity, inputs, seed)
    assert len(set(edges)) == len(edges) == len(chosen)
    assert is_acyclic(affinity, edges)

    def heard(found: list[tuple[int, int]]) -> list[int]:
        return sorted(sum(b == agent for _, b in found) for agent in affinity.agents)

    assert heard(edges) == heard(chosen)
    assert edges == drawn(affinity, inputs, seed)


def test_the_control_does_not_look_at_who_is_joined_and_draws_again_in_every_step_and_on_every_board() -> None:
    agents, same = tuple(range(6)), tuple(tuple(float(i != j) for j in range(6)) for i in range(6))
    affinity = Affinity(agents, same)
    found = {tuple(drawn(affinity, 1, seed, t)) for seed in range(10) for t in range(10)}
    assert len(found) > 50
    senders = [sender for edges in found for sender, _ in edges]
    assert all(senders.count(agent) > len(senders) / 12 for agent in agents)


def test_of_equal_scores_those_from_lower_indices_are_kept() -> None:
    affinity = Affinity((0, 1, 2, 3), ((0, 0, 0, 0), (0, 0, 0, 0), (0, 0, 0, 0), (0.5, 0.9, 0.5, 0)))
    assert strongest(affinity, 0.3, 2) == [(0, 3), (1, 3)]


def test_a_cycle_breaks_at_its_lightest_edge() -> None:
    # 0 needs 1, 1 needs 2, 2 needs 0: the offer of 2 for 1 is the least
    affinity = Affinity((0, 1, 2), ((0, 0.9, 0), (0, 0, 0.4), (0.8, 0, 0)))
    assert strongest(affinity, 0.3, 3) == [(0, 2), (1, 0), (2, 1)]
    assert routed(affinity) == [(0, 2), (1, 0)]
    assert in_order((0, 1, 2), routed(affinity)) == [1, 0, 2]


def test_of_two_that_would_tell_each_other_as_much_the_lower_index_speaks_first() -> None:
    assert routed(Affinity((3, 5), ((0, 1), (1, 0)))) == [(3, 5)]


def test_those_who_wait_for_nobody_go_by_index() -> None:
    assert in_order((4, 1, 0, 2), [(4, 0)]) == [1, 2, 4, 0]
    assert in_order((0, 1, 2), [(0, 1), (1, 0), (1, 2)]) == []


@pytest.mark.parametrize("threshold", [0.3, 0.30001])
def test_a_score_at_the_threshold_is_enough(threshold: float) -> None:
    edges = strongest(Affinity((0, 1), ((0.0, 0.0), (0.3, 0.0))), threshold, 3)
    assert edges == ([(0, 1)] if threshold == 0.3 else [])


def test_all_edges_of_many_agents_who_offer_all_that_all_need_join_each_pair_once() -> None:
    n = 5
    affinity = Affinity(tuple(range(n)), tuple(tuple(float(i != j) for j in range(n)) for i in range(n)))
    assert without_cycles(strongest(affinity, 0.3, n), affinity) == [(a, b) for a in range(n) for b in range(a + 1, n)]
