"""What holds of the metrics of every episode, cut off wherever it may be."""

import random
import time
from collections import Counter, defaultdict
from itertools import groupby, pairwise
from math import isfinite

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maeil import Call, LoopSettings, Plan, Resume, Thought
from maeil.errors import MetricError
from maeil.messages import Draft
from maeil.metrics import METRICS, compute_metrics, metric, reproducible
from maeil.metrics.costs import costs_per_agent, costs_per_message
from maeil.mind import Act
from maeil.tasks import CapabilityChange
from maeil.trace import SCHEMA, Stamped, Trace
from maeil.trace.events import (
    ConstraintChange,
    EpisodeStart,
    MessageSent,
    PlanChange,
    StageChange,
    StepOutcome,
    StepTaken,
    ThoughtEnd,
    ThoughtStart,
)
from maeil.trace.reader import shared
from quorum.topologies.plain import Chain, Debate, DebateConfig, Decentralized, DecentralizedConfig, Individual
from tests.maeil.corridor import Walk
from tests.maeil.reporting import Report, ReportingCorridor, attempt, over, state
from tests.maeil.scripted import play
from tests.topologies.test_timelines import centralized

TOPOLOGIES = [
    Individual,
    Chain,
    lambda: Debate(DebateConfig(name="debate", rounds=1)),
    lambda: centralized(0, 1),
    lambda: Decentralized(DecentralizedConfig(name="decentralized", budget=2)),
]


