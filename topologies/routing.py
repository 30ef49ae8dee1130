"""Edges from scores (DyTopo, arXiv 2602.06039): the best offers for each need, without a cycle, in an order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from maeil.extensions.describe.descriptors import Affinity, Edge


def strongest(affinity: Affinity, threshold: float, inputs: int) -> list[Edge]:
    """Join each agent with those who offer best what it needs.

    Args:
        affinity: how well offers answer needs.
        threshold: the least score of an edge.
        inputs: edges to an agent, at most: those of the highest scores, and of equal ones those from lower indices.
    """
    edges: list[Edge] = []
    for recipient, row in zip(affinity.agents, affinity.scores, strict=True):
        able = [
            (-score, sender)
            for sender, score in zip(affinity.agents, row, strict=True)
            if sender != recipient and score >= threshold
        ]
        edges += [(sender, recipient) for _, sender in sorted(able)[:inputs]]
    return sorted(edges)


def without_cycles(edges: Iterable[Edge], affinity: Affinity) -> list[Edge]:
    """Break every cycle at its lightest edge; of equally light ones at the one from the highest index.

    So of two agents that would tell each other as much, the one with the lower index speaks first.
    """
    left = sorted(edges)
    while cycle := _cycle(left):
        left.remove(min(cycle, key=lambda edge: (affinity.of(*edge), -edge[0], -edge[1])))
    return left


def in_order(agents: Iterable[int], edges: Sequence[Edge]) -> list[int]:
    """Order agents so that all edges go forward: of those that wait for nobody, the lowest index first (Kahn, 1962).

    Those on a cycle, and behind it, are left out.
    """
    waiting = {agent: {a for a, b in edges if b == agent} for agent in sorted(agents)}
    order: list[int] = []
    while (first := next((agent for agent, before in waiting.items() if not before), None)) is not None:
        del waiting[first]
        for before in waiting.values():
            before.discard(first)
        order.append(first)
    return order


def _cycle(edges: Sequence[Edge]) -> list[Edge]:
    """Return the edges of a cycle; none where there is none."""
    agents = {agent for edge in edges for agent in edge}
    stuck = agents - set(in_order(agents, edges))
    if not stuck:
        return []
    # Everybody left has an edge from somebody left: going back along them ends in a cycle.
    path = [min(stuck)]
    while path[-1] not in path[:-1]:
        path.append(next(a for a, b in edges if b == path[-1] and a in stuck))
    loop = path[path.index(path[-1]) :]
    return [(a, b) for b, a in pairwise(loop)]
