"""Communication, decisions, plans and COOP2 by hand, on the episodes of `tests/topologies/test_timelines.py`."""

from dataclasses import replace
from math import sqrt

import pytest

from maeil import Call, LoopSettings, Plan, Thought
from maeil.messages import Draft, MessageKind
from maeil.metrics import compute_metrics
from maeil.trace import Trace
from quorum.topologies.graph import Graph, GraphConfig
from quorum.topologies.plain import Chain, Debate, DebateConfig, Decentralized, DecentralizedConfig, Individual
from tests.maeil.corridor import Corridor, Walk
from tests.maeil.scripted import Scripted, play
from tests.topologies.test_timelines import GRAPH, centralized, go, nothing, resume, say


def metrics(events):
    return compute_metrics(Trace(tuple(events)))


def check(events, **expected):
    """Compare metrics; `decision__overhead` stands for `decision.overhead`."""
    found = metrics(events)
    wanted = {name.replace("__", "."): value for name, value in expected.items()}
    assert {name: found[name] for name in wanted} == {
        name: pytest.approx(value, abs=1e-12) if isinstance(value, float) else value for name, value in wanted.items()
    }


def decentralized(budget=2):
    return Decentralized(DecentralizedConfig(name="decentralized", budget=budget))


def test_individual():
    minds = [Scripted(go(2, 1, fails_at=1), go(3, 1)), Scripted(go(5, 2)), Scripted(go(4, 2))]
    check(
        play(minds, Corridor(3, length=2), topology=Individual()),
        outcome__steps=2,
        communication__messages=0,
        communication__messages_mean=0.0,
        communication__messages_std=0.0,
        communication__characters=0,
        # entries of R W I: agent 0: 3 2 0, agents 1 and 2: 2 1 0
        decision__overhead=11 / 2,
        # from 0 to 5 and from 5 to 8; that of the plans which ended with the last step never came
        decision__number=2,
        decision__latency_mean=4.0,
        decision__synchronisation=(4 + 6) / 3,
        decision__thoughts=4,
        decision__refused=0,
        plans__number=4,
        plans__failed=1,
        plans__success_rate=3 / 4,
        plans__interruptions=0,
        plans__stability=1.0,
        coop2__interruptions=1,
        coop2__replan_rate=1.0,
        coop2__plan_success_rate=3 / 4,
        coop2__plans_per_agent=4 / 3,
        # step 0: one of walk(1, fails), two of walk(2); step 1: one of walk(1), two of walk(2)
        coop2__plan_coherence=2 / 3,
    )


def test_redundancy_is_the_mean_cosine_of_what_different_senders_said_in_a_step():
    minds = [
        Scripted(say(2, "lift block 3", 1, 2), go(4, 1)),
        Scripted(say(3, "Lift  block 3", 0, 2), go(5, 1)),
        Scripted(say(1, "xyz", 0, 1), go(6, 1)),
    ]
    world = Corridor(3, length=1)
    # case and spaces play no part: of three pairs one is alike, and two have nothing in common
    check(play(minds, world, topology=Debate(DebateConfig(name="debate", rounds=1))), communication__redundancy=1 / 3)


def test_debate():
    minds = [
        Scripted(say(2, "a", 1, 2), go(4, 2, fails_at=1), say(1, "d", 1, 2), go(3, 1)),
        Scripted(say(3, "b", 0, 2), go(5, 2), resume(1)),
        Scripted(say(1, "c", 0, 1), go(6, 2), go(2, 1)),
    ]
    check(
        play(minds, Corridor(3, length=2), topology=Debate(DebateConfig(name="debate", rounds=1))),
        communication__messages=4,
        communication__messages_per_step=2.0,
        communication__messages_per_thought=4 / 10,
        communication__redundancy=0.0,  # a, b and c have no n-gram in common, and d is alone in its step
        # 2, 1 and 1
        communication__messages_mean=4 / 3,
        communication__messages_std=sqrt(2 / 9),
        communication__recipients_reached=8,
        communication__characters=4,
        # 3 2 0, 2 2 1, 2 2 1
        decision__overhead=15 / 2,
        # 0 to 12, 12 to 16
        decision__latency_mean=8.0,
        decision__synchronisation=(6 + 2) / 3,
        decision__thoughts=10,
        plans__number=5,
        plans__interruptions=2,
        plans__stability=4 / 5,
        coop2__interruptions=2,
    )


