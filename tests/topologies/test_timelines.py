"""Each topology on three agents, every stage change, message and instant written out by hand."""

import pytest

from maeil import Call, LoopSettings, Plan, Resume, Thought
from maeil.messages import Draft, MessageKind
from maeil.metrics import compute_metrics
from maeil.trace import Trace
from maeil.trace.events import PlanChange, StageChange
from quorum.topologies.centralized import Centralized, CentralizedConfig
from quorum.topologies.dialogue import Dialogue, DialogueConfig
from quorum.topologies.graph import Graph, GraphConfig
from quorum.topologies.plain import Chain, Debate, DebateConfig, Decentralized, DecentralizedConfig, Individual
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, lines, play

KINDS = ("stage", "message_sent", "messages_read", "step")


def cost(tokens: int) -> tuple[Call, ...]:
    return (Call(tokens, {}),)


def say(tokens: int, text: str, *recipients: int, kind: MessageKind = MessageKind.INFORM) -> Thought:
    return Thought(messages=(Draft(recipients, text, kind),), calls=cost(tokens))


def nothing(tokens: int) -> Thought:
    return Thought(calls=cost(tokens))


def go(tokens: int, steps: int, *messages: Draft, fails_at: int | None = None) -> Thought:
    return Thought(Plan((Walk(steps=steps, fails_at=fails_at),)), messages, cost(tokens))


def resume(tokens: int, *messages: Draft) -> Thought:
    return Thought(Resume.RESUME, messages, cost(tokens))


