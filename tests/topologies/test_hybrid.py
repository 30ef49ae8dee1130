"""The star with edges between followers: who may write to whom, and what a peer hears."""

import pytest

from maeil import Act, TopologyContext
from maeil.messages import MessageKind
from quorum.topologies.centralized import Hybrid, HybridConfig
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, lines, play
from tests.topologies.test_timelines import go, nothing, reported, resume, say

KINDS = ("message_sent", "messages_read", "step")


def config(peers="ring", leader=0, rounds=0, radius=1):
    return HybridConfig(name="hybrid", leader=leader, rounds=rounds, feedback="none", peers=peers, radius=radius)


def test_a_directive_then_acknowledgements_to_leader_and_peers_then_all_plan():
    acknowledge = MessageKind.ACK
    minds = [
        Scripted(say(1, "a", 1, 2, 3, kind=MessageKind.DIRECTIVE), go(1, 1)),
        Scripted(say(1, "b", 0, 2, kind=acknowledge), go(1, 1)),
        Scripted(say(2, "c", 0, 1, 3, kind=acknowledge), go(1, 1)),
        Scripted(nothing(1), go(1, 1)),
    ]
    events = play(minds, Corridor(4, length=1), topology=Hybrid(config()))
    assert lines(events, *KINDS) == reported("""
        t=0 t^=1: agent 0 says 'a' to [1, 2, 3]
        t=0 t^=1: agent 1 reads 0
        t=0 t^=1: agent 2 reads 0
        t=0 t^=1: agent 3 reads 0
        t=0 t^=2: agent 1 says 'b' to [0, 2]
        t=0 t^=3: agent 2 says 'c' to [0, 1, 3]
        t=0 t^=3: agent 0 reads 1, 2
        t=0 t^=3: agent 1 reads 2
        t=0 t^=3: agent 2 reads 1
        t=0 t^=3: agent 3 reads 2
        t=0 t^=4: step [1, 1, 1, 1]
    """)
    assert [mind.views[-1].turn.role for mind in minds] == ["leader", "follower", "follower", "follower"]


@pytest.mark.parametrize(
    ("peers", "leader", "recipients"),
    [
        ("ring", 0, {1: (0, 2, 4), 2: (0, 1, 3), 3: (0, 2, 4), 4: (0, 1, 3)}),
        ("ring", 2, {0: (1, 2, 4), 1: (0, 2, 3), 3: (1, 2, 4), 4: (0, 2, 3)}),
        ("near", 0, {1: (0, 2), 2: (0, 1, 3), 3: (0, 2, 4), 4: (0, 3)}),
        ("all", 0, {1: (0, 2, 3, 4), 2: (0, 1, 3, 4), 3: (0, 1, 2, 4), 4: (0, 1, 2, 3)}),
        ("ring", "coordinator", {0: (1, 4, 5), 1: (0, 2, 5), 2: (1, 3, 5), 3: (2, 4, 5), 4: (0, 3, 5)}),
    ],
)
def test_a_follower_may_write_to_the_leader_and_to_its_peers(peers, leader, recipients):
    bodyless = leader == "coordinator"
    directive = say(1, "go", *recipients, kind=MessageKind.DIRECTIVE)
    minds = [Scripted(nothing(1), go(1, 1)) if i in recipients else Scripted(directive, go(1, 1)) for i in range(5)]
    coordinators = [("coordinator", Scripted(directive))] if bodyless else []
    play(minds, Corridor(5, length=1), topology=Hybrid(config(peers, leader, 1)), coordinators=coordinators)
    assert {agent: minds[agent].views[0].turn.recipients for agent in recipients} == recipients


def test_those_who_need_a_plan_tell_a_busy_leader_and_their_peers_and_all_whom_they_wake_decide():
    minds = [
        Scripted(nothing(1), go(1, 3), nothing(1), resume(1)),
        Scripted(go(1, 1, fails_at=1), say(1, "help", 0, 2, kind=MessageKind.REQUEST), go(1, 2)),
        Scripted(go(1, 3), resume(1)),
    ]
    events = play(minds, Corridor(3, length=3), topology=Hybrid(config()))
    assert [line for line in lines(events, "message_sent", "messages_read") if "t=1" in line] == reported("""
        t=1 t^=3: agent 1 says 'help' to [0, 2]
        t=1 t^=3: agent 0 reads 0
        t=1 t^=4: agent 2 reads 0
    """)
    assert minds[1].views[1].turn.acts == {Act.SPEAK}


def test_a_leader_that_is_no_agent_is_refused():
    with pytest.raises(ValueError, match="leader: there is no agent 4; the agents are 0 to 3"):
        Hybrid(config(leader=4), TopologyContext(4))


def test_followers_are_told_that_they_have_peers():
    topology = Hybrid(config())
    assert "peers" in topology.describe("follower")
    assert "You lead" in topology.describe("leader")