def test_chain():
    minds = [
        Scripted(go(2, 2, Draft((1, 2), "a"))),
        Scripted(go(3, 1, Draft((2,), "b"), fails_at=1), go(1, 1, Draft((2,), "c"))),
        Scripted(go(1, 2), resume(2)),
    ]
    check(
        play(minds, Corridor(3, length=2), topology=Chain()),
        communication__messages=3,
        communication__messages_std=sqrt(2 / 3),
        communication__recipients_reached=4,
        # 2 1 0, 3 2 0, 2 2 1
        decision__overhead=13 / 2,
        decision__latency_mean=(6 + 3) / 2,
        decision__synchronisation=(7 + 4) / 3,
        plans__number=4,
        plans__stability=1.0,
    )


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
    check(
        play(minds, Corridor(3, length=2), topology=centralized()),
        communication__messages=6,
        communication__messages_mean=2.0,
        communication__messages_std=sqrt(2 / 3),
        communication__recipients_reached=7,
        communication__characters=2 + 3 + 11 + 15 + 4 + 4,
        # 2 2 1, 3 2 0, 2 1 0
        decision__overhead=13 / 2,
        decision__latency_mean=(12 + 6) / 2,
        decision__synchronisation=(1 + 7) / 3,
        plans__number=5,
        plans__failed=1,
        plans__stability=4 / 5,
    )


def test_a_coordinator_bears_load_but_is_no_agent():
    minds = [Scripted(say(1, "yes", 2, kind=MessageKind.ACK), go(1, 1)), Scripted(nothing(1), go(1, 1))]
    coordinator = Scripted(say(4, "all go", 0, 1), nothing(1))
    events = play(
        minds, Corridor(2, length=1), topology=centralized("coordinator"), coordinators=[("coordinator", coordinator)]
    )
    check(
        events,
        # 1, 0 and 1
        communication__messages_mean=2 / 3,
        communication__messages_std=sqrt(2 / 9),
        # R, W and the last R of two agents
        decision__overhead=6.0,
    )


def test_decentralized():
    minds = [
        Scripted(go(3, 1, Draft((1,), "a"), Draft((1, 2), "b")), resume(1)),
        Scripted(go(5, 1), go(2, 1, Draft((0,), "c"))),
        Scripted(go(1, 1), resume(1)),
    ]
    check(
        play(minds, Corridor(3, length=1), topology=decentralized()),
        communication__messages=3,
        communication__messages_per_step=3.0,
        communication__messages_mean=1.0,
        communication__messages_std=sqrt(2 / 3),
        communication__recipients_reached=4,
        # 2 2 1 each
        decision__overhead=15.0,
        decision__number=1,
        decision__latency_mean=8.0,
        decision__synchronisation=11 / 3,
        plans__number=4,
        plans__interruptions=3,
        plans__stability=3 / 4,
        # a plan that was replaced before it ran is not in COOP2's log
        coop2__interruptions=0,
        coop2__replan_rate=0.0,
    )


def test_graph():
    topology = Graph(GraphConfig(**{**GRAPH, "shape": "edges", "edges": [(0, 1), (1, 2)]}))
    minds = [
        Scripted(say(1, "a", 1), go(1, 1)),
        Scripted(say(2, "b", 0, 2), go(1, 1)),
        Scripted(say(3, "c", 1), go(1, 1)),
    ]
    check(
        play(minds, Corridor(3, length=1), topology=topology),
        communication__messages=3,
        communication__messages_std=0.0,
        communication__recipients_reached=4,
        decision__overhead=9.0,
        decision__latency_mean=4.0,
        decision__synchronisation=0.0,
    )


def test_mail_on_its_way_has_reached_nobody():
    minds = [Scripted(say(2, "a", 1), go(1, 1)), Scripted(say(1, "b", 0), go(1, 1))]
    topology = Debate(DebateConfig(name="debate", rounds=1))
    events = play(minds, Corridor(2, length=1), topology=topology, settings=LoopSettings(delivery=10))
    (sent,) = [i for i, e in enumerate(events) if e.event.kind == "message_sent" and e.event.content == "a"]
    assert metrics(events[: sent + 1])["communication.recipients_reached"] == 0
    assert metrics(events)["communication.recipients_reached"] == 2


