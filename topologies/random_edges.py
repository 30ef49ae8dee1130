"""The control of `dytopo`: as many edges, at random. It shows what the choice of edges is worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from maeil.component import Component, Handover, TopologyContext
from maeil.extensions.describe.describing import routes
from maeil.extensions.describe.descriptors import Affinity, Edge
from maeil.topology import ConversationState
from quorum.topologies.dytopo import Dytopo, RoutedConfig, requires, roles
from quorum.topologies.routing import in_order


class RandomEdgesConfig(RoutedConfig):
    """Parameters of `random`: those of the `dytopo` whose edges it has as many of."""

    name: Literal["random"]


class RandomEdges(Dytopo):
    """As `dytopo`, but who is joined is drawn.

    All describe themselves and are matched, so that what `dytopo` would join is known: its number of edges, and how
    many edges go to the first, the second, ... in its order. Then the agents are put into a random order, and each
    hears as many as the one in its place would, drawn from those before it. So nothing differs but who hears whom.
    """

    name = "random"

    def __init__(self, config: RandomEdgesConfig, context: TopologyContext) -> None:
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


component = Component(RandomEdgesConfig, RandomEdges, roles=roles, requires=requires, handover=Handover.FRESH)
