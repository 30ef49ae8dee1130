"""A leader directs, followers acknowledge or object (EmCoop, `centralized`).

In `hybrid`, followers also write to their peers (the hybrid of arXiv 2512.08296).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import NonNegativeFloat, NonNegativeInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import COORDINATOR, Act, Turn
from maeil.topology import ConversationState, Topology, turns_with
from quorum.topologies.edges import complete, near, neighbours, ring

LEADER, FOLLOWER = "leader", "follower"

_WORDS = {
    LEADER: "You lead this team: you tell the others what to do, and they follow your directives.",
    FOLLOWER: "Your team has a leader. Follow its directives, or tell it why you cannot.",
}


class LedConfig(ComponentConfig):
    """Parameters of a topology with one leader."""

    leader: NonNegativeInt | Literal["coordinator"]
    """Index of the leading agent, or `coordinator` for a mind without a body."""
    rounds: NonNegativeInt
    """How often the leader may answer the acknowledgements."""
    feedback: Literal["none", "constraints"]
    """Whether the leader, its directives and all turns that commit a plan show the open tasks and what each still lacks
    (EmCoop, RQ3)."""


class CentralizedConfig(LedConfig):
    """Parameters of `centralized`."""

    name: Literal["centralized"]


class Centralized(Topology):
    """Directive, acknowledgements, up to `rounds` answers, then all agents plan at once.

    If the leader is carrying out its own plan, the agents that need a plan write to it first, which interrupts it. The
    leader may answer until it sends no message, which ends the conversation.

    Raises:
        ValueError: the leader is not one of the agents.
    """

    name = "centralized"
    words_by_role = _WORDS

    def __init__(self, config: LedConfig, context: TopologyContext | None = None) -> None:
        if context is not None and config.leader != "coordinator" and config.leader >= context.agents:
            raise ValueError(f"leader: there is no agent {config.leader}; the agents are 0 to {context.agents - 1}")
        self._config = config
        self.coordinated = config.leader == "coordinator"
        self.leader = None if config.leader == "coordinator" else config.leader
        self.rounds = config.rounds
        self.feedback = config.feedback == "constraints"

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turns of the next phase of the conversation."""
        if not conversation.quiet or not conversation.undecided:
            return []
        leader = conversation.agents if self._config.leader == "coordinator" else self._config.leader
        followers = [agent for agent in conversation.undecided if agent != leader]
        directives = [
            taken for taken in conversation.taken if taken.turn.agent == leader and Act.SPEAK in taken.turn.acts
        ]
        rounds = self._config.rounds
        if not conversation.may_speak(leader):
            if directives or turns_with(Act.SPEAK, conversation):
                return self._plan(leader, conversation)
            return self._write(Act.SPEAK, followers, leader, conversation)
        if not directives:
            return [self._direct(leader, conversation)]
        if directives[-1].messages and followers:
            answered = max(turns_with(Act.ACKNOWLEDGE, conversation).values(), default=0)
            if answered < len(directives) <= max(rounds, 1):
                return self._write(Act.ACKNOWLEDGE, followers, leader, conversation)
            if len(directives) <= rounds:
                return [self._direct(leader, conversation)]
        return self._plan(leader, conversation)

    def peers(self, followers: Sequence[int], conversation: ConversationState) -> Mapping[int, Sequence[int]]:  # noqa: ARG002 (for topologies with peers)
        """Return the agents each follower can write to besides the leader; none here.

        Args:
            followers: all agents but the leader, ascending.
            conversation: its state.
        """
        return {}

    def _direct(self, leader: int, conversation: ConversationState) -> Turn:
        followers = tuple(agent for agent in range(conversation.agents) if agent != leader)
        return Turn(leader, frozenset({Act.SPEAK}), followers, role=LEADER, feedback=self.feedback)

    def _plan(self, leader: int, conversation: ConversationState) -> list[Turn]:
        return [
            Turn(agent, frozenset({Act.PLAN}), role=LEADER if agent == leader else FOLLOWER, feedback=self.feedback)
            for agent in conversation.undecided
        ]

    def _write(self, act: Act, followers: Sequence[int], leader: int, conversation: ConversationState) -> list[Turn]:
        """Let followers write to the leader and to their peers."""
        peers = self.peers([agent for agent in range(conversation.agents) if agent != leader], conversation)
        return [
            Turn(agent, frozenset({act}), tuple(sorted({leader, *peers.get(agent, ())})), role=FOLLOWER)
            for agent in followers
        ]


_PEER_WORDS = f"{_WORDS[FOLLOWER]} You can also write to your peers: tell them what you are going to do."


class HybridConfig(LedConfig):
    """Parameters of `hybrid`: those of `centralized`, and the edges between peers."""

    name: Literal["hybrid"]
    peers: Literal["ring", "near", "all"]
    """Whom a follower can write to besides the leader: its neighbours in index order (a ring without the leader), the
    agents near it in the world, or all followers."""
    radius: NonNegativeFloat
    """Largest distance between peers for `near`, in the world's measure."""


class Hybrid(Centralized):
    """The star of `centralized` with edges between the followers.

    A follower's message (an acknowledgement, or the request to a busy leader) can also go to its peers. As with any
    message, it interrupts a peer that is carrying out a plan, and the peer decides again.
    """

    name = "hybrid"
    words_by_role = _WORDS | {FOLLOWER: _PEER_WORDS}

    def __init__(self, config: HybridConfig, context: TopologyContext | None = None) -> None:
        super().__init__(config, context)
        self._peers = config.peers
        self._radius = config.radius

    def peers(self, followers: Sequence[int], conversation: ConversationState) -> Mapping[int, Sequence[int]]:
        """Return the peers each follower can write to."""
        match self._peers:
            case "ring":
                edges = ring(followers)
            case "near":
                edges = near(followers, conversation, self._radius)
            case "all":
                edges = complete(followers)
        return dict(enumerate(neighbours(edges, conversation.agents)))


def roles(config: LedConfig) -> Sequence[str]:
    """Return the roles of the topology's turns."""
    return (LEADER, FOLLOWER, *([COORDINATOR] if config.leader == COORDINATOR else []))


component = Component(CentralizedConfig, Centralized, roles=roles, handover=Handover.FRESH)
hybrid = Component(HybridConfig, Hybrid, roles=roles, handover=Handover.FRESH)
