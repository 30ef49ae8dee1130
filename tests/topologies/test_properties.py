"""What holds under every topology, whatever the minds do."""

import random
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil import Act, Call, LoopSettings, Plan, Resume, Thought
from maeil.messages import Draft, MessageKind
from maeil.plans import PlanStatus
from maeil.stages import TRANSITIONS, Stage, Trigger
from quorum.methods.dytopo.describe import DESCRIBE, Describing
from quorum.methods.dytopo.descriptors import Descriptor, Need, Offer
from quorum.methods.dytopo.matchers import MATCHERS
from quorum.methods.dytopo.topology import Dytopo, DytopoConfig
from quorum.methods.learned import Learned, LearnedConfig
from quorum.topologies.centralized import Centralized, CentralizedConfig, Hybrid, HybridConfig
from quorum.topologies.dialogue import Dialogue, DialogueConfig
from quorum.topologies.graph import Graph, GraphConfig
from quorum.topologies.hierarchy import Hierarchy, HierarchyConfig
from quorum.topologies.negotiation import Negotiation, NegotiationConfig
from quorum.topologies.plain import Chain, Debate, DebateConfig, Decentralized, DecentralizedConfig, Individual
from tests.maeil.corridor import Corridor, Rest, Walk
from tests.maeil.scripted import play


def graph(shape):
    return Graph(
        GraphConfig(
            name="graph",
            shape=shape,
            rounds=2,
            edges=[],
            branching=2,
            neighbours=2,
            rewiring=0.5,
            rewiring_seed=1,
            radius=2,
        )
    )


def centralized(leader, rounds, feedback="none"):
    return Centralized(CentralizedConfig(name="centralized", leader=leader, rounds=rounds, feedback=feedback))


def hybrid(peers):
    return Hybrid(
        HybridConfig(name="hybrid", leader=0, rounds=1, feedback="none", peers=peers, radius=2),
    )


def learned(edges):
    return Learned(LearnedConfig(name="learned", rounds=2, edges=edges))


def dialogue(opens):
    return Dialogue(DialogueConfig(name="dialogue", rounds=2, opens=opens))


TOPOLOGIES = {
    "individual": Individual,
    "debate": lambda: Debate(DebateConfig(name="debate", rounds=2)),
    "chain": Chain,
    "centralized": lambda: centralized(1, 2, "constraints"),
    "no answers": lambda: centralized(0, 0),
    "coordinator": lambda: centralized("coordinator", 1),
    "hybrid": lambda: hybrid("ring"),
    "hybrid, near": lambda: hybrid("near"),
    "hierarchy": lambda: Hierarchy(HierarchyConfig(name="hierarchy", branching=2)),
    "decentralized": lambda: Decentralized(DecentralizedConfig(name="decentralized", budget=2)),
    "dialogue": lambda: dialogue("team"),
    "opened dialogue": lambda: dialogue("coordinator"),
    "negotiation": lambda: Negotiation(NegotiationConfig(name="negotiation", rounds=2)),
    "dytopo": lambda: Dytopo(DytopoConfig(name="dytopo", matcher="lexical", threshold=0.3, inputs=2, rounds=2)),
    "ring": lambda: graph("ring"),
    "learned": lambda: learned([(0, 1)]),
    "small world": lambda: graph("small_world"),
    "near": lambda: graph("near"),
}