class Wild:
    """Thinks at random: costs, messages, plans that fail, resumptions, nonsense."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    async def think(self, view):
        rng = self.rng
        if rng.random() < 0.1:
            return Thought(Resume.RESUME)
        decision, messages = None, ()
        if Act.PLAN in view.turn.acts:
            plan = Plan((Walk(steps=rng.randint(0, 3), fails_at=rng.choice([None, None, 0, 1])),))
            decision = Resume.RESUME if view.plan is not None and rng.random() < 0.5 else plan
        if view.turn.acts & {Act.SPEAK, Act.ACKNOWLEDGE} and view.turn.recipients and rng.random() < 0.7:
            messages = (Draft(tuple(rng.sample(view.turn.recipients, 1)), "x" * rng.randint(0, 9)),)
        record = rng.choice([{}, {"usd": 0.1, "seconds": 1.5, "completion_tokens": 3}, {"retries": 2}])
        return Thought(decision, messages, (Call(rng.randint(0, 5), record),))


def wild_reports(rng):
    reports, active = {}, set()
    for step in range(20):
        names = rng.sample("abcd", rng.randint(0, 4))
        states = []
        for name in names:
            if name in active and rng.random() < 0.2:
                states.append(over(name))
                active.discard(name)
            else:
                counts = [rng.randint(0, 4) for _ in range(3)]
                states.append(
                    state(name, rng.randint(1, 3), *counts, involved=rng.randint(0, 4), ready=rng.random() < 0.7)
                )
                active.add(name)
        attempts = [attempt(name, 0, succeeded=rng.random() < 0.3) for name in active if rng.random() < 0.5]
        gains = [CapabilityChange(0, "axe", rng.random() < 0.6) for _ in range(rng.randint(0, 1))]
        reports[step] = Report(states, tuple(attempts), tuple(gains))
    return reports


def wild_episode(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 4)
    return play(
        [Wild(rng) for _ in range(n)],
        ReportingCorridor(n, wild_reports(rng), length=4, max_steps=rng.randint(1, 12)),
        topology=rng.choice(TOPOLOGIES)(),
        settings=LoopSettings(max_thoughts_per_step=rng.randint(1, 4), max_repairs=rng.randint(0, 2)),
    )


@given(st.integers(0, 2**32), st.data())
def test_metrics_of_any_prefix_are_finite_or_none_and_right(seed, data):
    events = wild_episode(seed)
    events = events[: data.draw(st.integers(1, len(events)))]
    found = compute_metrics(Trace(tuple(events)))
    assert list(found) != []
    for name, value in found.items():
        assert value is None or (isinstance(value, int | float) and isfinite(value)), (name, value)
        assert value is None or not METRICS[name].rate or 0 <= value <= 1, (name, value)
    assert_slow_and_simple_agrees(events, found)


def assert_slow_and_simple_agrees(events, found):
    """Compute the trickier metrics again, event by event."""
    n = len(events[0].event.agents)
    steps = sum(isinstance(e.event, StepTaken) for e in events)
    entries = n + sum(isinstance(e.event, StageChange) and e.event.to_stage in ("R", "W", "I") for e in events)
    assert found["decision.overhead"] == (pytest.approx(entries / steps) if steps else None)

    stage, waits = dict.fromkeys(range(n), "R"), Counter()
    for before, after in pairwise(events):
        if isinstance(before.event, StageChange):
            stage[before.event.agent] = str(before.event.to_stage)
        for agent in range(n):
            if stage[agent] in "WX" and set(stage.values()) & {"R", "I"}:
                waits[agent] += after.t_hat - before.t_hat
    # messages arrive at once here, so somebody thinks whenever the world waits
    assert found["decision.synchronisation"] == pytest.approx(sum(waits.values()) / n)

    rows, messages = costs_per_agent(Trace(tuple(events))), costs_per_message(Trace(tuple(events)))
    assert [row.synchronisation for row in rows[:n]] == pytest.approx([waits[agent] for agent in range(n)])
    assert sum(row.thoughts for row in rows) == found["decision.thoughts"]
    assert sum(row.plans for row in rows) == found["plans.number"]
    assert [sum(row.sent for row in rows), len(messages)] == [found["communication.messages"]] * 2
    assert sum(row.interruptions for row in rows[:n]) == found["plans.interruptions"]
    assert sum(row.last_ready for row in rows[:n]) == found["decision.number"]
    assert sum(row.interrupted for row in messages) == found["plans.interruptions"]
    for row in messages:
        assert (row.latency is None) == (not row.interrupted)
        assert row.latency is None or 0 <= row.synchronisation <= n * row.latency + 1e-9

    states, pairs = {}, {}
    for e in events:
        if isinstance(e.event, ConstraintChange):
            states[e.event.task["target"]] = e.event
        elif isinstance(e.event, StepOutcome):
            for made in e.event.attempts:
                pairs[e.t, made["task"]["target"]] = states[made["task"]["target"]]
    for kind in ("spatial", "temporal", "participation", "joint"):
        violations = [
            1 if kind == "joint" and not s.dependency else max(0, s.threshold - getattr(s, kind)) / s.threshold
            for s in pairs.values()
        ]
        expected = pytest.approx(sum(violations) / len(pairs), abs=1e-12) if pairs else None
        assert found[f"constraints.violation_{kind}"] == expected

    ends = defaultdict(list)
    for e in events:
        if isinstance(e.event, PlanChange) and e.event.status not in ("committed", "running"):
            ends[e.event.status].append(e.event.plan)
    assert found["plans.failed"] == len(ends["failed"])
    given_up = len(ends["interrupted"]) + len(ends["replaced"])
    if found["plans.number"]:
        assert found["plans.stability"] == 1 - given_up / found["plans.number"]


NETWORK = {
    "model.retries", "model.unanswered", "model.cached_answers", "model.fallbacks",
    "model.wasted_answers", "model.wasted_tokens", "model.wasted_usd", "model.asked_otherwise",
}  # fmt: skip
"""Metrics of what the network, the cache and dropped attempts did."""


def test_wall_times_and_the_network_are_no_part_of_a_comparison():
    for name, one in METRICS.items():
        assert one.name == name
        is_wall = name.endswith(("_seconds", ".seconds"))
        assert is_wall == (one.unit.split()[:1] == ["s"])
        assert one.reproducible != (is_wall or name in NETWORK)
    found, again = (compute_metrics(Trace(tuple(wild_episode(3)))) for _ in range(2))
    assert reproducible(found) == reproducible(again)
    of_traces = {name for name, one in METRICS.items() if not one.on_demand}
    assert set(found) - set(reproducible(found)) == {name for name in of_traces if not METRICS[name].reproducible}


@pytest.fixture
def registry(monkeypatch):
    """Let a test register metrics that are gone after it."""
    monkeypatch.setattr(METRICS, "_things", dict(METRICS.load()))


def test_a_name_has_a_group_and_is_given_once(registry):
    for name, message in (("outcome.steps", r"already a metric 'outcome\.steps'"), ("steps", "a name must match")):
        with pytest.raises(ValueError, match=message):
            metric(name)(lambda trace: 0)


def test_a_metric_of_another_module_stands_with_its_group(registry):
    metric("outcome.mine")(lambda trace: 1)
    names = list(compute_metrics(Trace(tuple(wild_episode(1)))))
    groups = [name.partition(".")[0] for name in names]
    assert names[groups.count("outcome") - 1] == "outcome.mine"
    assert len(list(groupby(groups))) == len(set(groups))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda trace: {}["x"], r"mine\.own: KeyError: 'x'"),
        (lambda trace: np.int64(1), "neither a finite number nor None"),
        (lambda trace: float("nan"), "neither a finite number nor None"),
    ],
)
def test_a_metric_that_fails_is_named(registry, function, message):
    metric("mine.own")(function)
    with pytest.raises(MetricError, match=message):
        compute_metrics(Trace(tuple(wild_episode(1))))


def test_what_metrics_share_is_derived_once_and_for_that_trace_alone():
    derived = []

    @shared
    def number(trace):
        derived.append(trace)
        return len(trace.events)

    one, other = Trace(tuple(wild_episode(1))), Trace(tuple(wild_episode(2)))
    assert number(one) == number(one) == len(one.events)
    assert number(other) == len(other.events)
    assert derived == [one, other]


@pytest.mark.claims
def test_the_metrics_of_a_large_episode_take_a_few_times_as_long_as_it_takes_to_make_its_events():
    """64 agents, 500 steps, more than 100,000 events: 2.3 times as long, on a fast machine as on a slow one."""
    making = time.process_time()
    events = []

    def record(event, t):
        events.append(Stamped(len(events), t, float(t), t * 1e-3, event))

    n, steps = 64, 500
    record(EpisodeStart(SCHEMA, 0, "w", "t", [f"a{i}" for i in range(n)], [], "tokens", {}), 0)
    for t in range(steps):
        for agent in range(t % 2, n, 2):
            plan = f"P{agent}.{t}"
            record(ThoughtStart(agent, [], []), t)
            record(ThoughtEnd(agent, 1, [{"usd": 0.1, "seconds": 1.0}], [], 0.1), t)
            record(PlanChange(plan, agent, "committed", "", {"kind": "push", "target": str(agent % 7)}, [{"a": 1}]), t)
            record(StageChange(agent, "R", "W", "plan_committed"), t)
            record(StageChange(agent, "W", "X", "all_ready"), t)
            record(PlanChange(plan, agent, "running"), t)
        record(MessageSent(t, 0, [1, 2], "inform", "hello", float(t)), t)
        for task in range(40):
            name = {"kind": "push", "target": str(task)}
            record(ConstraintChange(name, 2, (t + task) % 3, t % 2, n, 0, True, (2, 0, 2)), t)
        record(StepTaken([0] * n, 0.0), t)
        record(StepOutcome([], [{"task": name, "agents": [0], "succeeded": False, "missing": ["spatial"]}]), t)
        for agent in range(t % 2, n, 2):
            record(PlanChange(f"P{agent}.{t}", agent, "succeeded"), t + 1)
            record(StageChange(agent, "X", "R", "plan_ended"), t + 1)
    assert len(events) > 100_000
    trace = Trace(tuple(events))
    begin = time.process_time()
    found = compute_metrics(trace)
    assert time.process_time() - begin < 6 * (begin - making)
    assert found["plans.number"] == n / 2 * steps
