"""Those who need a plan agree on who does what, and then each plans alone (DR. WELL, arXiv 2511.04646)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import PositiveInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.mind import Act, Turn
from maeil.plans import Task
from maeil.topology import ConversationState, Topology, TurnTaken, turns_with
from quorum.topologies.allotment import Votes, allot, is_consensus, lacking


class NegotiationConfig(ComponentConfig):
    """Parameters of `negotiation`."""

    name: Literal["negotiation"]
    rounds: PositiveInt
    """Rounds of commitment, at most: while there is no consensus, all commit themselves again."""


class Negotiation(Topology):
    """A communication room of the agents that need a plan: proposals, commitments, and then each plans alone.

    - **Proposals** (turns to speak): one after the other in index order, each having read the earlier ones.
    - **Commitments** (turns to acknowledge): all at once, each having read all proposals, and in a further round all
      commitments of the one before. A commitment counts by the task that its message names, never by its text. There is
      consensus when every task that is named gets as many agents as it lacks. A message that names no task abstains.
    - **Plans**: all at once, alone. The turn names the task that is allotted to its holder: the one that it has
      committed itself to, or, when the last round has ended without consensus, that of `quorum.topologies.allotment`.

    Who has a plan is not woken. Who is alone in the room plans at once, and nothing is allotted to it.
    """

    name = "negotiation"
    words = (
        "The agents that need a plan negotiate. First each in turn proposes one task, with a reason in 1 to 2 "
        "sentences. Then each acknowledges which one task it commits itself to; a task needs all the agents that it "
        "takes. Then each plans alone for its task (`task` of its turn), and plans are not talked about."
    )
    feedback = True
    negotiates = True

    def __init__(self, config: NegotiationConfig, _context: TopologyContext | None = None) -> None:
        self.rounds: int = config.rounds

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next proposer, those of a round of commitments, or a turn to plan for everybody."""
        if not conversation.quiet or not conversation.undecided:
            return []
        room = [agent for agent in conversation.opened_by if conversation.may_speak(agent)]
        votes: Votes = {}
        if len(room) > 1:
            proposed = turns_with(Act.SPEAK, conversation)
            for agent in room:
                if not proposed[agent]:
                    return [_write(Act.SPEAK, agent, room)]
            commitments = [taken for taken in conversation.taken if Act.ACKNOWLEDGE in taken.turn.acts]
            votes = _last_round(commitments, room)
            if not votes or (len(commitments) < self.rounds * len(room) and not self._agreed(votes, conversation)):
                return [_write(Act.ACKNOWLEDGE, agent, room) for agent in room]
        allotted = self._allot(votes, conversation)
        return [_plan(agent, allotted) for agent in conversation.undecided]

    def _agreed(self, votes: Votes, conversation: ConversationState) -> bool:
        return is_consensus(votes, lacking(conversation.open_tasks(), frozenset(votes)))

    def _allot(self, votes: Votes, conversation: ConversationState) -> dict[int, Task]:
        if not any(votes.values()):
            return {}
        return allot(votes, lacking(conversation.open_tasks(), frozenset(votes)))


def _write(act: Act, agent: int, room: Sequence[int]) -> Turn:
    """A turn to write one message to all others in the room."""
    others = tuple(other for other in room if other != agent)
    return Turn(agent, frozenset({act}), others, limit=1, feedback=True)


def _plan(agent: int, allotted: Mapping[int, Task]) -> Turn:
    """A turn to plan alone, with what is allotted to its holder and to whom else."""
    task = allotted.get(agent)
    partners = tuple(other for other in sorted(allotted) if other != agent and allotted[other] == task)
    return Turn(agent, frozenset({Act.PLAN}), feedback=True, task=task, partners=partners if task is not None else ())


def _last_round(commitments: Sequence[TurnTaken], room: Sequence[int]) -> Votes:
    """The task that each has named in its last commitment, None where it has named none; empty before the first."""
    named = {taken.turn.agent: taken.task for taken in commitments}
    return {agent: named[agent] for agent in room} if named else {}


component = Component(NegotiationConfig, Negotiation, handover=Handover.FRESH)
