"""Rewards of seats, on traces made by hand."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

import quorum
from maeil.outcomes import Outcome
from maeil.trace import Stamped, Trace
from maeil.trace.events import (
    SCHEMA,
    ConstraintChange,
    EpisodeEnd,
    EpisodeStart,
    Event,
    ScoreChange,
    StepOutcome,
    StepTaken,
)
from quorum.train.episodes import constraints_met, rewards_per_step, team_reward
from tests.train import policies

TASK = {"kind": "push", "target": "block_0"}


def trace(steps: Sequence[Sequence[Event]], end: EpisodeEnd) -> Trace:
    """Return a trace of three agents whose steps have these events."""
    start = EpisodeStart(SCHEMA, 0, "cube", "individual", ("a", "b", "c"), (), "tokens", {})
    events = [(0, start), *((t, event) for t, found in enumerate(steps) for event in found), (len(steps), end)]
    return Trace(tuple(Stamped(seq, t, 0.0, 0.0, event) for seq, (t, event) in enumerate(events)))


def played(reached: int, goals: int, outcome: Outcome, steps: int = 10) -> Trace:
    score = ScoreChange(reached, goals, float(reached))
    return trace([[score, StepTaken((0, 0, 0), 0.5)], *[[StepTaken((0, 0, 0), 0.5)]] * (steps - 1)],
                 EpisodeEnd(outcome, steps))  # fmt: skip


@pytest.mark.parametrize(
    ("reached", "goals", "outcome", "reward"),
    [
        (4, 4, Outcome.SUCCESS, (1 + 30 / 40) / 2),
        (3, 4, Outcome.TRUNCATED, 3 / 8),
        (0, 4, Outcome.FAILURE, 0),
        (0, 0, Outcome.SUCCESS, (1 + 30 / 40) / 2),
        (0, 0, Outcome.TRUNCATED, 0),
        (0, 0, Outcome.ENDED, 5.0),
    ],
)
def test_half_of_the_team_s_reward_is_for_goals_and_half_for_time(
    reached: int, goals: int, outcome: Outcome, reward: float
) -> None:
    assert team_reward(played(reached, goals, outcome), 40) == pytest.approx(reward)


def test_each_agent_has_its_own_reward_if_the_world_gives_one() -> None:
    found = trace(
        [[StepTaken((0, 0, 0), 1.0, (3.0, 0.0, 0.0))], [StepTaken((0, 0, 0), 2.0)]], EpisodeEnd(Outcome.ENDED, 2)
    )
    assert [rewards_per_step(found, agent) for agent in range(4)] == [(3.0, 2.0), (0.0, 2.0), (0.0, 2.0), (1.0, 2.0)]


def test_constraints_are_those_that_held_in_the_agent_s_attempts() -> None:
    state = ConstraintChange(TASK, 2, 1, 1, 1, 1, True, (2, 1, 1))

    def attempt(agents: list[int], *missing: str) -> StepOutcome:
        record = {"task": TASK, "agents": agents, "succeeded": not missing, "missing": list(missing), "unmet": False}
        return StepOutcome((), (record,))

    steps = [
        [state, StepTaken((0, 0, 0), 0.0), attempt([0], "participation", "spatial", "temporal", "joint")],
        [StepTaken((0, 0, 0), 0.0), attempt([0, 1], "temporal", "joint")],
        [StepTaken((0, 0, 0), 0.0), attempt([0, 1])],
    ]
    found = trace(steps, EpisodeEnd(Outcome.TRUNCATED, 3))
    assert constraints_met(found, 0) == pytest.approx((1 / 5 + 3 / 5 + 1) / 3)
    assert constraints_met(found, 1) == pytest.approx((3 / 5 + 1) / 2)
    assert constraints_met(found, 2) is None


def test_the_rewards_of_an_episode_are_those_of_its_trace() -> None:
    words = ("env=cube", "n=2", "topology=debate", "agents=naive", "prompts=terse", "max_steps=40")
    [episode] = quorum.rollouts(*words, policy=policies.rules, boards=[1], difference=False)
    rows = [one.event for one in episode.events if isinstance(one.event, StepTaken)]
    for agent, seat in enumerate(episode.seats.values()):
        assert seat.reward.team == team_reward(episode.trace, 40)
        assert seat.reward.per_step == tuple(row.rewards[agent] if row.rewards else row.reward for row in rows)
        assert seat.reward.constraints == constraints_met(episode.trace, agent)
        assert seat.reward.difference is None
