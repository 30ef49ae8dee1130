"""Metrics of the team's results."""

from __future__ import annotations

from math import fsum

from maeil.metrics.registry import Value, metric
from maeil.outcomes import Outcome
from maeil.trace.events import ScoreChange, StepTaken
from maeil.trace.reader import Trace, shared


@shared
def scores(trace: Trace) -> tuple[float, ...]:
    """Return the score before the first step (0 if none is reported) and after each step: steps + 1 values."""
    changes = {stamped.t: stamped.event for stamped in trace.stamped(ScoreChange)}
    found: list[float] = []
    for t in range(len(trace.stamped(StepTaken)) + 1):
        change = changes.get(t)
        found.append(change.score if isinstance(change, ScoreChange) else found[-1] if found else 0.0)
    return tuple(found)


def _is_all(score: ScoreChange) -> bool:
    return score.goals > 0 and score.reached == score.goals


def _last_score(trace: Trace) -> ScoreChange | None:
    changes = trace.stamped(ScoreChange)
    event = changes[-1].event if changes else None
    return event if isinstance(event, ScoreChange) else None


@metric("outcome.success", better="higher", share=True)
def success(trace: Trace) -> Value:
    """Whether the task was finished: the episode ended with all goals reached; None if the world does not judge it."""
    outcome = trace.end.outcome if trace.end is not None else None
    unknown = outcome == Outcome.ENDED or trace.start.board.get("judged") is False
    return None if unknown else outcome == Outcome.SUCCESS


@metric("outcome.completion", better="higher", share=True)
def completion(trace: Trace) -> Value:
    """Share of the goals reached: reached / goals (CUBE: delivered / all blocks)."""
    score = _last_score(trace)
    return score.reached / score.goals if score is not None and score.goals else None


@metric("outcome.reached", "goals", better="higher", limit="outcome.goals")
def reached(trace: Trace) -> Value:
    """Goals reached at the end of the episode, as reported by the world; None if it has no goals."""
    score = _last_score(trace)
    return score.reached if score is not None and score.goals else None


@metric("outcome.goals", "goals")
def goals(trace: Trace) -> Value:
    """All goals of the episode, reached or not; None if the world has no goals."""
    score = _last_score(trace)
    return score.goals or None if score is not None else None


@metric("outcome.score", "points of the world", better="higher")
def score(trace: Trace) -> Value:
    """The world's own score at the end of the episode."""
    last = _last_score(trace)
    return last.score if last is not None else None


@metric("outcome.best_score", "points of the world", better="higher")
def best_score(trace: Trace) -> Value:
    """The team's highest score after any step."""
    return max(scores(trace)[1:], default=None)


@metric("outcome.mean_score", "points of the world", better="higher")
def mean_score(trace: Trace) -> Value:
    """Mean score after each step. If the best possible score is 1, the regret is T x (1 - mean score)."""
    after = scores(trace)[1:]
    return fsum(after) / len(after) if after else None


@metric("outcome.steps_to_goals", "environment steps", better="lower", limit="max_steps")
def steps_to_goals(trace: Trace) -> Value:
    """Steps until all goals were first reached, even if some were lost later; None if they never were."""
    reached = (s.t for s in trace.stamped(ScoreChange) if isinstance(s.event, ScoreChange) and _is_all(s.event))
    return next(reached, None)


@metric("outcome.steps", "environment steps", better="lower", limit="max_steps")
def steps(trace: Trace) -> Value:
    """Environment steps taken, T."""
    return len(trace.stamped(StepTaken))


@metric("outcome.seconds", "s", better="lower")
def seconds(trace: Trace) -> Value:
    """Runtime of the episode: wall time from the start of the recording to the last event (CUBE, runtime)."""
    return trace.events[-1].wall


@metric("outcome.steps_to_finish", "environment steps", better="lower", limit="max_steps")
def steps_to_finish(trace: Trace) -> Value:
    """Steps (T) of an episode that finished its task; None for other episodes."""
    return steps(trace) if success(trace) else None


@metric("outcome.steps_or_limit", "environment steps", better="lower", limit="max_steps")
def steps_or_limit(trace: Trace) -> Value:
    """Steps (T) of an episode that finished its task; for other episodes the step limit, even if they ended earlier.

    None if the world does not judge whether a task was finished.
    """
    if success(trace) is None:
        return None
    limit = trace.start.board.get("max_steps")
    return steps(trace) if success(trace) or not isinstance(limit, int) else limit


@metric("outcome.steps_over_lower_bound", better="lower")
def steps_over_lower_bound(trace: Trace) -> Value:
    """Steps of a finished episode / proven lower bound of the world: T / `lower_bound` of the board.

    At least 1, and 1 only for an optimal team. None if the task was not finished (the steps are then those of the step
    limit), if the world gives no bound, or if an external change or new randomness (`extension=luck`) voids it.
    """
    bound = trace.start.board.get("lower_bound")
    if not success(trace) or not isinstance(bound, int | float) or bound <= 0:
        return None
    if any(stamped.event.changes_world for stamped in trace.events):
        return None
    return len(trace.stamped(StepTaken)) / bound


@metric("outcome.return", "reward", better="higher")
def episode_return(trace: Trace) -> Value:
    """Undiscounted sum over steps of the agents' mean reward."""
    return fsum(step.reward for step in trace.of(StepTaken))


def returns(trace: Trace) -> list[float] | None:
    """Return the sum over steps of each agent's reward, by index; None if all agents always get the same reward."""
    steps = list(trace.of(StepTaken))
    if all(step.rewards is None for step in steps):
        return None
    each = ((step.reward,) * len(step.joint) if step.rewards is None else step.rewards for step in steps)
    return [fsum(own) for own in zip(*each, strict=True)]


@metric("outcome.lowest_return", "reward", better="higher")
def lowest_return(trace: Trace) -> Value:
    """Lowest undiscounted return of any agent; None if all agents always get the same reward."""
    return min(returns(trace) or (), default=None)


@metric("outcome.highest_return", "reward", better="higher")
def highest_return(trace: Trace) -> Value:
    """Highest undiscounted return of any agent; None if all agents always get the same reward."""
    return max(returns(trace) or (), default=None)