def test_a_plan_that_the_loop_resumes_in_a_minds_stead_is_no_decision_to_resume():
    # agent 1 is interrupted by agent 0's message and then only says nonsense
    minds = [Scripted(go(3, 1, Draft((1,), "a"))), Scripted(go(1, 1), Thought())]
    events = play(minds, Corridor(2, length=1), topology=decentralized(), settings=LoopSettings(max_repairs=1))
    check(
        events,
        plans__interruptions=1,
        plans__invalid=0,
        decision__refused=2,
        decision__forced_ready=0,
    )


def test_forced_ready_is_counted():
    minds = [Scripted(go(3, 1, Draft((1,), "a"))), Scripted(go(1, 1))]
    events = play(
        minds, Corridor(2, length=1), topology=decentralized(), settings=LoopSettings(max_thoughts_per_step=1)
    )
    check(events, decision__forced_ready=1, plans__interruptions=1)


def test_a_decision_that_never_came_has_no_latency_but_takes_time():
    events = play([Scripted(go(4, 1)), Scripted(go(9, 1))], Corridor(2, length=1))
    (committed,) = [i for i, e in enumerate(events) if e.event.kind == "stage" and e.t_hat == 4]
    # killed at 4, when agent 0 had decided
    check(
        events[: committed + 1],
        outcome__steps=0,
        decision__overhead=None,
        decision__latency_mean=None,
        decision__synchronisation=0.0,
        plans__number=1,
        plans__success_rate=None,
    )


def test_a_plan_that_ends_before_its_first_step_needs_another_decision_in_the_same_step():
    nowhere = Thought(Plan((Walk(steps=0),)), calls=(Call(2, {}),))
    events = play([Scripted(nowhere, go(3, 1))], Corridor(1, length=1))
    check(events, outcome__steps=1, decision__number=2, decision__latency_mean=2.5, decision__overhead=5.0)


def test_wall_time_is_the_stamps_own():
    events = play([Scripted(go(1, 1), delays=[0.02]), Scripted(go(1, 1))], Corridor(2, length=1))
    found = metrics(events)
    ends = [next(e.wall for e in events if e.event.kind == "stage" and e.event.agent == agent) for agent in (0, 1)]
    assert found["coop2.decision_time_total_seconds"] == pytest.approx(sum(ends) - 2 * events[0].wall)
    assert found["coop2.decision_time_total_seconds"] >= 0.02


def test_coop2_takes_an_equal_plan_after_a_failure_for_a_resumption():
    stumble = go(1, 2, fails_at=1)
    check(
        play([Scripted(stumble, stumble, go(1, 5))], Corridor(1, length=9, max_steps=3)),
        plans__number=3,
        plans__failed=2,
        plans__success_rate=0.0,
        coop2__plan_success_rate=0.0,
        # all three, the one cut off by the end included
        coop2__interruptions=3,
        coop2__resumption_rate=1 / 3,
        coop2__replan_rate=2 / 3,
        # three cells in three steps
        outcome__score=3.0,
        coop2__score_per_step=1.0,
    )


def test_a_plan_that_runs_out_of_time_has_not_failed_but_is_interrupted_in_coop2():
    events = play([Scripted(go(1, 2, fails_at=1), go(1, 1))], Corridor(1, length=2))
    (place,) = [i for i, e in enumerate(events) if e.event.kind == "plan" and e.event.status == "failed"]
    events[place] = replace(events[place], event=replace(events[place].event, status="timed_out"))
    check(events, plans__failed=0, plans__timed_out=1, plans__success_rate=1 / 2, coop2__interruptions=1)


def test_coop2_coherence_is_nothing_when_all_specifications_differ():
    found = metrics(play([Scripted(go(1, 1)), Scripted(go(1, 2))], Corridor(2, length=1)))
    assert found["coop2.plan_coherence"] == 0.0
    assert found["plans.coherence"] == 1 / 2
    found = metrics(play([Scripted(go(1, 1))], Corridor(1, length=1)))
    assert found["coop2.plan_coherence"] == 1.0
