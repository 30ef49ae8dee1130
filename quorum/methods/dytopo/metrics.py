"""Who is joined by what it offers and needs (DyTopo, arXiv 2602.06039), or at random with as many edges.

A round is one in which agents have said what they offer and need, and it was settled who writes to whom.
"""

from __future__ import annotations

from functools import partial

from maeil.metrics.registry import Value, metric
from maeil.metrics.statistics import mean
from maeil.trace.reader import Trace
from quorum.methods.dytopo.events import Routed

routing_metric = partial(metric, of=Routed)


@routing_metric("routing.rounds", "rounds")
def rounds(trace: Trace) -> Value:
    """Rounds in which offers and needs were matched."""
    return len(trace.stamped(Routed))


@routing_metric("routing.edges", "edges per round")
def edges(trace: Trace) -> Value:
    """Mean over rounds of the edges: an edge joins a sender with one that it writes to."""
    return mean([len(round_.edges) for round_ in trace.of(Routed)])


@routing_metric("routing.density", share=True)
def density(trace: Trace) -> Value:
    """Mean over rounds of at least two agents of edges / pairs of agents: without a cycle, a pair has one at most."""
    sizes = ((len(round_.edges), len(round_.agents)) for round_ in trace.of(Routed))
    return mean([edges / (agents * (agents - 1) / 2) for edges, agents in sizes if agents > 1])


@routing_metric("routing.score", rate=True)
def score(trace: Trace) -> Value:
    """Mean over all edges of the score of the sender's offer for the recipient's need, from 0 to 1."""
    found: list[float] = []
    for round_ in trace.of(Routed):
        place = {agent: index for index, agent in enumerate(round_.agents)}
        found += [round_.scores[place[recipient]][place[sender]] for sender, recipient in round_.edges]
    return mean(found)
