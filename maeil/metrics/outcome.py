"""What the team achieved."""

from __future__ import annotations

from maeil.metrics.registry import Value, metric
from maeil.trace.events import ScoreChange, StepTaken
from maeil.trace.reader import Trace


def _last_score(trace: Trace) -> ScoreChange | None:
    return next(reversed(list(trace.of(ScoreChange))), None)


@metric("outcome.success")
def success(trace: Trace) -> Value:
    """Whether the task was finished: the episode ended with all goals reached."""
    return trace.end is not None and trace.end.finished


@metric("outcome.completion")
def completion(trace: Trace) -> Value:
    """Share of the goals reached: reached / goals (CUBE: delivered / all blocks)."""
    score = _last_score(trace)
    return score.reached / score.goals if score is not None and score.goals else None


@metric("outcome.reached")
def reached(trace: Trace) -> Value:
    """Number of goals reached."""
    score = _last_score(trace)
    return score.reached if score is not None else None


@metric("outcome.goals")
def goals(trace: Trace) -> Value:
    """Number of goals in all."""
    score = _last_score(trace)
    return score.goals if score is not None else None


@metric("outcome.score", "points of the world")
def score(trace: Trace) -> Value:
    """The world's own score at the end."""
    last = _last_score(trace)
    return last.score if last is not None else None


@metric("outcome.steps", "environment steps")
def steps(trace: Trace) -> Value:
    """Environment steps taken, T."""
    return len(trace.stamped(StepTaken))


@metric("outcome.return", "reward")
def episode_return(trace: Trace) -> Value:
    """Sum over steps of the agents' mean reward, undiscounted."""
    return sum(step.reward for step in trace.of(StepTaken))
