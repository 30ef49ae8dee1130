"""Agents speak one after another, heard by all, until one states a joint plan (DMAS and HMAS-1, arXiv 2309.15943)."""

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
    """How often each agent may speak before all plan."""
    opens: Literal["team", "coordinator"]
    """Who opens: `team` (the agents that need a plan, who are the speakers), or `coordinator` (a mind without a body,
    whose first message names the speakers)."""


class Dialogue(Topology):
    """Agents speak in index order for up to `rounds` rounds; a `directive` message ends the dialogue; then all plan.

    Speakers write only to each other, so they wake no other agent. If a coordinator opens the dialogue, the speakers
    are the recipients of its message, and they also write to it so that it knows the result. A single speaker plans at
    once, because it has no one to talk to; the turn is `alone` if it has no message either.
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
        """Return the turn of the next speaker, or turns to plan for all."""
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
    """Return the roles of the topology's turns."""
    return (OPENER, SPEAKER, COORDINATOR) if config.opens == COORDINATOR else (SPEAKER, ALONE)


component = Component(DialogueConfig, Dialogue, roles=roles, handover=Handover.FRESH)
