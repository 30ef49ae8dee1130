"""One speaks after the other, and all hear it, until one states a joint plan (DMAS and HMAS-1, arXiv 2309.15943)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import PositiveInt

from maeil.component import Component, ComponentConfig, Handover, TopologyContext
from maeil.messages import MessageKind
from maeil.mind import COORDINATOR, Act, Turn
from maeil.topology import ConversationState, Topology, TurnTaken, turns_with

OPENER, SPEAKER, ALONE = "opener", "speaker", "alone"


class DialogueConfig(ComponentConfig):
    """Parameters of `dialogue`."""

    name: Literal["dialogue"]
    rounds: PositiveInt
    """How often each may speak before all plan."""
    opens: Literal["team", "coordinator"]
    """Who begins: the agents that need a plan, who are its speakers; or a mind without a body, whose first message
    says who they are."""


class Dialogue(Topology):
    """Turns to speak in index order, `rounds` times round; a message of the kind `directive` ends it; then all plan.

    Speakers write to each other, so nobody else is woken. Those of a dialogue that the coordinator opens are whom it
    has written to; they write to it too, so that it knows what they have come to. With a single speaker there is
    nothing to talk about: it plans at once, `alone` when nobody has written to it either.
    """

    name = "dialogue"
    words = (
        'The agents that need a plan speak in turn, and all of them hear each message. A message of kind "directive" '
        "ends the dialogue. Then all decide at once."
    )
    dialogue = True

    def __init__(self, config: DialogueConfig, _context: TopologyContext | None = None) -> None:
        self.coordinated = config.opens == "coordinator"
        self._config = config
        self.rounds = config.rounds

    def turns(self, conversation: ConversationState) -> Sequence[Turn]:
        """Return the turn of the next speaker, or a turn to plan for everybody."""
        if not conversation.quiet or not conversation.undecided:
            return []
        opening = next((taken for taken in conversation.taken if taken.turn.role == OPENER), None)
        if self.coordinated and opening is None and conversation.may_speak(conversation.agents):
            return [Turn(conversation.agents, frozenset({Act.SPEAK}), tuple(range(conversation.agents)), role=OPENER)]
        speakers = self._speakers(conversation, opening)
        if len(speakers) > 1 and not any(_stated(taken) for taken in conversation.taken):
            spoken = turns_with(Act.SPEAK, conversation)
            for turns in range(self._config.rounds):
                for agent in speakers:
                    if spoken[agent] <= turns and conversation.may_speak(agent):
                        return [self._speak(agent, speakers, conversation)]
        role = ALONE if len(speakers) == 1 and not self.coordinated else SPEAKER
        return [Turn(agent, frozenset({Act.PLAN}), role=role) for agent in conversation.undecided]

    def _speakers(self, conversation: ConversationState, opening: TurnTaken | None) -> Sequence[int]:
        if not self.coordinated:
            return conversation.opened_by
        return sorted(opening.recipients) if opening is not None else []

    def _speak(self, agent: int, speakers: Sequence[int], conversation: ConversationState) -> Turn:
        others = (
            *(other for other in speakers if other != agent),
            *([conversation.agents] if self.coordinated else []),
        )
        return Turn(agent, frozenset({Act.SPEAK}), others, limit=1, role=SPEAKER)


def _stated(taken: TurnTaken) -> bool:
    """Whether a speaker has stated the joint plan."""
    return taken.turn.role == SPEAKER and MessageKind.DIRECTIVE in taken.kinds


def roles(config: DialogueConfig) -> Sequence[str]:
    """Return the roles of its turns."""
    return (OPENER, SPEAKER, COORDINATOR) if config.opens == COORDINATOR else (SPEAKER, ALONE)


component = Component(DialogueConfig, Dialogue, roles=roles, handover=Handover.FRESH)