class Wild:
    """Thinks at random: costs, messages to anybody, plans that fail at once or later, answers without a plan."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    async def think(self, view):
        rng = self.rng
        if rng.random() < 0.1:
            return rng.choice([Thought(), Thought(Resume.RESUME), Thought(Plan(()))])
        decision = None
        if Act.PLAN in view.turn.acts:
            actions = [
                rng.choice(
                    [Rest(steps=rng.randint(1, 3)), Walk(steps=rng.randint(1, 3), fails_at=rng.choice([None, 0, 1]))]
                )
                for _ in range(rng.randint(1, 3))
            ]
            decision = Resume.RESUME if view.plan is not None and rng.random() < 0.5 else Plan(tuple(actions))
        messages = []
        if view.turn.acts & {Act.SPEAK, Act.ACKNOWLEDGE}:
            for _ in range(rng.randint(0, 2)):
                pool = view.turn.recipients if rng.random() < 0.9 else range(-1, len(view.names) + 1)
                recipients = rng.sample(list(pool), min(len(pool), rng.randint(1, 3)))
                messages.append(Draft(tuple(recipients), "hm", rng.choice([MessageKind.INFORM, MessageKind.DIRECTIVE])))
        answers = {DESCRIBE: Descriptor(Offer(rng.choice(WORDS)), Need(rng.choice(WORDS)))} if describes(view) else {}
        return Thought(decision, tuple(messages), (Call(rng.randint(0, 4), {}),), answers=answers)


WORDS = ("block_1 and block_2", "block_2", "nothing at all", "")


def describes(view) -> bool:
    return DESCRIBE in view.turn.asks


def check(events, agents, maximum):
    stages = dict.fromkeys(range(agents), "R")
    sent, read, arrived = {}, Counter(), defaultdict(list)
    finals, committed = Counter(), set()
    forced, thoughts, last = set(), Counter(), 0
    for stamped in events:
        event = stamped.event
        assert stamped.t_hat >= last
        last = stamped.t_hat
        match event.kind:
            case "stage":
                assert stages[event.agent] == event.from_stage
                assert TRANSITIONS[Stage(event.from_stage), Trigger(event.reason)] == event.to_stage
                stages[event.agent] = event.to_stage
            case "thought_start":
                thoughts[event.agent] += 1
                assert thoughts[event.agent] <= maximum
                assert event.agent >= agents or stages[event.agent] in "RI"
            case "message_sent":
                assert event.sender >= agents or stages[event.sender] in "RI"
                assert event.sender not in event.recipients
                sent[event.message] = event
                for recipient in event.recipients:
                    arrived[recipient].append(event.message)
            case "messages_read":
                for message in event.messages:
                    read[message, event.agent] += 1
                    assert event.agent in sent[message].recipients
                    assert stamped.t_hat >= sent[message].delivered_at
                    arrived[event.agent].remove(message)
            case "forced_ready":
                forced.add(event.agent)
            case "plan" if event.status == "committed":
                assert event.plan not in committed
                committed.add(event.plan)
            case "plan" if PlanStatus(event.status).final:
                finals[event.plan] += 1
            case "step":
                assert all(stage == "X" for stage in stages.values())
                for agent in set(range(agents)) - forced:
                    assert not arrived[agent], "an agent was ready with unread mail"
                forced.clear()
                thoughts.clear()
    assert all(count == 1 for count in read.values())
    assert finals.keys() == committed
    assert all(count == 1 for count in finals.values())


@pytest.mark.parametrize("name", TOPOLOGIES)
@given(
    seed=st.integers(0, 10**6),
    agents=st.integers(2, 5),
    delivery=st.sampled_from([0, 0, 3]),
    thoughts=st.integers(1, 8),
    repairs=st.integers(0, 2),
)
def test_the_loop_keeps_its_promises(name, seed, agents, delivery, thoughts, repairs):
    topology = TOPOLOGIES[name]()
    events = play(
        [Wild(seed + i) for i in range(agents)],
        Corridor(agents, length=4, max_steps=6),
        topology=topology,
        settings=LoopSettings(delivery=delivery, max_thoughts_per_step=thoughts, max_repairs=repairs),
        coordinators=[("coordinator", Wild(seed - 1))] if topology.coordinated else [],
        extensions=[Describing("lexical", MATCHERS["lexical"])] if name == "dytopo" else [],
    )
    assert events[-1].event.kind == "episode_end"
    assert events[-1].event.outcome in ("success", "truncated")
    check(events, agents, thoughts)


@pytest.mark.parametrize("name", TOPOLOGIES)
def test_a_single_agent_gets_through(name):
    alone = {"centralized": lambda: centralized(0, 2), "learned": lambda: learned([])}
    topology = {**TOPOLOGIES, **alone}[name]()
    coordinators = [("coordinator", Wild(9))] if topology.coordinated else []
    events = play([Wild(3)], Corridor(1, length=4, max_steps=6), topology=topology, coordinators=coordinators)
    check(events, 1, 8)
