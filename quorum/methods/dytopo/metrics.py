"""Metrics of edges chosen by offers and needs (DyTopo, arXiv 2602.06039), or by as many random edges.

In a round, agents state their offers and needs, and the topology then chooses who writes to whom.
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
    """Mean over rounds of the number of edges; an edge links a sender to a recipient."""
    return mean([len(round_.edges) for round_ in trace.of(Routed)])


@routing_metric("routing.density", share=True)
def density(trace: Trace) -> Value:
    """Mean over rounds with at least two agents of edges / pairs of agents; acyclic, so one per pair at most."""
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
