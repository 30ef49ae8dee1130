"""What components could make go on for ever ends as a mistake in their code."""

import pytest

from maeil import LoopSettings, Topology
from maeil.errors import ContractError
from maeil.mind import Act, Turn
from tests.maeil.corridor import Corridor, Walker
from tests.maeil.scripted import Scripted, play, walk


class Ends(Corridor):
    """A world whose actions all end before their first step."""

    def start_action(self, agent, action):
        return Walker(0, 0)


class GoesOn(Corridor):
    """A world that forgets to end."""

    def __init__(self):
        super().__init__(1, length=10**9, max_steps=10**9)


class Insists(Topology):
    """Gives turns to a coordinator, whatever it has left."""

    name = "insists"

    def turns(self, conversation):
        return [Turn(conversation.agents, frozenset({Act.SPEAK}))] if conversation.quiet else []


def test_a_world_whose_idle_action_ends_before_a_step():
    with pytest.raises(ContractError, match=r"start_action\(\) returned a controller for the idle action that ends"):
        play([Scripted(walk(1))], Ends(1))


def test_a_world_that_never_ends_an_episode():
    with pytest.raises(ContractError, match=r"step\(\) has not ended the episode after 30 steps"):
        play([Scripted(walk(1))], GoesOn(), settings=LoopSettings(max_steps=30))


def test_a_topology_that_gives_turns_without_end():
    with pytest.raises(ContractError, match=r"turns\(\) keeps giving turns to a participant that has none left"):
        play([Scripted(walk(1))], topology=Insists(), coordinators=[("boss", Scripted(walk()))])
