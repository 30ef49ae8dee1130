"""What the agents of a conversation have said they offer and need, and the edges that follow from it."""

from __future__ import annotations

from dataclasses import asdict

from maeil.contracts import check_items, described, name_of
from maeil.descriptors import Affinity, Descriptor, Edge, Matcher, Need
from maeil.errors import ContractError
from maeil.team import Team
from maeil.topology import ConversationState, Topology
from maeil.trace.events import Described, Routed

DIGITS = 6
"""Decimals of a score, in the trace and for the topology alike: so edges can be found again from a trace."""


class Describing:
    """Keeps the descriptors of a conversation, and has them matched when a round of them is over.

    Args:
        team: whose events are recorded.
        matcher: holds needs against offers; None: no topology of the episode asks for them.

    Attributes:
        routes: the edges of each round, in order.
    """

    def __init__(self, team: Team, matcher: Matcher | None) -> None:
        self.routes: list[tuple[Edge, ...]] = []
        self._team = team
        self._matcher = matcher
        self._said: dict[int, Descriptor] = {}
        self._needs: dict[int, Need] = {}
        self._due = False

    def begin(self) -> None:
        """Forget the last conversation."""
        self.routes.clear()
        self._said.clear()
        self._needs.clear()
        self._due = False

    def take(self, agent: int, descriptor: Descriptor | None) -> None:
        """Note that a turn to describe is over; without a descriptor when its holder has not given one."""
        self._due = True
        if descriptor is not None:
            self._said[agent] = descriptor
            self._team.record(Described(agent, asdict(descriptor.offers), asdict(descriptor.needs)))

    def needs_told(self, agent: int) -> tuple[tuple[int, Need], ...]:
        """Return what those have said they need to whom an agent is to write, by their indices, ascending."""
        edges = self.routes[-1] if self.routes else ()
        return tuple((other, self._needs[other]) for other in sorted({b for a, b in edges if a == agent}))

    async def settle(self, topology: Topology, conversation: ConversationState) -> None:
        """Match what was said since the last time, if anything was asked, and have the topology say who writes to whom.

        Raises:
            ContractError: there is nothing to match by, or the edges do not join agents that have said something.
            Exception: whatever the matcher raises.
        """
        if not self._due:
            return
        if self._matcher is None:
            raise ContractError(
                f"{name_of(topology.turns)}() asks agents what they offer and need, and nothing matches it: its "
                "Component must say matcher=..., or run_episode needs one",
                topology.turns,
            )
        agents = tuple(sorted(self._said))
        found = await self._matcher.match([self._said[agent] for agent in agents]) if len(agents) > 1 else [[0.0]]
        scores = tuple(
            tuple(0.0 if i == j else round(float(found[i][j]), DIGITS) for j in range(len(agents)))
            for i in range(len(agents))
        )
        edges = _checked(topology, Affinity(agents, scores), conversation)
        self._team.record(Routed(self._matcher.name, agents, scores, edges))
        self.routes.append(edges)
        self._needs = {agent: descriptor.needs for agent, descriptor in self._said.items()}
        self._said.clear()
        self._due = False


def _checked(topology: Topology, affinity: Affinity, conversation: ConversationState) -> tuple[Edge, ...]:
    """The edges that a topology chooses, which join agents that have said what they offer and need."""
    choose = topology.route
    edges = check_items(choose(affinity, conversation), tuple, choose, "a list of edges, a sender and a recipient each")
    for edge in edges:
        if len(edge) != 2 or edge[0] == edge[1] or not set(edge) <= set(affinity.agents):
            raise ContractError(
                f"{name_of(choose)}() returned {described(edge)}; an edge joins two of the agents {affinity.agents}",
                choose,
            )
    return tuple((sender, recipient) for sender, recipient in edges)
