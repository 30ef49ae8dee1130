"""A tree of leaders: reports go up, directives come down, then all plan; for teams of hundreds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.topology import ConversationState, Topology
from quorum.topologies.edges import parent

ROOT, BRANCH_LEADER, MEMBER = "root", "branch_leader", "member"

_WORDS = {
    ROOT: "You lead this team, a tree of leaders. Tell the agents that report to you what they and their own members "
    "should do.",
    BRANCH_LEADER: "This team is a tree of leaders. Tell the agents that report to you what they and their own members "
    "should do, and pass on your leader's instructions.",
    MEMBER: "This team is a tree of leaders. You have a leader, and members may report to you. Report to your leader "
    "for yourself and for them, then follow its directives.",
}


class HierarchyConfig(ComponentConfig):
    """Parameters of `hierarchy`."""

    name: Literal["hierarchy"]
    branching: Annotated[int, Field(ge=2)]
    """Members of each leader. Agent 0 is the root; agent `i` leads the agents from `i * branching + 1` on."""


class Hierarchy(Topology):
    """Reports go up the tree, directives come down, then all plan at once.

    An agent that needs a plan reports to its leader after all its own members that need one have reported to it. A
    leader directs the members that reported to it once it has been directed itself, or if it has no one to report to.
    A report interrupts a leader that is carrying out a plan; that leader directs its members and reports no further up.

    Each agent has at most one report turn and one directive turn in a conversation: fewer than `2 n` turns, in at most
    `2 log_k n` rounds of simultaneous turns. Each agent reads at most `k` reports and one directive.
    """

    name = "hierarchy"
    words_by_role = _WORDS

    def __init__(self, config: HierarchyConfig, _context: TopologyContext | None = None) -> None:
        self._branching = config.branching

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turns of all agents that can report or direct, or turns to plan for all."""
        if not conversation.quiet or not conversation.undecided:
            return []
        members = self._members(conversation)
        had = {(taken.turn.agent, taken.turn.role) for taken in conversation.taken}
        waiting = [agent for agents in members.values() for agent in agents if (agent, MEMBER) not in had]
        if reports := self._reports(waiting, members, conversation):
            return reports
        above = {agent: leader for leader, agents in members.items() for agent in agents}
        todo = [
            leader
            for leader in members
            if not had & {(leader, ROOT), (leader, BRANCH_LEADER)} and conversation.may_speak(leader)
        ]
        if ready := [leader for leader in todo if above.get(leader) not in todo]:
            return [
                Turn(
                    leader, frozenset({Act.SPEAK}), tuple(members[leader]), role=ROOT if leader == 0 else BRANCH_LEADER
                )
                for leader in ready
            ]
        return [
            Turn(agent, frozenset({Act.PLAN}), role=ROOT if agent == 0 else MEMBER) for agent in conversation.undecided
        ]

    def _members(self, conversation: ConversationState) -> Mapping[int, Sequence[int]]:
        """Members that need a plan, by leader."""
        found: dict[int, list[int]] = defaultdict(list)
        for agent in conversation.opened_by:
            if agent > 0:
                found[parent(agent, self._branching)].append(agent)
        return found

    def _reports(
        self, waiting: Sequence[int], members: Mapping[int, Sequence[int]], conversation: ConversationState
    ) -> list[Turn]:
        """Reports of the agents whose own members have all reported, as far as they can."""
        able = {agent for agent in waiting if conversation.may_speak(agent)}
        return [
            Turn(agent, frozenset({Act.SPEAK}), (parent(agent, self._branching),), role=MEMBER)
            for agent in sorted(able)
            if able.isdisjoint(members.get(agent, ()))
        ]


component = Component(
    HierarchyConfig, Hierarchy, roles=lambda _: (ROOT, BRANCH_LEADER, MEMBER), handover=Handover.FRESH
)
