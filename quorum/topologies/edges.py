"""Edges of communication graphs (rings, trees, small worlds, proximity), and the neighbours they define."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from maeil.topology import ConversationState

Edge = tuple[int, int]


def check_edges(edges: Iterable[Edge], agents: int) -> None:
    """Check that each edge joins two of the agents.

    Raises:
        ValueError: an edge does not.
    """
    for a, b in edges:
        if a == b or max(a, b) >= agents:
            raise ValueError(f"edges: ({a}, {b}) does not join two different agents; the agents are 0 to {agents - 1}")


def neighbours(edges: Iterable[Edge], n: int) -> list[tuple[int, ...]]:
    """Return the neighbours of each of `n` agents, ascending; every edge goes both ways."""
    found: list[set[int]] = [set() for _ in range(n)]
    for a, b in edges:
        found[a].add(b)
        found[b].add(a)
    return [tuple(sorted(others)) for others in found]


def ring(agents: Sequence[int]) -> list[Edge]:
    """Join each agent to the next one, and the last to the first; a single agent gets no edge."""
    n = len(agents)
    return [(agents[i], agents[(i + 1) % n]) for i in range(n) if n > 1]


def complete(agents: Sequence[int]) -> list[Edge]:
    """Join each agent to every other."""
    return [(a, b) for i, a in enumerate(agents) for b in agents[i + 1 :]]


def parent(agent: int, branching: int) -> int:
    """Return the parent of a non-root agent in the tree with `branching` children per agent; agent 0 is the root."""
    return (agent - 1) // branching


def tree(n: int, branching: int) -> list[Edge]:
    """Join each of `n` agents to its `branching` children; agent 0 is the root."""
    return [(parent(a, branching), a) for a in range(1, n)]


def small_world(n: int, neighbours: int, rewiring: float, seed: int) -> list[Edge]:
    """Draw a small-world graph (Watts and Strogatz, Nature 393, 1998).

    Start from a ring in which each of `n` nodes is joined to its `neighbours // 2` nearest nodes on either side. Then
    rewire the far end of every edge with probability `rewiring`, never to the node itself or to one of its neighbours.
    """
    rng = random.Random(seed)
    edges = {tuple(sorted((a, (a + k) % n))) for a in range(n) for k in range(1, max(neighbours // 2, 1) + 1) if n > 1}
    joined = {edge for edge in edges if edge[0] != edge[1]}
    for a, b in sorted(joined):
        free = [c for c in range(n) if c != a and tuple(sorted((a, c))) not in joined]
        if rng.random() < rewiring and free:
            joined.remove((a, b))
            c = rng.choice(free)
            joined.add((min(a, c), max(a, c)))
    return [(edge[0], edge[1]) for edge in sorted(joined)]


def near(agents: Sequence[int], conversation: ConversationState, radius: float) -> list[Edge]:
    """Join agents that are currently at most `radius` apart, in the world's measure."""
    found = []
    for a, b in complete(agents):
        distance = conversation.distance(a, b)
        if distance is not None and distance <= radius:
            found.append((a, b))
    return found
