"""The tables per agent and per message, by hand; `test_metrics_properties` holds them against the metrics."""

from dataclasses import asdict

from maeil.metrics import compute_metrics
from maeil.metrics.costs import costs_per_agent, costs_per_message
from maeil.trace import SCHEMA, Stamped, Trace
from maeil.trace.events import (
    EpisodeStart,
    MessageSent,
    MessagesRead,
    PlanChange,
    StageChange,
    StepTaken,
    ThoughtEnd,
    ThoughtStart,
)

START = EpisodeStart(SCHEMA, 0, "by hand", "any", ["ann", "bob"], ["chair"], "tokens", {})


def change(agent, stages, reason):
    return StageChange(agent, *stages.split(), reason)


def sent(message, sender, *recipients, at):
    return MessageSent(message, sender, recipients, "inform", "hello", at)


# cognitive time, step, event; the wall clock is ten times as fast
TALK = [
    (0, 0, START),
    (0, 0, ThoughtStart(0, [], [])),
    (3, 0, ThoughtEnd(0, 3, [], [], 0.0)),
    (3, 0, PlanChange("P0.1", 0, "committed", actions=[])),
    (3, 0, change(0, "R W", "plan_committed")),
    (5, 0, change(1, "R W", "plan_committed")),
    (5, 0, change(0, "W X", "all_ready")),
    (5, 0, change(1, "W X", "all_ready")),
    (5, 0, StepTaken([0, 0], 0.0)),
    (5, 1, change(0, "X R", "plan_ended")),
    # ann has thought for 2: she writes to bob, who goes on, and to the chair, who needs no stage
    (7, 1, sent(0, 0, 1, 2, at=7)),
    (7, 1, sent(1, 0, 1, at=7)),
    (7, 1, change(0, "R W", "plan_committed")),
    (7, 1, change(1, "X I", "message")),
    (7, 1, MessagesRead(1, [0, 1])),
    (11, 1, change(1, "I W", "resumed")),
    (11, 1, change(0, "W X", "all_ready")),
    (11, 1, change(1, "W X", "all_ready")),
    (11, 1, StepTaken([0, 0], 0.0)),
]


def trace(events=TALK):
    return Trace(tuple(Stamped(seq, t, t_hat, 10.0 * t_hat, event) for seq, (t_hat, t, event) in enumerate(events)))


def test_costs_of_each_agent_by_hand():
    ann, bob, chair = costs_per_agent(trace())
    assert (ann.agent, ann.thoughts, ann.sent, ann.read, ann.plans, ann.interruptions) == ("ann", 1, 2, 0, 1, 0)
    assert (bob.agent, bob.sent, bob.read, bob.interruptions) == ("bob", 0, 2, 1)
    assert (ann.decisions, ann.last_ready, ann.latency_mean) == (2, 0, (3 + 2) / 2)
    assert (bob.decisions, bob.last_ready, bob.latency_mean) == (2, 2, (5 + 4) / 2)
    # the world waits from 0 to 5 and from 5 to 11; ann thinks for 5 of it, bob for 9
    assert (ann.synchronisation, bob.synchronisation) == (6, 2)
    assert (ann.synchronisation_seconds, bob.latency_mean_seconds) == (60, 45)
    assert (ann.synchronisation + bob.synchronisation) / 2 == compute_metrics(trace())["decision.synchronisation"]
    assert set(list(asdict(chair).values())[5:]) == {None}


def test_costs_of_each_message_by_hand():
    first, second = costs_per_message(trace())
    assert (first.sender, first.recipients, first.t, first.sent_at, first.characters) == ("ann", "bob, chair", 1, 7, 5)
    # bob thinks about it from 7 to 11, and ann waits
    assert (first.interrupted, first.latency, first.synchronisation) == (1, 4, 4)
    assert (first.latency_seconds, first.synchronisation_seconds) == (40, 40)
    # bob was interrupted already when the second one came
    assert (second.interrupted, second.latency, second.synchronisation) == (0, None, None)


def test_an_interruption_that_is_open_at_the_end_lasts_to_the_last_event():
    (first, _), (_, bob, _) = costs_per_message(trace(TALK[:15])), costs_per_agent(trace(TALK[:15]))
    assert (first.interrupted, first.latency) == (1, 0)
    assert (bob.decisions, bob.interruptions) == (1, 1)
