"""Agents say what they offer and need; who writes to whom follows from that in each round (DyTopo, arXiv 2602.06039).

Its control, `random`, has as many edges, at random. It shows what the choice of edges is worth.
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
    """Parameters of `dytopo`, and of `random`: those of the `dytopo` whose edges it has as many of."""

    name: Literal["dytopo", "random"]
    matcher: MatcherName
    """What needs are compared with offers by."""
    threshold: Annotated[float, Field(ge=0, le=1)]
    """The least score at which one who offers writes to one who needs."""
    inputs: PositiveInt
    """How many write to an agent in a round, at most: those with the highest scores."""
    rounds: PositiveInt
    """How often all say what they offer and need, and then write, before all plan."""


class Dytopo(Topology):
    """Rounds in which those who need a plan describe themselves at once, then write along the edges; then they decide.

    They write one after the other in topological order, so each has read what was routed to it before it writes. Those
    whom a message has woken decide as well; they do not speak.
    """

    name = "dytopo"
    asks = frozenset({DESCRIBE})
    words = (
        "In a round the agents that need a plan say what they offer and what they need. Then it is settled who writes "
        "to whom, and they write one after the other. In the end all decide at once."
    )

    def __init__(self, config: DytopoConfig, _context: TopologyContext | None = None) -> None:
        self._config = config
        self.rounds = config.rounds
        self.embeds = config.matcher == EMBEDDING

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next to write, the turns of all to describe themselves, or a turn to plan for all."""
        if not conversation.quiet:
            return []
        if (writer := _next_writer(conversation)) is not None:
            return [writer]
        talkers = [agent for agent in conversation.opened_by if conversation.may_speak(agent)]
        if len(talkers) > 1 and len(routes(conversation)) < self._config.rounds:
            return [Turn(agent, frozenset(), asks=frozenset({DESCRIBE})) for agent in talkers]
        return [Turn(agent, frozenset({Act.PLAN})) for agent in conversation.undecided]

    def route(self, affinity: Affinity, _conversation: ConversationState) -> Sequence[Edge]:
        """Return the edges of the best scores, without a cycle."""
        return without_cycles(strongest(affinity, self._config.threshold, self._config.inputs), affinity)


def _next_writer(conversation: ConversationState) -> Turn | None:
    """Return the turn of the first, in the order of the edges, that has not written in this round."""
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


def requires(config: DytopoConfig) -> Mapping[str, DescribeConfig]:
    """Return the extension in which agents describe themselves."""
    return {DESCRIBE: DescribeConfig(matcher=config.matcher)}


def roles(config: DytopoConfig) -> Sequence[str]:
    """Return the roles in which models are asked besides that of all turns."""
    return (EMBEDDING,) if config.matcher == EMBEDDING else ()


class RandomEdges(Dytopo):
    """As `dytopo`, but who is joined is drawn.

    All describe themselves and are matched, so that what `dytopo` would join is known: its number of edges, and how
    many edges go to the first, the second, ... in its order. Then the agents are put into a random order, and each
    hears as many as the one in its place would, drawn from those before it. So nothing differs but who hears whom.
    """

    name = "random"

    def __init__(self, config: DytopoConfig, context: TopologyContext) -> None:
        super().__init__(config, context)
        self._seeds = context.seeds.child("edges")

    def route(self, affinity: Affinity, conversation: ConversationState) -> Sequence[Edge]:
        """Return edges at random: as many as by the scores, as many to an agent at most, and without a cycle."""
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
