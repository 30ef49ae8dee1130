"""The agents' offers and needs in a conversation, and the edges derived from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

from maeil.component import Component
from maeil.contracts import check_items, described, name_of
from maeil.errors import ContractError
from maeil.extension import Extension, ExtensionConfig, ExtensionContext
from maeil.mind import Note, Thought, Turn, View
from maeil.review import check_part
from maeil.team import Participant
from maeil.topology import ConversationState, Topology
from quorum.methods.dytopo.descriptors import Affinity, Descriptor, Edge, Need
from quorum.methods.dytopo.events import Described, Routed
from quorum.methods.dytopo.matchers import MATCHERS, Matcher

DESCRIBE = "describe"
"""The name under which a turn requests (`Turn.asks`) and a thought returns (`Thought.answers`) a `Descriptor`."""
DIGITS = 6
"""Decimals of a score, both in the trace and for the topology, so that edges can be recomputed from a trace."""
TEMPLATE = Path(__file__).with_name("needs.jinja")

MatcherName = Literal["typed", "lexical", "embedding"]
Needs = tuple[tuple[int, Need], ...]
"""The recipients' needs, by index, ascending: the content of a note to the agent that writes to them."""


@runtime_checkable
class Routing(Protocol):
    """A topology whose turns ask agents to describe themselves."""

    def route(self, affinity: Affinity, conversation: ConversationState) -> Sequence[Edge]:
        """Return the edges, sender to recipient, once a round of such turns is over. A pure function.

        Args:
            affinity: how well each offer matches the needs of others.
            conversation: its state, with the edges of earlier rounds (`routes`).
        """


def routes(conversation: ConversationState) -> Sequence[Sequence[Edge]]:
    """Return the edges of each round of a conversation, in order."""
    return conversation.found_by(DESCRIBE) or ()


def needs_note(needs: Needs, names: Sequence[str]) -> Note:
    """Return the note that shows the needs of others.

    Args:
        needs: the needs by agent index, ascending; empty in a turn to describe oneself.
        names: names of all participants, by index.
    """
    shown = {names[agent]: {"text": need.text, "tasks": list(need.tasks)} for agent, need in needs}
    wanted = {agent: need.tasks for agent, need in needs}
    return Note(DESCRIBE, needs, "needs", shown, TEMPLATE, wanted=wanted)


class Describing(Extension):
    """Collects the descriptors of a conversation and matches them after each round.

    Args:
        matcher: name of the matcher in the trace.
        match: compares needs with offers.
    """

    name = DESCRIBE

    def __init__(self, matcher: str, match: Matcher) -> None:
        self._routes: list[tuple[Edge, ...]] = []
        self._matcher = matcher
        self._match = match
        self._said: dict[int, Descriptor] = {}
        self._needs: dict[int, Need] = {}
        self._due = False

    def conversation_begins(self, topology: Topology) -> None:  # noqa: ARG002 - it does not matter how they talk
        """Forget the last conversation."""
        self._routes.clear()
        self._said.clear()
        self._needs.clear()
        self._due = False

    def before_thought(self, participant: Participant, turn: Turn) -> Sequence[Note]:
        """Return a note with the needs of the participant's recipients, or with instructions to describe itself."""
        edges = self._routes[-1] if self._routes else ()
        needs: Needs = tuple(
            (other, self._needs[other]) for other in sorted({b for a, b in edges if a == participant.index})
        )
        if not needs and self.name not in turn.asks:
            return ()
        return (needs_note(needs, self.episode.team.names),)

    def review(self, thought: Thought, view: View, author: Participant) -> Sequence[str]:
        """Return the reasons to refuse a descriptor."""
        descriptor = thought.answers.get(self.name)
        if self.name not in view.turn.asks:
            return () if descriptor is None else ("this turn does not ask what you offer and need",)
        if descriptor is None:
            return ("this turn asks what you offer and need, and the answer says neither",)
        check_part(descriptor, Descriptor, author, "the descriptor of its Thought", "a Descriptor")
        return ()

    def answered(self, view: View, answer: Any) -> None:
        """Record the end of a turn to describe oneself, and the descriptor if the agent gave one."""
        if self.name not in view.turn.asks:
            return
        self._due = True
        if answer is not None:
            self._said[view.agent] = answer
            self.episode.record(Described(view.agent, asdict(answer.offers), asdict(answer.needs)))

    def found(self) -> Sequence[Sequence[Edge]]:
        """Return the edges of each round, in order."""
        return self._routes

    async def conversation_rests(self, topology: Topology, conversation: ConversationState) -> None:
        """Match the descriptors since the last match, if any were requested, and let the topology choose the edges.

        Raises:
            ContractError: the topology chooses no edges, or edges between agents that have not described themselves.
        """
        if not self._due:
            return
        if not isinstance(topology, Routing):
            kind = type(topology)
            raise ContractError(f"{kind.__qualname__}.turns() asks agents what they offer and need; add route()", kind)
        agents = tuple(sorted(self._said))
        found = self._match([self._said[agent] for agent in agents]) if len(agents) > 1 else [[0.0]]
        scores = tuple(
            tuple(0.0 if i == j else round(float(found[i][j]), DIGITS) for j in range(len(agents)))
            for i in range(len(agents))
        )
        edges = _checked(topology, Affinity(agents, scores), conversation)
        self.episode.record(Routed(self._matcher, agents, scores, edges))
        self._routes.append(edges)
        self._needs = {agent: descriptor.needs for agent, descriptor in self._said.items()}
        self._said.clear()
        self._due = False


def _checked(topology: Routing, affinity: Affinity, conversation: ConversationState) -> tuple[Edge, ...]:
    """Return the topology's edges, after checking that they link agents that described themselves."""
    choose = topology.route
    edges = check_items(choose(affinity, conversation), tuple, choose, "a list of edges, a sender and a recipient each")
    for edge in edges:
        if len(edge) != 2 or edge[0] == edge[1] or not set(edge) <= set(affinity.agents):
            raise ContractError(
                f"{name_of(choose)}() returned {described(edge)}; an edge joins two of the agents {affinity.agents}",
                choose,
            )
    return tuple((sender, recipient) for sender, recipient in edges)


class DescribeConfig(ExtensionConfig):
    """Values that a topology gives to `describe`."""

    matcher: MatcherName
    """The name of the matcher."""


def build(config: DescribeConfig, _context: ExtensionContext) -> Describing:
    """Make the extension."""
    return Describing(config.matcher, MATCHERS[config.matcher])


component = Component(DescribeConfig, build)