def reported(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def measure(events, **expected):
    """Hold metrics, by the last part of their names, and the fates of plans against numbers worked out by hand."""
    metrics = compute_metrics(Trace(tuple(events)))
    found = {name: metrics[f"{group}.{name}"] for group, names in GROUPS.items() for name in names}
    happened = [stamped.event for stamped in events]
    ends = [event.status for event in happened if isinstance(event, PlanChange)]
    found |= {status: ends.count(status) for status in ("interrupted", "replaced")}
    found["resumed"] = sum(isinstance(event, StageChange) and event.reason == "resumed" for event in happened)
    assert found == pytest.approx(expected)


GROUPS = {
    "communication": ["messages", "messages_mean", "messages_std"],
    "decision": ["overhead", "latency_mean"],
    "plans": ["number", "failed", "stability"],
}


def test_individual():
    minds = [Scripted(go(2, 1, fails_at=1), go(3, 1)), Scripted(go(5, 2)), Scripted(go(4, 2))]
    events = play(minds, Corridor(3, length=2), topology=Individual())
    assert lines(events, *KINDS) == reported("""
        t=0 t^=2: agent 0 R->W plan_committed
        t=0 t^=4: agent 2 R->W plan_committed
        t=0 t^=5: agent 1 R->W plan_committed
        t=0 t^=5: agent 0 W->X all_ready
        t=0 t^=5: agent 1 W->X all_ready
        t=0 t^=5: agent 2 W->X all_ready
        t=0 t^=5: step [1, 1, 1]
        t=1 t^=5: agent 0 X->R plan_ended
        t=1 t^=8: agent 0 R->W plan_committed
        t=1 t^=8: agent 0 W->X all_ready
        t=1 t^=8: step [1, 1, 1]
        t=2 t^=8: agent 0 X->R plan_ended
        t=2 t^=8: agent 1 X->R plan_ended
        t=2 t^=8: agent 2 X->R plan_ended
    """)
    # entries: 3 first R, 3 W; R and W of agent 0; 3 last R; decisions last 5 and 3
    measure(
        events, messages=0, messages_mean=0, messages_std=0, overhead=11 / 2, latency_mean=4, number=4, failed=1,
        interrupted=0, replaced=0, resumed=0, stability=1,
    )  # fmt: skip


def test_debate():
    minds = [
        Scripted(say(2, "a", 1, 2), go(4, 2, fails_at=1), say(1, "d", 1, 2), go(3, 1)),
        Scripted(say(3, "b", 0, 2), go(5, 2), resume(1)),
        Scripted(say(1, "c", 0, 1), go(6, 2), go(2, 1)),
    ]
    events = play(minds, Corridor(3, length=2), topology=Debate(DebateConfig(name="debate", rounds=1)))
    assert lines(events, *KINDS) == reported("""
        t=0 t^=2: agent 0 says 'a' to [1, 2]
        t=0 t^=2: agent 1 reads 0
        t=0 t^=5: agent 1 says 'b' to [0, 2]
        t=0 t^=5: agent 2 reads 0, 1
        t=0 t^=6: agent 2 says 'c' to [0, 1]
        t=0 t^=6: agent 0 reads 1, 2
        t=0 t^=6: agent 1 reads 2
        t=0 t^=10: agent 0 R->W plan_committed
        t=0 t^=11: agent 1 R->W plan_committed
        t=0 t^=12: agent 2 R->W plan_committed
        t=0 t^=12: agent 0 W->X all_ready
        t=0 t^=12: agent 1 W->X all_ready
        t=0 t^=12: agent 2 W->X all_ready
        t=0 t^=12: step [1, 1, 1]
        t=1 t^=12: agent 0 X->R plan_ended
        t=1 t^=13: agent 0 says 'd' to [1, 2]
        t=1 t^=13: agent 1 X->I message
        t=1 t^=13: agent 2 X->I message
        t=1 t^=13: agent 1 reads 3
        t=1 t^=13: agent 2 reads 3
        t=1 t^=14: agent 1 I->W resumed
        t=1 t^=15: agent 2 I->W replaced
        t=1 t^=16: agent 0 R->W plan_committed
        t=1 t^=16: agent 0 W->X all_ready
        t=1 t^=16: agent 1 W->X all_ready
        t=1 t^=16: agent 2 W->X all_ready
        t=1 t^=16: step [1, 1, 1]
        t=2 t^=16: agent 0 X->R plan_ended
        t=2 t^=16: agent 1 X->R plan_ended
        t=2 t^=16: agent 2 X->R plan_ended
    """)
    # entries: 3 first R, 3 W; R of agent 0, I of 1 and 2, 3 W; 3 last R; decisions last 12 and 4
    measure(
        events, messages=4, messages_mean=4 / 3, messages_std=(2 / 9) ** 0.5, overhead=15 / 2, latency_mean=8, number=5,
        failed=1, interrupted=1, replaced=0, resumed=1, stability=1 - 1 / 5,
    )  # fmt: skip


def test_debate_in_two_rounds_speaks_in_index_order_twice_before_anybody_plans():
    minds = [
        Scripted(say(1, f"{i}a", *others), say(1, f"{i}b", *others), go(1, 1))
        for i, others in enumerate([(1, 2), (0, 2), (0, 1)])
    ]
    events = play(minds, Corridor(3, length=1), topology=Debate(DebateConfig(name="debate", rounds=2)))
    assert [line.split(": ")[1].split(" to ")[0] for line in lines(events, "message_sent")] == [
        f"agent {agent} says '{agent}{text}'" for text in "ab" for agent in range(3)
    ]
    assert [len(mind.views) for mind in minds] == [3, 3, 3]
    assert lines(events, "step") == ["t=0 t^=7: step [1, 1, 1]"]


def test_chain():
    minds = [
        Scripted(go(2, 2, Draft((1, 2), "a"))),
        Scripted(go(3, 1, Draft((2,), "b"), fails_at=1), go(1, 1, Draft((2,), "c"))),
        Scripted(go(1, 2), resume(2)),
    ]
    events = play(minds, Corridor(3, length=2), topology=Chain())
    assert lines(events, *KINDS) == reported("""
        t=0 t^=2: agent 0 says 'a' to [1, 2]
        t=0 t^=2: agent 0 R->W plan_committed
        t=0 t^=2: agent 1 reads 0
        t=0 t^=5: agent 1 says 'b' to [2]
        t=0 t^=5: agent 1 R->W plan_committed
        t=0 t^=5: agent 2 reads 0, 1
        t=0 t^=6: agent 2 R->W plan_committed
        t=0 t^=6: agent 0 W->X all_ready
        t=0 t^=6: agent 1 W->X all_ready
        t=0 t^=6: agent 2 W->X all_ready
        t=0 t^=6: step [1, 1, 1]
        t=1 t^=6: agent 1 X->R plan_ended
        t=1 t^=7: agent 1 says 'c' to [2]
        t=1 t^=7: agent 1 R->W plan_committed
        t=1 t^=7: agent 2 X->I message
        t=1 t^=7: agent 2 reads 2
        t=1 t^=9: agent 2 I->W resumed
        t=1 t^=9: agent 1 W->X all_ready
        t=1 t^=9: agent 2 W->X all_ready
        t=1 t^=9: step [1, 1, 1]
        t=2 t^=9: agent 0 X->R plan_ended
        t=2 t^=9: agent 1 X->R plan_ended
        t=2 t^=9: agent 2 X->R plan_ended
    """)
    # entries: 3 first R, 3 W; R of agent 1, I of 2, W of both; 3 last R; decisions last 6 and 3
    measure(
        events, messages=3, messages_mean=1, messages_std=(2 / 3) ** 0.5, overhead=13 / 2, latency_mean=4.5, number=4,
        failed=1, interrupted=0, replaced=0, resumed=1, stability=1,
    )  # fmt: skip


def centralized(leader=0, rounds=1, feedback="none") -> Centralized:
    return Centralized(CentralizedConfig(name="centralized", leader=leader, rounds=rounds, feedback=feedback))


def test_centralized():
    minds = [
        Scripted(
            say(5, "go", 1, 2, kind=MessageKind.DIRECTIVE),
            say(2, "go all the same", 2),
            go(1, 2),
            say(2, "wait", 1),
            nothing(1),
            go(1, 1),
        ),
        Scripted(
            say(1, "yes", 0, kind=MessageKind.ACK),
            go(2, 1, fails_at=1),
            say(1, "help", 0, kind=MessageKind.REQUEST),
            nothing(1),
            go(1, 1),
        ),
        Scripted(say(3, "no: too far", 0, kind=MessageKind.ACK), go(2, 2)),
    ]
    events = play(minds, Corridor(3, length=2), topology=centralized())
    assert lines(events, *KINDS) == reported("""
        t=0 t^=5: agent 0 says 'go' to [1, 2]
        t=0 t^=5: agent 1 reads 0
        t=0 t^=5: agent 2 reads 0
        t=0 t^=6: agent 1 says 'yes' to [0]
        t=0 t^=8: agent 2 says 'no: too far' to [0]
        t=0 t^=8: agent 0 reads 1, 2
        t=0 t^=10: agent 0 says 'go all the same' to [2]
        t=0 t^=10: agent 2 reads 3
        t=0 t^=11: agent 0 R->W plan_committed
        t=0 t^=12: agent 1 R->W plan_committed
        t=0 t^=12: agent 2 R->W plan_committed
        t=0 t^=12: agent 0 W->X all_ready
        t=0 t^=12: agent 1 W->X all_ready
        t=0 t^=12: agent 2 W->X all_ready
        t=0 t^=12: step [1, 1, 1]
        t=1 t^=12: agent 1 X->R plan_ended
        t=1 t^=13: agent 1 says 'help' to [0]
        t=1 t^=13: agent 0 X->I message
        t=1 t^=13: agent 0 reads 4
        t=1 t^=15: agent 0 says 'wait' to [1]
        t=1 t^=15: agent 1 reads 5
        t=1 t^=18: agent 0 I->W replaced
        t=1 t^=18: agent 1 R->W plan_committed
        t=1 t^=18: agent 0 W->X all_ready
        t=1 t^=18: agent 1 W->X all_ready
        t=1 t^=18: step [1, 1, 1]
        t=2 t^=18: agent 0 X->R plan_ended
        t=2 t^=18: agent 1 X->R plan_ended
        t=2 t^=18: agent 2 X->R plan_ended
    """)
    # entries: 3 first R, 3 W; R of agent 1, I of 0, W of both; 3 last R; decisions last 12 and 6
    measure(
        events, messages=6, messages_mean=2, messages_std=(2 / 3) ** 0.5, overhead=13 / 2, latency_mean=9, number=5,
        failed=1, interrupted=1, replaced=0, resumed=0, stability=1 - 1 / 5,
    )  # fmt: skip


def test_a_leader_that_has_nothing_to_say_ends_the_talk():
    leader = Scripted(nothing(1), go(1, 1))
    followers = [Scripted(go(1, 1)), Scripted(go(1, 1))]
    events = play([leader, *followers], Corridor(3, length=1), topology=centralized())
    assert not lines(events, "message_sent")
    assert lines(events, "step") == ["t=0 t^=2: step [1, 1, 1]"]


def test_a_coordinator_leads_without_a_body():
    coordinator = Scripted(say(4, "all go", 0, 1), nothing(1))
    minds = [Scripted(say(1, "yes", 2, kind=MessageKind.ACK), go(1, 1)) for _ in range(2)]
    events = play(
        minds, Corridor(2, length=1), topology=centralized("coordinator"), coordinators=[("coordinator", coordinator)]
    )
    assert lines(events, *KINDS) == reported("""
        t=0 t^=4: agent 2 says 'all go' to [0, 1]
        t=0 t^=4: agent 0 reads 0
        t=0 t^=4: agent 1 reads 0
        t=0 t^=5: agent 0 says 'yes' to [2]
        t=0 t^=5: agent 1 says 'yes' to [2]
        t=0 t^=5: agent 2 reads 1, 2
        t=0 t^=7: agent 0 R->W plan_committed
        t=0 t^=7: agent 1 R->W plan_committed
        t=0 t^=7: agent 0 W->X all_ready
        t=0 t^=7: agent 1 W->X all_ready
        t=0 t^=7: step [1, 1]
        t=1 t^=7: agent 0 X->R plan_ended
        t=1 t^=7: agent 1 X->R plan_ended
    """)
    assert coordinator.views[0].observation.cell == 0
    assert coordinator.views[0].turn.role == "leader"


def test_decentralized():
    minds = [
        Scripted(go(3, 1, Draft((1,), "a"), Draft((1, 2), "b")), resume(1)),
        Scripted(go(5, 1), go(2, 1, Draft((0,), "c"))),
        Scripted(go(1, 1), resume(1)),
    ]
    topology = Decentralized(DecentralizedConfig(name="decentralized", budget=2))
    events = play(minds, Corridor(3, length=1), topology=topology)
    assert lines(events, *KINDS) == reported("""
        t=0 t^=1: agent 2 R->W plan_committed
        t=0 t^=3: agent 0 says 'a' to [1]
        t=0 t^=3: agent 0 says 'b' to [1, 2]
        t=0 t^=3: agent 0 R->W plan_committed
        t=0 t^=3: agent 2 W->I message
        t=0 t^=3: agent 2 reads 1
        t=0 t^=4: agent 2 I->W resumed
        t=0 t^=5: agent 1 R->W plan_committed
        t=0 t^=5: agent 1 W->I message
        t=0 t^=5: agent 1 reads 0, 1
        t=0 t^=7: agent 1 says 'c' to [0]
        t=0 t^=7: agent 1 I->W replaced
        t=0 t^=7: agent 0 W->I message
        t=0 t^=7: agent 0 reads 2
        t=0 t^=8: agent 0 I->W resumed
        t=0 t^=8: agent 0 W->X all_ready
        t=0 t^=8: agent 1 W->X all_ready
        t=0 t^=8: agent 2 W->X all_ready
        t=0 t^=8: step [1, 1, 1]
        t=1 t^=8: agent 0 X->R plan_ended
        t=1 t^=8: agent 1 X->R plan_ended
        t=1 t^=8: agent 2 X->R plan_ended
    """)
    assert [sorted(view.turn.acts) for view in minds[0].views] == [["plan", "speak"], ["plan"]]
    # entries: 3 first R; 6 W and 3 I on the way; 3 last R; one decision of 8
    measure(
        events, messages=3, messages_mean=1, messages_std=(2 / 3) ** 0.5, overhead=15, latency_mean=8, number=4,
        failed=0, interrupted=0, replaced=1, resumed=2, stability=1 - 1 / 4,
    )  # fmt: skip


def test_more_messages_than_the_budget_are_refused():
    greedy = Scripted(go(1, 1, *(Draft((1,), str(i)) for i in range(3))), go(1, 1))
    topology = Decentralized(DecentralizedConfig(name="decentralized", budget=2))
    play([greedy, Scripted(go(1, 1))], Corridor(2, length=1), topology=topology)
    assert greedy.views[1].problems == ("3 messages are more than the 2 that this turn allows",)


GRAPH = {
    "name": "graph", "shape": "ring", "rounds": 1, "edges": [], "branching": 2, "neighbours": 2, "rewiring": 0.0,
    "rewiring_seed": 0, "radius": 1,
}  # fmt: skip


def test_graph():
    # a path 0 - 1 - 2: all speak at once, to their neighbours alone
    topology = Graph(GraphConfig(**{**GRAPH, "shape": "edges", "edges": [(0, 1), (1, 2)]}))
    minds = [
        Scripted(say(1, "a", 1), go(1, 1)),
        Scripted(say(2, "b", 0, 2), go(1, 1)),
        Scripted(say(3, "c", 1), go(1, 1)),
    ]
    events = play(minds, Corridor(3, length=1), topology=topology)
    assert lines(events, *KINDS) == reported("""
        t=0 t^=1: agent 0 says 'a' to [1]
        t=0 t^=2: agent 1 says 'b' to [0, 2]
        t=0 t^=3: agent 2 says 'c' to [1]
        t=0 t^=3: agent 0 reads 1
        t=0 t^=3: agent 1 reads 0, 2
        t=0 t^=3: agent 2 reads 1
        t=0 t^=4: agent 0 R->W plan_committed
        t=0 t^=4: agent 1 R->W plan_committed
        t=0 t^=4: agent 2 R->W plan_committed
        t=0 t^=4: agent 0 W->X all_ready
        t=0 t^=4: agent 1 W->X all_ready
        t=0 t^=4: agent 2 W->X all_ready
        t=0 t^=4: step [1, 1, 1]
        t=1 t^=4: agent 0 X->R plan_ended
        t=1 t^=4: agent 1 X->R plan_ended
        t=1 t^=4: agent 2 X->R plan_ended
    """)
    # entries: 3 first R, 3 W, 3 last R; one decision of 4
    measure(
        events, messages=3, messages_mean=1, messages_std=0, overhead=9, latency_mean=4, number=3, failed=0,
        interrupted=0, replaced=0, resumed=0, stability=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("shape", "n", "neighbours"),
    [
        ("ring", 4, [(1, 3), (0, 2), (1, 3), (0, 2)]),
        ("ring", 2, [(1,), (0,)]),
        ("star", 4, [(1, 2, 3), (0,), (0,), (0,)]),
        ("tree", 6, [(1, 2), (0, 3, 4), (0, 5), (1,), (1,), (2,)]),
        ("small_world", 4, [(1, 3), (0, 2), (1, 3), (0, 2)]),
        ("near", 3, [(1,), (0, 2), (1,)]),
    ],
)
def test_who_may_write_to_whom(shape, n, neighbours):
    minds = [Scripted(nothing(1), go(1, 1)) for _ in range(n)]
    play(minds, Corridor(n, length=1), topology=Graph(GraphConfig(**{**GRAPH, "shape": shape})))
    assert [mind.views[0].turn.recipients for mind in minds] == neighbours


def test_an_agent_without_neighbours_just_plans():
    topology = Graph(GraphConfig(**{**GRAPH, "shape": "edges", "edges": [(0, 1)]}))
    minds = [Scripted(nothing(1), go(1, 1)), Scripted(nothing(1), go(1, 1)), Scripted(go(1, 1))]
    events = play(minds, Corridor(3, length=1), topology=topology)
    assert events[-1].event.outcome == "success"


def test_messages_on_their_way_are_waited_for():
    minds = [Scripted(say(2, "a", 1), go(1, 1)), Scripted(say(1, "b", 0), go(1, 1))]
    settings = LoopSettings(delivery=10)
    events = play(
        minds, Corridor(2, length=1), topology=Debate(DebateConfig(name="debate", rounds=1)), settings=settings
    )
    assert lines(events, "message_sent", "messages_read", "step") == reported("""
        t=0 t^=2: agent 0 says 'a' to [1]
        t=0 t^=12: agent 1 reads 0
        t=0 t^=13: agent 1 says 'b' to [0]
        t=0 t^=23: agent 0 reads 1
        t=0 t^=24: step [1, 1]
    """)


def dialogue(opens: str = "team", rounds: int = 4) -> Dialogue:
    return Dialogue(DialogueConfig(name="dialogue", rounds=rounds, opens=opens))


def test_dialogue():
    minds = [
        Scripted(say(2, "a", 1, 2), go(1, 2, fails_at=1), go(1, 1)),
        Scripted(say(3, "b", 0, 2, kind=MessageKind.DIRECTIVE), go(1, 2)),
        Scripted(go(4, 2)),
    ]
    events = play(minds, Corridor(3, length=2), topology=dialogue())
    assert lines(events, *KINDS) == reported("""
        t=0 t^=2: agent 0 says 'a' to [1, 2]
        t=0 t^=2: agent 1 reads 0
        t=0 t^=5: agent 1 says 'b' to [0, 2]
        t=0 t^=5: agent 0 reads 1
        t=0 t^=5: agent 2 reads 0, 1
        t=0 t^=6: agent 0 R->W plan_committed
        t=0 t^=6: agent 1 R->W plan_committed
        t=0 t^=9: agent 2 R->W plan_committed
        t=0 t^=9: agent 0 W->X all_ready
        t=0 t^=9: agent 1 W->X all_ready
        t=0 t^=9: agent 2 W->X all_ready
        t=0 t^=9: step [1, 1, 1]
        t=1 t^=9: agent 0 X->R plan_ended
        t=1 t^=10: agent 0 R->W plan_committed
        t=1 t^=10: agent 0 W->X all_ready
        t=1 t^=10: step [1, 1, 1]
        t=2 t^=10: agent 0 X->R plan_ended
        t=2 t^=10: agent 1 X->R plan_ended
        t=2 t^=10: agent 2 X->R plan_ended
    """)
    assert [[(view.turn.role, view.turn.recipients) for view in mind.views] for mind in minds] == [
        [("speaker", (1, 2)), ("speaker", ()), ("alone", ())],
        [("speaker", (0, 2)), ("speaker", ())],
        [("speaker", ())],
    ]


def test_a_dialogue_without_a_joint_plan_ends_after_its_rounds():
    minds = [Scripted(*[say(1, f"{i}", 1 - i)] * 2, go(1, 1)) for i in range(2)]
    events = play(minds, Corridor(2, length=1), topology=dialogue(rounds=2))
    assert [line.split(" says ")[0] for line in lines(events, "message_sent")] == [
        f"t=0 t^={t}: agent {t % 2 ^ 1}" for t in (1, 2, 3, 4)
    ]
    assert lines(events, "step") == ["t=0 t^=5: step [1, 1]"]


def test_a_dialogue_that_a_coordinator_opens_is_for_those_whom_it_writes_to():
    coordinator = Scripted(say(5, "go", 0, 2, kind=MessageKind.DIRECTIVE))
    minds = [
        Scripted(say(1, "a", 2, 3), go(1, 1)),
        Scripted(go(1, 1)),
        Scripted(say(1, "b", 0, 3, kind=MessageKind.DIRECTIVE), go(1, 1)),
    ]
    topology = dialogue("coordinator")
    events = play(minds, Corridor(3, length=1), topology=topology, coordinators=[("coordinator", coordinator)])
    assert lines(events, "message_sent", "messages_read", "step") == reported("""
        t=0 t^=5: agent 3 says 'go' to [0, 2]
        t=0 t^=5: agent 0 reads 0
        t=0 t^=6: agent 0 says 'a' to [2, 3]
        t=0 t^=6: agent 2 reads 0, 1
        t=0 t^=7: agent 2 says 'b' to [0, 3]
        t=0 t^=7: agent 0 reads 2
        t=0 t^=8: step [1, 1, 1]
    """)
    assert [view.turn.role for view in coordinator.views] == ["opener"]


@pytest.mark.parametrize("recipients", [(), (1,)])
def test_fewer_than_two_whom_the_coordinator_writes_to_have_nothing_to_talk_about(recipients):
    opening = say(5, "go", *recipients, kind=MessageKind.DIRECTIVE) if recipients else nothing(5)
    minds = [Scripted(go(1, 1)) for _ in range(2)]
    topology = dialogue("coordinator")
    events = play(minds, Corridor(2, length=1), topology=topology, coordinators=[("coordinator", Scripted(opening))])
    assert lines(events, "step") == ["t=0 t^=6: step [1, 1]"]
    assert [len(mind.views) for mind in minds] == [1, 1]
