"""What the agents of a conversation have said they offer and need, and the edges that follow from it."""

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
"""What a turn asks for (`Turn.asks`) and a thought answers with (`Thought.answers`): a `Descriptor`."""
DIGITS = 6
"""Decimals of a score, in the trace and for the topology alike: so edges can be found again from a trace."""
TEMPLATE = Path(__file__).with_name("needs.jinja")

Needs = tuple[tuple[int, Need], ...]
"""What those need to whom an agent writes, by their indices, ascending: the content of a note."""


@runtime_checkable
class Routing(Protocol):
    """A topology whose turns ask agents to describe themselves."""

    def route(self, affinity: Affinity, conversation: ConversationState) -> Sequence[Edge]:
        """Return who is to write to whom, when a round of such turns is over. A pure function.

        Args:
            affinity: how well what each offers answers what others need.
            conversation: its state, with the edges of the rounds before (`routes`).
        """


def routes(conversation: ConversationState) -> Sequence[Sequence[Edge]]:
    """Return the edges of each round of a conversation, in order."""
    return conversation.found_by(DESCRIBE) or ()


def needs_note(needs: Needs, names: Sequence[str]) -> Note:
    """Return the note that shows what others need.

    Args:
        needs: by the index of each, ascending; empty in a turn to describe oneself.
        names: of all participants by index.
    """
    shown = {names[agent]: {"text": need.text, "tasks": list(need.tasks)} for agent, need in needs}
    wanted = {agent: need.tasks for agent, need in needs}
    return Note(DESCRIBE, needs, "needs", shown, TEMPLATE, wanted=wanted)


class Describing(Extension):
    """Keeps the descriptors of a conversation, and has them matched when a round of them is over.

    Args:
        matcher: compares needs with offers.
    """

    name = DESCRIBE

    def __init__(self, matcher: Matcher) -> None:
        self._routes: list[tuple[Edge, ...]] = []
        self._matcher = matcher
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
        """Return what those need to whom the participant writes, and how it is to describe itself."""
        edges = self._routes[-1] if self._routes else ()
        needs: Needs = tuple(
            (other, self._needs[other]) for other in sorted({b for a, b in edges if a == participant.index})
        )
        if not needs and self.name not in turn.asks:
            return ()
        return (needs_note(needs, self.episode.team.names),)

    def review(self, thought: Thought, view: View, author: Participant) -> Sequence[str]:
        """Return why a descriptor is refused."""
        descriptor = thought.answers.get(self.name)
        if self.name not in view.turn.asks:
            return () if descriptor is None else ("this turn does not ask what you offer and need",)
        if descriptor is None:
            return ("this turn asks what you offer and need, and the answer says neither",)
        check_part(descriptor, Descriptor, author, "the descriptor of its Thought", "a Descriptor")
        return ()

    def answered(self, view: View, answer: Any) -> None:
        """Note that a turn to describe is over; without a descriptor when its holder has not given one."""
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
        """Match what was said since the last time, if anything was asked, and have the topology say who writes to whom.

        Raises:
            ContractError: the topology does not say it, or its edges do not join agents that have said something.
        """
        if not self._due:
            return
        if not isinstance(topology, Routing):
            kind = type(topology)
            raise ContractError(
                f"{kind.__qualname__}.turns() asks agents what they offer and need; it needs route()", kind
            )
        agents = tuple(sorted(self._said))
        found = self._matcher.match([self._said[agent] for agent in agents]) if len(agents) > 1 else [[0.0]]
        scores = tuple(
            tuple(0.0 if i == j else round(float(found[i][j]), DIGITS) for j in range(len(agents)))
            for i in range(len(agents))
        )
        edges = _checked(topology, Affinity(agents, scores), conversation)
        self.episode.record(Routed(self._matcher.name, agents, scores, edges))
        self._routes.append(edges)
        self._needs = {agent: descriptor.needs for agent, descriptor in self._said.items()}
        self._said.clear()
        self._due = False


def _checked(topology: Routing, affinity: Affinity, conversation: ConversationState) -> tuple[Edge, ...]:
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


MatcherName = Literal["typed", "lexical", "embedding"]


class DescribeConfig(ExtensionConfig):
    """Values that a topology gives to `describe`."""

    matcher: MatcherName
    """What needs are compared with offers by."""


def build(config: DescribeConfig, _context: ExtensionContext) -> Describing:
    """Make the extension."""
    return Describing(MATCHERS[config.matcher])


component = Component(DescribeConfig, build)
