"""A leader directs, followers acknowledge or object (EmCoop, `centralized`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pydantic import NonNegativeInt

from maeil.component import Component, ComponentConfig
from maeil.mind import Act, Turn
from maeil.topology import Floor

LEADER, FOLLOWER = "leader", "follower"


class CentralizedConfig(ComponentConfig):
    """Parameters of `centralized`."""

    name: Literal["centralized"]
    leader: NonNegativeInt | Literal["coordinator"]
    """Index of the agent that leads; or `coordinator`, a mind without a body."""
    rounds: NonNegativeInt
    """How often the leader may answer the acknowledgements."""
    feedback: Literal["none", "constraints"]
    """Whether directives carry the state of the cooperation constraints (EmCoop, RQ3)."""


class Centralized:
    """Directive, acknowledgements, up to `rounds` answers, then all plan at once.

    In mid-episode a leader that is busy with its own plan is asked first: those who need a plan write to it, which
    interrupts it. It may answer as long as it has something to say: an answer without a message ends the talk.
    """

    name = "centralized"

    def __init__(self, config: CentralizedConfig) -> None:
        self._config = config
        self.coordinated = config.leader == "coordinator"
        self.rounds = config.rounds
        """How often the leader may answer the acknowledgements."""

    def turns(self, floor: Floor) -> Sequence[Turn]:
        """Give the turns of the next phase of the conversation."""
        if not floor.quiet or not floor.undecided:
            return []
        leader = floor.agents if self._config.leader == "coordinator" else self._config.leader
        followers = [agent for agent in floor.undecided if agent != leader]
        directives = [taken for taken in floor.taken if taken.turn.agent == leader and Act.SPEAK in taken.turn.acts]
        rounds = self.rounds
        if not floor.may_speak(leader):
            return _plan(leader, floor) if directives or _taken(Act.SPEAK, floor) else _speak(followers, leader)
        if not directives:
            return [self._direct(leader, floor)]
        if directives[-1].messages and followers:
            if not _acknowledged(len(directives), floor) and (len(directives) == 1 or len(directives) <= rounds):
                return _acknowledge(followers, leader)
            if len(directives) <= rounds:
                return [self._direct(leader, floor)]
        return _plan(leader, floor)

    def _direct(self, leader: int, floor: Floor) -> Turn:
        followers = tuple(agent for agent in range(floor.agents) if agent != leader)
        feedback = self._config.feedback == "constraints"
        return Turn(leader, frozenset({Act.SPEAK}), followers, role=LEADER, feedback=feedback)


def _speak(followers: Sequence[int], leader: int) -> list[Turn]:
    return [Turn(agent, frozenset({Act.SPEAK}), (leader,), role=FOLLOWER) for agent in followers]


def _acknowledge(followers: Sequence[int], leader: int) -> list[Turn]:
    return [Turn(agent, frozenset({Act.ACKNOWLEDGE}), (leader,), role=FOLLOWER) for agent in followers]


def _plan(leader: int, floor: Floor) -> list[Turn]:
    return [
        Turn(agent, frozenset({Act.PLAN}), role=LEADER if agent == leader else FOLLOWER) for agent in floor.undecided
    ]


def _taken(act: Act, floor: Floor) -> Counter[int]:
    """How many turns with an act each participant has had."""
    return Counter(taken.turn.agent for taken in floor.taken if act in taken.turn.acts)


def _acknowledged(directives: int, floor: Floor) -> bool:
    return max(_taken(Act.ACKNOWLEDGE, floor).values(), default=0) >= directives


def build(config: CentralizedConfig, agents: int) -> Centralized:
    """Make the topology.

    Raises:
        ValueError: the leader is not one of the agents.
    """
    if config.leader != "coordinator" and config.leader >= agents:
        raise ValueError(f"leader: there is no agent {config.leader}; the agents are 0 to {agents - 1}")
    return Centralized(config)


component = Component(CentralizedConfig, build)
