"""A leader directs, and followers write to it and to their peers (the hybrid of arXiv 2512.08296)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import NonNegativeFloat

from maeil.component import Component, Handover, TopologyContext
from maeil.topology import ConversationState
from quorum.topologies.centralized import FOLLOWER, Centralized, LedConfig, check_leader, roles
from quorum.topologies.edges import complete, near, neighbours, ring

_WORDS = (
    "Your team has a leader. Follow its directives; when you cannot, tell it why. You can write to your peers, too: "
    "tell them what you are going to do."
)


class HybridConfig(LedConfig):
    """Parameters of `hybrid`: those of `centralized`, and the edges of peers."""

    name: Literal["hybrid"]
    peers: Literal["ring", "near", "all"]
    """Whom a follower can write to besides the leader: the ones before and after it in index order, those near it in
    the world, or all; never the leader's place in the ring."""
    radius: NonNegativeFloat
    """Largest distance of peers, in the world's measure, for `near`."""


class Hybrid(Centralized):
    """The star of `centralized` with edges between the followers.

    What a follower writes, an acknowledgement or the request to a busy leader, can go to its peers in the same message.
    A peer that carries out a plan is interrupted by that, as by any message, and decides again.
    """

    name = "hybrid"

    def __init__(self, config: HybridConfig) -> None:
        super().__init__(config)
        self._peers = config.peers
        self._radius = config.radius

    def peers(self, followers: Sequence[int], conversation: ConversationState) -> Mapping[int, Sequence[int]]:
        """Return whom each follower can write to besides the leader."""
        match self._peers:
            case "ring":
                edges = ring(followers)
            case "near":
                edges = near(followers, conversation, self._radius)
            case "all":
                edges = complete(followers)
        return dict(enumerate(neighbours(edges, conversation.agents)))

    def describe(self, role: str) -> str:
        """Return what a prompt says of it to the leader, or to a follower."""
        return _WORDS if role == FOLLOWER else super().describe(role)


def build(config: HybridConfig, context: TopologyContext) -> Hybrid:
    """Make the topology.

    Raises:
        ValueError: the leader is not one of the agents.
    """
    check_leader(config, context)
    return Hybrid(config)


component = Component(HybridConfig, build, roles=roles, handover=Handover.FRESH)
