"""Agents state offers and needs, and the matches decide who writes to whom in each round (DyTopo, arXiv 2602.06039).

Its control, `random`, has as many edges, at random. It shows the value of choosing the edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology
from quorum.methods.dytopo.describe import DESCRIBE, DescribeConfig, MatcherName, routes
from quorum.methods.dytopo.descriptors import EMBEDDING, Affinity, Edge


class DytopoConfig(ComponentConfig):
    """Parameters of `dytopo`, and of `random`, which has as many edges as the `dytopo` with these parameters."""

    name: Literal["dytopo", "random"]
    matcher: MatcherName
    """The name of the matcher that compares needs with offers."""
    threshold: Annotated[float, Field(ge=0, le=1)]
    """Minimum score for an edge from an offering to a needing agent."""
    inputs: PositiveInt
    """Maximum number of senders per recipient and round; the highest scores win."""
    rounds: PositiveInt
    """Number of rounds in which all agents describe themselves and then write, before they plan."""


class Dytopo(Topology):
    """Rounds: agents that need a plan describe themselves at once, then write along the edges; then they decide.

    They write in topological order, so each has read the messages routed to it before it writes. Agents woken by a
    message decide as well, but do not speak.
    """

    name = "dytopo"
    asks = frozenset({DESCRIBE})
    words = (
        "In each round, the agents that need a plan say what they offer and what they need. This decides which agents "
        "write to which, and they write in turn. At the end, all decide at once."
    )

    def __init__(self, config: DytopoConfig, _context: TopologyContext | None = None) -> None:
        self._config = config
        self.rounds = config.rounds
        self.embeds = config.matcher == EMBEDDING

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next writer, or turns for all to describe themselves, or a turn to plan for each."""
        if not conversation.quiet:
            return []
        if (writer := _next_writer(conversation)) is not None:
            return [writer]
        talkers = [agent for agent in conversation.opened_by if conversation.may_speak(agent)]
        if len(talkers) > 1 and len(routes(conversation)) < self._config.rounds:
            return [Turn(agent, frozenset(), asks=frozenset({DESCRIBE})) for agent in talkers]
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]

    def route(self, affinity: Affinity, _conversation: ConversationState) -> Sequence[Edge]:
        """Return the edges with the best scores, without cycles."""
        return without_cycles(strongest(affinity, self._config.threshold, self._config.inputs), affinity)


def _next_writer(conversation: ConversationState) -> Turn | None:
    """Return the turn of the first agent in topological order that has not written in this round."""
    rounds = routes(conversation)
    if not rounds:
        return None
    edges, wrote = rounds[-1], set()
    for taken in reversed(conversation.taken):
        if DESCRIBE in taken.turn.asks:
            break
        wrote.add(taken.turn.agent)
    for agent in in_order({agent for edge in edges for agent in edge}, edges):
        recipients = tuple(sorted(b for a, b in edges if a == agent))
        if recipients and agent not in wrote and conversation.may_speak(agent):
            return Turn(agent, frozenset({Act.SPEAK}), recipients, limit=1)
    return None


def strongest(affinity: Affinity, threshold: float, inputs: int) -> list[Edge]:
    """Link each agent with those whose offers best match its needs.

    Args:
        affinity: the match scores.
        threshold: minimum score of an edge.
        inputs: maximum number of edges to an agent; the highest scores win, and ties go to lower sender indices.
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
    """Break every cycle at its lowest-scoring edge; on a tie, at the edge from the highest index.

    So if two agents score equally for each other, the one with the lower index speaks first.
    """
    left = sorted(edges)
    while cycle := _cycle(left):
        left.remove(min(cycle, key=lambda edge: (affinity.of(*edge), -edge[0], -edge[1])))
    return left


def in_order(agents: Iterable[int], edges: Sequence[Edge]) -> list[int]:
    """Sort agents topologically; of those without remaining predecessors, the lowest index first (Kahn, 1962).

    Agents on a cycle, and those downstream of it, are left out.
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
    """Return the edges of one cycle; empty if there is none."""
    agents = {agent for edge in edges for agent in edge}
    stuck = agents - set(in_order(agents, edges))
    if not stuck:
        return []
    # Every remaining agent has a predecessor that remains, so walking back along edges ends in a cycle.
    path = [min(stuck)]
    while path[-1] not in path[:-1]:
        path.append(next(a for a, b in edges if b == path[-1] and a in stuck))
    loop = path[path.index(path[-1]) :]
    return [(a, b) for b, a in pairwise(loop)]


def requires(config: DytopoConfig) -> Mapping[str, DescribeConfig]:
    """Return the extension in which agents describe themselves."""
    return {DESCRIBE: DescribeConfig(matcher=config.matcher)}


def roles(config: DytopoConfig) -> Sequence[str]:
    """Return the model roles used in addition to the role of all turns."""
    return (EMBEDDING,) if config.matcher == EMBEDDING else ()


class RandomEdges(Dytopo):
    """Like `dytopo`, but with random edges.

    All agents describe themselves and are matched, which gives the number of edges that `dytopo` would choose and the
    in-degree of the first, second, ... agent in its topological order. Then the agents are shuffled, and each gets the
    in-degree of its position, with senders drawn from the agents before it. So only the choice of partners differs.
    """

    name = "random"

    def __init__(self, config: DytopoConfig, context: TopologyContext) -> None:
        super().__init__(config, context)
        self._seeds = context.seeds.child("edges")

    def route(self, affinity: Affinity, conversation: ConversationState) -> Sequence[Edge]:
        """Return random acyclic edges with the same number of edges and the same in-degrees by position as `dytopo`."""
        chosen = super().route(affinity, conversation)
        heard = [sum(b == agent for _, b in chosen) for agent in in_order(affinity.agents, chosen)]
        rng = self._seeds.child(conversation.t).child(len(routes(conversation))).generator()
        drawn = [affinity.agents[place] for place in rng.permutation(len(affinity.agents))]
        return sorted(
            (drawn[sender], drawn[place])
            for place, inputs in enumerate(heard)
            if inputs
            for sender in rng.choice(place, inputs, replace=False).tolist()
        )


component = Component(DytopoConfig, Dytopo, roles=roles, requires=requires, handover=Handover.FRESH)
random = Component(DytopoConfig, RandomEdges, roles=roles, requires=requires, handover=Handover.FRESH)
