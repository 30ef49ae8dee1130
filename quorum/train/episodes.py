"""An episode for a trainer: calls and rewards of each seat, outcome, metrics and trace."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import orjson

from maeil.metrics import Value, compute_metrics
from maeil.metrics.outcome import completion, success
from maeil.outcomes import Outcome
from maeil.tasks import Constraint
from maeil.trace import WALL_FIELDS, Stamped, Trace
from maeil.trace.events import WALL_CALL_FIELDS, StepTaken
from quorum.episode.record import answering_models
from quorum.train.policy import Call


@dataclass(frozen=True, slots=True)
class Reward:
    """The rewards of a seat.

    Attributes:
        team: the result of the team, equal for all its seats; see `team_reward`.
        per_step: the world's reward of the agent in each environment step; for a participant without a body, the mean
            of all agents.
        difference: `team` minus the reward of the same episode, with the same luck, in which this seat does nothing
            (difference reward, Wolpert and Tumer 2001); None unless requested.
        constraints: share of the conditions of cooperation (in place, in time, enough participants, prerequisites, all
            at once) that held in the agent's attempts at cooperative tasks; None without attempts.
    """

    team: float
    per_step: Sequence[float]
    difference: float | None = None
    constraints: float | None = None


@dataclass(frozen=True, slots=True)
class Seat:
    """A participant that the policy plays.

    Attributes:
        calls: its calls in order, including answers that were malformed and requested again.
        reward: its rewards.
    """

    calls: Sequence[Call]
    reward: Reward


@dataclass(frozen=True)
class Episode:
    """An episode that the policy took part in.

    Attributes:
        board: seed of the board.
        draw: number among the episodes of the board, from 0.
        seats: the seats by name, in the order of the team.
        events: the events of its trace, in order.
    """

    board: int
    draw: int
    seats: Mapping[str, Seat]
    events: Sequence[Stamped]

    @cached_property
    def trace(self) -> Trace:
        """The trace, for `maeil.metrics` and other readers."""
        return Trace(self.events)

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return outcome_of(self.trace)

    @property
    def steps(self) -> int:
        """Environment steps taken."""
        return len(self.trace.stamped(StepTaken))

    @cached_property
    def metrics(self) -> Mapping[str, Value]:
        """The metrics that `quorum run` computes."""
        return compute_metrics(self.trace)

    @property
    def simulated(self) -> bool:
        """Whether a simulated model answered for another participant."""
        return answering_models(self.trace).simulated

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the trace without wall-clock fields, in hexadecimal: equal for equal answers."""
        return hashlib.sha256(b"\n".join(map(_comparable, self.events))).hexdigest()


def outcome_of(trace: Trace) -> Outcome:
    """Return how an episode ended."""
    return trace.end.outcome if trace.end is not None else Outcome.ERROR


def team_reward(trace: Trace, limit: int) -> float:
    """Return the team's reward: half for the goals reached, half for the time saved by a success, from 0 to 1.

    (reached / goals + [success] (1 - steps / limit)) / 2. In a world without goals, a success counts as the only goal;
    in a world that judges no result either, the reward is the sum of the world's mean rewards.

    Args:
        trace: a complete trace.
        limit: maximum number of steps.
    """
    won = success(trace)
    reached = completion(trace)
    steps = trace.stamped(StepTaken)
    if reached is None and won is None:
        return float(sum(step.reward for step in trace.of(StepTaken)))
    saved = max(0.0, 1 - len(steps) / limit) if won else 0.0
    return (float(won or 0) + saved if reached is None else float(reached) + saved) / 2


def rewards_per_step(trace: Trace, agent: int) -> Sequence[float]:
    """Return the world's reward of an agent in each step.

    Args:
        trace: the trace.
        agent: index of the participant.
    """
    rows = ((step.reward, step.rewards) for step in trace.of(StepTaken))
    return tuple(mean if own is None or agent >= len(own) else own[agent] for mean, own in rows)


def constraints_met(trace: Trace, agent: int) -> float | None:
    """Return the mean share of conditions that held in an agent's attempts at cooperative tasks; None without any.

    Args:
        trace: the trace.
        agent: index of the participant.
    """
    own = [attempt for attempt in trace.story.attempts if agent in attempt.agents]
    return fmean(1 - len(attempt.missing) / len(Constraint) for attempt in own) if own else None


def _comparable(stamped: Stamped) -> bytes:
    data = {name: value for name, value in stamped.to_json().items() if name not in WALL_FIELDS}
    for call in data.get("calls", ()):
        for name in WALL_CALL_FIELDS:
            call.pop(name, None)
    return orjson.dumps(data)
